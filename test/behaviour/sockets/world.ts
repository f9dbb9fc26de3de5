/**
 * A host over the model store and a gateway with real sockets before it, in one process and under one clock that
 * tests move.
 */
import type { ExecutionContext } from 'ava';
import {
  createKinds,
  createSessionTokens,
  createSigninKeys,
  defaultAccountSettings,
  defaultItemSettings,
} from '../../../actors/mod.ts';
import { createVerifyBearer } from '../../../gateway/admission/bearer.ts';
import { allRoutes } from '../../../gateway/routes/mod.ts';
import { createActors } from '../../../runtime/host/actors.ts';
import { defaultLimits } from '../../../runtime/host/limits.ts';
import { createKeyring } from '../../../runtime/keyring.ts';
import { createReadiness } from '../../../runtime/readiness.ts';
import { InProcessTransport } from '../../../runtime/transport/in-process.ts';
import { type Account, newItem, post, register, type SyncReply, signIn, sync } from '../../kit/api-client.ts';
import { FakeClock } from '../../kit/clock.ts';
import {
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  testSocketTokens,
} from '../../kit/gateway.ts';
import { startTestHost, type TestHost } from '../../kit/host.ts';
import { SeededRandom } from '../../kit/random.ts';
import {
  dial,
  isRefused,
  type RefusedUpgrade,
  type SocketClient,
  type SocketClientOptions,
} from '../../kit/socket-client.ts';
import { CountingHasher } from '../accounts/world.ts';

const keyring = createKeyring(Buffer.alloc(32, 7));
const tokens = createSessionTokens(keyring.derive('session-token'));
const signinKeys = createSigninKeys(keyring);
export const kinds = createKinds({
  settings: defaultAccountSettings,
  items: defaultItemSettings,
  tokens,
  hasher: new CountingHasher(),
  signinKeys,
});

export interface World extends TestGateway {
  readonly clock: FakeClock;
  readonly host: TestHost;
  /** Another gateway before the same host. */
  another(config: Partial<TestGatewayOptions>): Promise<TestGateway>;
  /** Moves the clock until `condition` holds. @throws Error when it does not within so long */
  until(condition: () => boolean, withinMs: number): Promise<void>;
  register(): Promise<Device>;
}

export async function openWorld(
  t: ExecutionContext,
  config: Partial<TestGatewayOptions> = {},
): Promise<World> {
  const clock = new FakeClock();
  const random = new SeededRandom(1);
  const transport = new InProcessTransport();
  const host = await startTestHost({ kinds, clock, random, transport });
  t.teardown(() => host.host.abandon());
  const socketTokens = testSocketTokens(clock);
  const routes = allRoutes({
    readiness: createReadiness({}, clock),
    tokens,
    signinKeys,
    socketTokens,
    version: '0',
    settings: defaultAccountSettings,
    cookies: { sameSite: 'Lax', secure: false, partitioned: false, domain: '' },
    filesServerUrl: 'http://files.test',
    captchaUiUrl: null,
  });
  const { defaultDeadlineMs } = defaultLimits;
  const actors = createActors({ transport, clock, random, defaultDeadlineMs });
  const ports = { clock, actors, transport, verifyBearer: createVerifyBearer(tokens), socketTokens };
  const another = (own: Partial<TestGatewayOptions>) => startGateway(t, routes, { ...ports, ...own });
  const gateway = await another(config);
  const world: World = {
    ...gateway,
    clock,
    host,
    another,
    async until(condition, withinMs) {
      const startMs = clock.monotonicMs();
      while (!condition()) {
        if (clock.monotonicMs() - startMs > withinMs) throw new Error(`not within ${withinMs} ms`);
        await clock.advance(50);
        // What is on its way through real sockets arrives meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
    async register() {
      return new Device(t, world, await register(gateway.url));
    },
  };
  return world;
}

/** One session of a user. */
export class Device {
  readonly account: Account;
  readonly #t: ExecutionContext;
  readonly #world: World;

  constructor(t: ExecutionContext, world: World, account: Account) {
    this.#t = t;
    this.#world = world;
    this.account = account;
  }

  /** Another session of the same user. */
  async another(): Promise<Device> {
    return new Device(this.#t, this.#world, await signIn(this.#world.url, this.account));
  }

  save(item: object = newItem()): Promise<SyncReply> {
    return sync(this.#world.url, this.account, { items: [item] });
  }

  call(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const authorization = `Bearer ${this.account.accessToken}`;
    return fetch(this.#world.url + path, { method, headers: { authorization, ...headers } });
  }

  async socketToken(): Promise<string> {
    const data = (await post(this.#world.url, '/v1/sockets/tokens', {}, this.account.accessToken)) as {
      token: string;
    };
    return data.token;
  }

  async dial(options: SocketClientOptions & { token?: string } = {}): Promise<SocketClient | RefusedUpgrade> {
    const token = options.token ?? (await this.socketToken());
    return dial(this.#t, `${this.#world.url}/sockets?authToken=${token}`, options);
  }

  async socket(options: SocketClientOptions = {}): Promise<SocketClient> {
    const dialled = await this.dial(options);
    if (isRefused(dialled)) throw new Error(`refused with ${dialled.status}: ${dialled.body}`);
    return dialled;
  }

  async sessionUuid(): Promise<string> {
    const reply = (await (await this.call('GET', '/v1/sessions')).json()) as {
      data: { uuid: string; current: boolean }[];
    };
    return reply.data.find(({ current }) => current)?.uuid ?? '';
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a frame is looked at as a client would
export const parsed = (texts: readonly string[]): any[] => texts.map((text) => JSON.parse(text));
