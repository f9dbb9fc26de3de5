/**
 * The whole server in this process: every kind of actor on a host over the model store, and every route behind a
 * listening gateway. It has one clock that tests move, and a hasher that costs nothing. Every request goes over a
 * socket, so a test notices a route that forgets something.
 *
 * The only file of the kit that knows how the server is composed.
 */
import type { ExecutionContext } from 'ava';
import type { AssistantPolicy } from '../../actors/assistant/policy.ts';
import { defaultItemSettings, type ItemSettings } from '../../actors/collection/settings.ts';
import { defaultFileSettings, type FileSettings } from '../../actors/files/settings.ts';
import type { FileStore } from '../../actors/files/store.ts';
import type { CaptchaVerifier } from '../../actors/identity/captcha.ts';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import { kinds } from '../../actors/kinds.ts';
import type { MailSender } from '../../actors/mailer/sender.ts';
import { defaultMailSettings, type MailSettings } from '../../actors/mailer/settings.ts';
import type { Messengers } from '../../actors/messengers/messengers.ts';
import { createOutboundHttp } from '../../actors/outbound/node-http.ts';
import type { PairingTools } from '../../actors/pairing/tools.ts';
import { createRefreshWaits } from '../../actors/pairing/waiting.ts';
import { providedOf } from '../../actors/provided.ts';
import { type AccountSettings, defaultAccountSettings } from '../../actors/settings.ts';
import { defaultVaultSettings, type VaultSettings } from '../../actors/vault/settings.ts';
import { createVerifyBearer } from '../../gateway/admission/bearer.ts';
import { createRateLimiter } from '../../gateway/admission/rate-limit.ts';
import { Assistant, type AssistantOptions } from '../../gateway/assistant/assistant.ts';
import { CodeHost, type CodeHostOptions } from '../../gateway/code-host/code-host.ts';
import { wrongTokens } from '../../gateway/dav/program.ts';
import { davArea } from '../../gateway/routes/dav.ts';
import { allRoutes } from '../../gateway/routes/mod.ts';
import { pairingArea } from '../../gateway/routes/pairing.ts';
import type { GatewayConfig } from '../../gateway/server.ts';
import { type CookieOptions, gatewaySettings } from '../../gateway/settings.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { Kind } from '../../runtime/kind.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { defaultsOf } from '../../runtime/setting.ts';
import { alice } from './account.ts';
import { drainPromises, FakeClock } from './clock.ts';
import { Device } from './device.ts';
import { createMemoryFileStore, type MemoryFileStore } from './file-store.ts';
import { startGateway, type TestGateway, testSocketTokens, testSyncTickets } from './gateway.ts';
import { CountingHasher } from './hasher.ts';
import { startTestHost, type TestHost, type TestHostOptions } from './host.ts';
import { type Answer, type Call, call } from './http.ts';
import { LossyTransport } from './lossy-transport.ts';
import { fakeTools, keyedTools } from './provided.ts';

export interface DomainOptions {
  readonly accounts?: Partial<AccountSettings>;
  readonly items?: Partial<ItemSettings>;
  readonly files?: Partial<FileSettings>;
  readonly fileStore?: FileStore;
  readonly captcha?: CaptchaVerifier;
  readonly vaults?: Partial<VaultSettings>;
  readonly mail?: Partial<MailSettings>;
  /** Replaces the real relays. */
  readonly mailSender?: MailSender;
  /** None when absent. */
  readonly messengers?: Messengers;
  /** Without it, nobody gets an answer. */
  readonly assistant?: AssistantPolicy;
  /** None when absent. */
  readonly pairing?: PairingTools;
  readonly clock?: Pick<Clock, 'schedule'>;
}

export interface ServerOptions extends DomainOptions {
  readonly cookies?: Partial<CookieOptions>;
  readonly captchaUiUrl?: string;
  /** Called with the client's address for every refused sign-in. */
  readonly signInFailed?: (clientAddress: string) => void;
  readonly gateway?: Partial<GatewayConfig>;
  /** The gateway's view of the assistant's providers. */
  readonly providers?: Partial<AssistantOptions>;
  readonly codeHost?: Partial<CodeHostOptions>;
  /** Actors of the test's own, besides the server's. */
  readonly moreKinds?: readonly Kind[];
  readonly host?: Pick<
    TestHostOptions,
    'clock' | 'store' | 'schedule' | 'limits' | 'leaseMs' | 'logger' | 'metrics' | 'tracer'
  >;
}

export const {
  bridgeTokens,
  calendarTokens,
  sessionTokens,
  shareIds,
  signinKeys,
  subscriptionTokens,
  valetTokens,
} = keyedTools;

/** An address without an account for which the server makes up this factor; it makes up none at about half of them. */
export function unknownAddress(factor?: ReturnType<SigninKeys['pseudoFactor']>): string {
  for (let index = 0; ; index += 1) {
    const email = `nobody-${index}@example.org`;
    if (signinKeys.pseudoFactor({ email, workspace: 'default' }) === factor) return email;
  }
}

/** Every kind of actor with its dependencies, for tests with hosts of their own. */
export function domainOf(options: DomainOptions, passwordHasher = new CountingHasher()) {
  const { accounts, items, files, vaults, mail, clock = systemClock, ...tools } = options;
  const provided = providedOf(
    fakeTools({
      ...tools,
      accounts: { ...defaultAccountSettings, ...accounts },
      items: { ...defaultItemSettings, ...items },
      files: { ...defaultFileSettings, ...files },
      vaults: { ...defaultVaultSettings, ...vaults },
      mail: { ...defaultMailSettings, ...mail },
      passwordHasher,
      refreshWaits: createRefreshWaits(clock),
    }),
  );
  return { kinds, provided };
}

