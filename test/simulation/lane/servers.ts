/** The processes that serve sockets of the lane, as clients find them. */
import { createSyncTickets, type SyncTickets } from '../../../gateway/sockets/sync-lane/tickets.ts';
import type { SeededRandom } from '../../kit/random.ts';
import type { CommandChecker } from '../checkers/commands.ts';
import type { Endpoint } from '../endpoint.ts';
import type { GatewayProcess } from '../gateway.ts';
import type { SimulatedProcess } from '../process.ts';
import type { SimulatedTime } from '../time.ts';
import type { Trace } from '../trace.ts';
import type { Wires } from './link.ts';
import type { LanePlan } from './plan.ts';
import { LaneServer } from './server.ts';

type Serving = GatewayProcess & { readonly endpoint: Endpoint };

export interface LaneServersOptions {
  readonly plan: LanePlan;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly checker: CommandChecker;
  readonly shardCount: number;
  readonly key: Buffer;
  readonly gatewayProcesses: () => readonly Serving[];
  readonly hosts: () => readonly { readonly process: SimulatedProcess }[];
  readonly crash: (process: SimulatedProcess) => void;
}

/** About as long as a save takes. */
const crashWithinMs = 200;

export class LaneServers {
  readonly tickets: SyncTickets;
  readonly #options: LaneServersOptions;
  readonly #wires: Wires;
  readonly #servers = new WeakMap<Serving, LaneServer>();

  constructor(options: LaneServersOptions) {
    this.#options = options;
    const { plan, time, random, key } = options;
    this.tickets = createSyncTickets(key, random);
    this.#wires = { plan, time, random, isHealed: false };
  }

  heal(): void {
    this.#wires.isHealed = true;
  }

  readonly servers = (): readonly LaneServer[] =>
    this.#options
      .gatewayProcesses()
      .filter(({ process, isClosing }) => !process.isDead && !isClosing)
      .map((serving) => this.#serverOf(serving));

  #serverOf(serving: Serving): LaneServer {
    const known = this.#servers.get(serving);
    if (known !== undefined) return known;
    const { random, shardCount, trace, checker } = this.#options;
    const { process, endpoint, actors } = serving;
    const server = new LaneServer({
      process,
      endpoint,
      actors,
      random,
      shardCount,
      trace,
      checker,
      tickets: this.tickets,
      wires: this.#wires,
      isClosing: () => serving.isClosing,
      accepted: () => this.#accepted(),
    });
    this.#servers.set(serving, server);
    return server;
  }

  /** Now and then a process dies before the command is done. */
  #accepted(): void {
    const { random, plan, time, hosts, crash } = this.#options;
    if (this.#wires.isHealed || !random.chance(plan.crashAfterAccepted)) return;
    time.after(random.fraction() * crashWithinMs, () => {
      const running = hosts();
      if (!this.#wires.isHealed && running.length > 0) crash(random.pick(running).process);
    });
  }
}
