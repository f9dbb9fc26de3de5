/**
 * One process's part for the sockets of clients: the lane and the hub as in production, over links instead of the
 * library. The checker sees their output at the moment it leaves.
 */

import { Registry } from 'prom-client';
import { createClientAddress } from '../../../gateway/admission/client-address.ts';
import { unlimited } from '../../../gateway/admission/rate-limit.ts';
import type { AccessLog } from '../../../gateway/http/access-log.ts';
import { CopiedHeaders } from '../../../gateway/http/headers.ts';
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  WebSocketBehavior,
} from '../../../gateway/http/uws.ts';
import { gatewaySettings } from '../../../gateway/settings.ts';
import { HandshakeLimiter } from '../../../gateway/sockets/handshake-limiter.ts';
import { Hub } from '../../../gateway/sockets/hub.ts';
import { prometheusSocketMetrics } from '../../../gateway/sockets/metrics.ts';
import { OpenSocket } from '../../../gateway/sockets/open-socket.ts';
import { type LaneOptions, openLane } from '../../../gateway/sockets/sync-lane/lane.ts';
import type { SyncTickets } from '../../../gateway/sockets/sync-lane/tickets.ts';
import { createSubscribe } from '../../../runtime/events/subscriptions.ts';
import type { Actors } from '../../../runtime/handles.ts';
import { defaultsOf } from '../../../runtime/setting.ts';
import type { SeededRandom } from '../../kit/random.ts';
import type { CommandChecker, Frame } from '../checkers/commands.ts';
import type { Endpoint } from '../endpoint.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Trace } from '../trace.ts';
import { type ClientEnd, LaneLink, type Wires } from './link.ts';

export interface LaneServerOptions {
  readonly process: SimulatedProcess;
  readonly endpoint: Endpoint;
  readonly actors: Actors;
  readonly random: SeededRandom;
  readonly shardCount: number;
  readonly tickets: SyncTickets;
  readonly wires: Wires;
  readonly checker: CommandChecker;
  readonly trace: Trace;
  readonly isClosing: () => boolean;
  readonly accepted: () => void;
}

type Behaviour = Required<Pick<WebSocketBehavior<unknown>, 'upgrade' | 'open' | 'message' | 'close'>>;

const origin = 'https://app.notes.test';
const none = () => 0;
const settings = defaultsOf(gatewaySettings);

export class LaneServer {
  readonly #options: LaneServerOptions;
  readonly #hub: Hub;
  readonly #lane: Behaviour;
  #links = 0;

  constructor(options: LaneServerOptions) {
    this.#options = options;
    const { actors, process: clock, endpoint: transport, random, shardCount, trace } = options;
    const registry = new Registry();
    const logger = trace.loggerOf(clock.name);
    this.#hub = new Hub({
      actors,
      clock,
      random,
      subscribe: createSubscribe({ transport, shardCount, clock, random, logger }),
      metrics: prometheusSocketMetrics(registry, { open: none, users: none, waiting: none, vaults: none }),
      limits: settings.sockets,
      defer: (work) => clock.schedule(0, work),
    });
    this.#lane = behaviourOf({
      actors,
      clock,
      random,
      registry,
      tickets: options.tickets,
      handshakes: new HandshakeLimiter(clock),
      settings: { ...settings.syncLane, origins: [origin] },
      socketsMax: 1_000,
      gate: undefined,
      limiter: { public: unlimited, session: unlimited, take: none, limits: () => false },
      clientAddress: createClientAddress('false'),
      log: { failed: (_route: undefined, _id: string, error: unknown) => this.#failed(error) } as AccessLog,
      replies: {} as LaneOptions['replies'],
      framing: { refused: 0, headersOf: () => headers },
      connections: { hold: () => () => {}, socketClosed: () => {} },
      requestId: () => 'simulated',
      isDraining: options.isClosing,
      watchWhileAsking: (claims, ended) => this.#hub.watchWhileAsking(claims, ended),
    });
  }

  #failed(error: unknown): void {
    const { process, trace } = this.#options;
    trace.add(() => `${process.name} failed: ${error}`);
  }

  /** An upgrade of this client. Its frames are those of this session. */
  dial(session: string, client: ClientEnd): LaneLink {
    const { process, wires } = this.#options;
    const link = new LaneLink(wires, process, client);
    this.#links += 1;
    const name = `${process.name}/${this.#links}`;
    process.enter(() => this.#upgrade(link, session, name));
    return link;
  }

  #upgrade(link: LaneLink, session: string, name: string): void {
    const { process, checker, accepted, isClosing } = this.#options;
    const lane = this.#lane;
    // HTTP would refuse it.
    if (isClosing()) {
      link.closeByServer();
      return;
    }
    const upgraded = (data: object) => {
      let isClosed = false;
      const closed = () => {
        if (isClosed) return;
        isClosed = true;
        link.closeByServer();
        lane.close(socket, 1000, new ArrayBuffer(0));
      };
      const socket = {
        getUserData: () => data,
        getBufferedAmount: none,
        send: (text: string) => {
          if (process.isDead) return 2;
          const frame = JSON.parse(text) as Frame;
          checker.answered(name, session, frame);
          if (frame.type === 'ACCEPTED') accepted();
          link.answer(text);
          return 1;
        },
        end: closed,
        close: closed,
      } as unknown as Parameters<Behaviour['open']>[0];
      link.attach({
        received(text) {
          if (isClosed) return;
          checker.received(name, JSON.parse(text) as Frame);
          const bytes = new TextEncoder().encode(text);
          lane.message(socket, bytes.buffer as ArrayBuffer, false);
        },
        closed,
      });
      lane.open(socket);
    };
    const response = { upgrade: upgraded, getRemoteAddressAsText: () => new ArrayBuffer(0) };
    const request = { getQuery: () => undefined };
    lane.upgrade(response as unknown as HttpResponse, request as unknown as HttpRequest, {} as never);
  }

  /** A socket for notices. `closed` is also called if it could not be opened. */
  listen(
    claims: { readonly userUuid: string; readonly sessionUuid: string },
    {
      opened,
      notified,
      closed,
    }: { readonly opened: () => void; readonly notified: () => void; readonly closed: () => void },
  ): void {
    const { process } = this.#options;
    process.onDeath(closed);
    process.enter(() => {
      const socket = new OpenSocket(claims);
      const gone = () => {
        socket.closed('client');
        this.#hub.remove(socket);
        closed();
      };
      const connection = {
        send: () => {
          if (process.isDead) return 2;
          notified();
          return 1;
        },
        end: gone,
        close: gone,
      };
      if (this.#options.isClosing() || this.#hub.add(socket) !== 'added') return closed();
      this.#hub.check(socket).then((lives) => {
        if (!lives) return gone();
        socket.opened(connection);
        if (!process.isDead) opened();
      }, gone);
    });
  }
}

const headers = new CopiedHeaders();
headers.add('origin', origin);

/** The lane's calls to the library. */
function behaviourOf(options: LaneOptions): Behaviour {
  let behaviour: Behaviour | undefined;
  const app = {
    ws: (_path: string, behavior: WebSocketBehavior<unknown>) => {
      behaviour = behavior as Behaviour;
    },
  };
  openLane(app as unknown as TemplatedApp, options);
  if (behaviour === undefined) throw new Error('the lane serves no sockets');
  return behaviour;
}