const browsersAnywhere: CookieOptions = { sameSite: 'None', secure: true, partitioned: true, domain: '' };
const longMs = 60_000;
/** Leases do not matter in these tests, and none ends while a test leaps over months. */
const neverMs = 1e11;
const withoutLimits = { publicPerMinute: 0, sessionPerMinute: 0 };

export interface TestServer extends TestGateway {
  /** The host that serves now; a restart replaces it. */
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly hasher: CountingHasher;
  readonly transport: LossyTransport;
  /** Unless the options brought another one. */
  readonly files: MemoryFileStore;
  call(method: string, path: string, request?: Call): Promise<Answer>;
  /** Another device of Alice's, or of the user with this address. The first device of an address registers. */
  device(email?: string): Promise<Device>;
  advance(byMs: number): Promise<void>;
  /** Moves the clock until `condition` holds. @throws Error if it does not hold within the time */
  until(condition: () => boolean, withinMs: number): Promise<void>;
  /** The answer to a request that takes time. */
  answered<T>(pending: Promise<T>, withinMs?: number): Promise<T>;
  /** Ends the host like a crash and starts another on the same database, with other settings if given. */
  restart(changes?: DomainOptions): Promise<void>;
  /** Another gateway in front of the same host. */
  another(config: Partial<GatewayConfig>): Promise<TestGateway>;
}

export async function startServer(t: ExecutionContext, options: ServerOptions = {}): Promise<TestServer> {
  const clock = options.host?.clock ?? new FakeClock();
  const hasher = new CountingHasher();
  const transport = new LossyTransport();
  const files = createMemoryFileStore(() => clock.nowMs());
  const fileStore = options.fileStore ?? files;
  const domainWith = (changes: DomainOptions = {}) => {
    const { kinds: served, provided } = domainOf({ ...options, fileStore, clock, ...changes }, hasher);
    return { kinds: [...served, ...(options.moreKinds ?? [])], provided };
  };
  let host = await startTestHost({ leaseMs: neverMs, ...options.host, ...domainWith(), clock, transport });
  t.teardown(() => host.host.abandon());

  const outbound = createOutboundHttp({ clock });
  const assistant = new Assistant({
    http: outbound,
    clock,
    providers: new Map(),
    default: options.assistant?.default,
    streamsMax: 500,
    ...options.providers,
  });
  const codeHost = new CodeHost({ http: outbound, apiUrl: 'http://127.0.0.1:9', ...options.codeHost });
  const socketTokens = testSocketTokens(clock);
  const captchaUiUrl = options.captchaUiUrl ?? null;
  const gatewayWith = (config: Partial<GatewayConfig>): Promise<TestGateway> => {
    const readiness = createReadiness({}, clock);
    const routes = allRoutes({
      readiness,
      ...keyedTools,
      socketTokens,
      syncTickets: testSyncTickets,
      syncLane: { ...defaultsOf(gatewaySettings).syncLane, ...config.syncLane },
      calendar: {
        basePath: '/dav',
        publicUrl: 'http://notes.test',
        failures: createRateLimiter(config.rateLimits ?? withoutLimits, clock, [wrongTokens]),
      },
      administrationPage: true,
      version: '0',
      settings: { ...defaultAccountSettings, ...options.accounts },
      cookies: { ...browsersAnywhere, ...options.cookies },
      refreshLimiter: createRateLimiter(config.rateLimits ?? withoutLimits, clock),
      filesServerUrl: 'http://files.test',
      captchaUiUrl,
      assistant,
      codeHost,
      files: { store: fileStore, clock, random: systemRandom },
      signInFailed: options.signInFailed,
      pairedForOperator: () => {},
    });
    const verifyBearer = createVerifyBearer(sessionTokens);
    const { actors } = host;
    const ports = {
      clock,
      actors,
      transport,
      verifyBearer,
      socketTokens,
      readiness,
      tracer: options.host?.tracer,
    };
    const areas = [davArea('/dav', options.accounts?.calendar ?? false), pairingArea];
    return startGateway(t, routes, { rateLimits: withoutLimits, ...config, ...ports, areas });
  };
  const gateway = await gatewayWith(options.gateway ?? {});
  const firstDevices = new Map<string, Promise<Device>>();

  async function until(condition: () => boolean, withinMs: number): Promise<void> {
    const startMs = clock.monotonicMs();
    while (!condition()) {
      if (clock.monotonicMs() - startMs > withinMs) throw new Error(`not within ${withinMs} ms`);
      await clock.advance(50);
      // Data on its way through real sockets arrives meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  const server: TestServer = {
    ...gateway,
    clock,
    hasher,
    transport,
    files,
    until,
    get host() {
      return host;
    },
    call: (method, path, request) => call(gateway.url, method, path, request),
    async device(email = alice.email) {
      const first = firstDevices.get(email);
      if (first !== undefined) return (await first).another();
      const registered = Device.register(gateway, { email });
      firstDevices.set(email, registered);
      return registered;
    },
    async advance(byMs) {
      // Hours of events that repeat every second would take minutes.
      if (byMs > longMs) await clock.leap(byMs - longMs);
      await clock.advance(Math.min(byMs, longMs));
      await drainPromises();
    },
    async answered(request, withinMs = 5_000) {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      request.then(over, over);
      await until(() => isOver, withinMs);
      return request;
    },
    async restart(changes = {}) {
      host = await host.restart(domainWith(changes));
    },
    another: (config) => gatewayWith(config),
  };
  return server;
}
