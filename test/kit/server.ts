/**
 * The server whole, in this process: every kind of actor on a host over the model store, every route behind a
 * listening gateway, one clock that tests move, and a hasher that costs nothing. What a test says of it went over a
 * socket, so a route that forgets something shows.
 *
 * The only file of the kit that knows how the server is put together.
 */
import type { ExecutionContext } from 'ava';
import { AssistantPolicy, noAssistant } from '../../actors/assistant/policy.ts';
import { defaultItemSettings, ItemSettings } from '../../actors/collection/settings.ts';
import { defaultFileSettings, FileSettings } from '../../actors/files/settings.ts';
import { FileStore } from '../../actors/files/store.ts';
import { BridgeTokens, createBridgeTokens } from '../../actors/identity/bridge-tokens.ts';
import {
  CalendarTokenHasher,
  CalendarTokens,
  createCalendarTokens,
  createProvenTokens,
  ProvenTokens,
} from '../../actors/identity/calendar-tokens.ts';
import { CaptchaVerifier, noCaptcha } from '../../actors/identity/captcha.ts';
import { createImportedPasswords, ImportedPasswords } from '../../actors/identity/imported-password.ts';
import { PasswordHasher } from '../../actors/identity/password-hasher.ts';
import { createSessionTokens, SessionTokens } from '../../actors/identity/session-tokens.ts';
import { createShareIds, ShareIds } from '../../actors/identity/share-ids.ts';
import { createSigninKeys, SigninKeys } from '../../actors/identity/signin-keys.ts';
import { createSubscriptionTokens, SubscriptionTokens } from '../../actors/identity/subscription-tokens.ts';
import { createUserSecrets, UserSecrets } from '../../actors/identity/user-secrets.ts';
import { createValetTokens, ValetTokens } from '../../actors/identity/valet-tokens.ts';
import { kinds } from '../../actors/kinds.ts';
import { MailRoom, unknownRoom } from '../../actors/mailer/room.ts';
import { MailSender } from '../../actors/mailer/sender.ts';
import { defaultMailSettings, MailSettings } from '../../actors/mailer/settings.ts';
import { Messengers } from '../../actors/messengers/messengers.ts';
import { createOutboundHttp } from '../../actors/outbound/node-http.ts';
import { noPairing, PairingTools } from '../../actors/pairing/tools.ts';
import { createRefreshWaits, RefreshWaits } from '../../actors/pairing/waiting.ts';
import { AccountSettings, defaultAccountSettings, WebAuthnSettings } from '../../actors/settings.ts';
import { defaultVaultSettings, VaultSettings } from '../../actors/vault/settings.ts';
import { createVerifyBearer } from '../../gateway/admission/bearer.ts';
import { createRateLimiter } from '../../gateway/admission/rate-limit.ts';
import { Assistant, type AssistantOptions } from '../../gateway/assistant/assistant.ts';
import { CodeHost, type CodeHostOptions } from '../../gateway/code-host/code-host.ts';
import { davArea, wrongTokens } from '../../gateway/routes/dav.ts';
import { allRoutes } from '../../gateway/routes/mod.ts';
import { pairingArea } from '../../gateway/routes/pairing.ts';
import type { GatewayConfig } from '../../gateway/server.ts';
import { type CookieOptions, gatewaySettings } from '../../gateway/settings.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { provide } from '../../runtime/dependency.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import type { Kind } from '../../runtime/kind.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { defaultsOf } from '../../runtime/setting.ts';
import { alice } from './account.ts';
import { Chats } from './chats.ts';
import { drainPromises, FakeClock } from './clock.ts';
import { Device } from './device.ts';
import { createMemoryFileStore, type MemoryFileStore } from './file-store.ts';
import { startGateway, type TestGateway, testSocketTokens, testSyncTickets } from './gateway.ts';
import { CountingHasher, quickTokenHasher } from './hasher.ts';
import { startTestHost, type TestHost, type TestHostOptions } from './host.ts';
import { type Answer, type Call, call } from './http.ts';
import { LossyTransport } from './lossy-transport.ts';
import { Postbox } from './postbox.ts';

export interface DomainOptions {
  readonly accounts?: Partial<AccountSettings>;
  readonly items?: Partial<ItemSettings>;
  readonly files?: Partial<FileSettings>;
  readonly fileStore?: FileStore;
  readonly captcha?: CaptchaVerifier;
  readonly vaults?: Partial<VaultSettings>;
  readonly mail?: Partial<MailSettings>;
  /** What relays take instead of the real ones. */
  readonly mailSender?: MailSender;
  /** None when absent. */
  readonly messengers?: Messengers;
  /** Nobody is answered when absent. */
  readonly assistant?: AssistantPolicy;
  /** None when absent. */
  readonly pairing?: PairingTools;
  readonly clock?: Pick<Clock, 'schedule'>;
}

export interface ServerOptions extends DomainOptions {
  readonly cookies?: Partial<CookieOptions>;
  readonly captchaUiUrl?: string;
  /** Told the client's address of every refused sign-in. */
  readonly signInFailed?: (clientAddress: string) => void;
  readonly gateway?: Partial<GatewayConfig>;
  /** What the gateway knows of the assistant's providers. */
  readonly providers?: Partial<AssistantOptions>;
  readonly codeHost?: Partial<CodeHostOptions>;
  /** Actors of the test's own, beside the server's. */
  readonly moreKinds?: readonly Kind[];
  readonly host?: Pick<
    TestHostOptions,
    'clock' | 'store' | 'schedule' | 'limits' | 'leaseMs' | 'logger' | 'metrics'
  >;
}

const keyring = createKeyring(Buffer.alloc(32, 7));
export const signinKeys = createSigninKeys(keyring);

/** An address that nobody has, at which this factor is made up: none at about half of them. */
export function unknownAddress(factor?: ReturnType<SigninKeys['pseudoFactor']>): string {
  for (let index = 0; ; index += 1) {
    const email = `nobody-${index}@example.org`;
    if (signinKeys.pseudoFactor({ email, workspace: 'default' }) === factor) return email;
  }
}

export const bridgeTokens = createBridgeTokens(keyring);
export const calendarTokens = createCalendarTokens(keyring);
export const subscriptionTokens = createSubscriptionTokens(keyring);
export const shareIds = createShareIds(keyring);
export const valetTokens = createValetTokens(keyring, systemRandom);
export const sessionTokens: SessionTokens = createSessionTokens(keyring.derive('session-token'));

/** Every kind of actor with what it uses, for tests with hosts of their own. */
export function domainOf(
  {
    accounts,
    items,
    files,
    fileStore = createMemoryFileStore(),
    vaults,
    captcha = noCaptcha,
    mail,
    mailSender = new Postbox(),
    messengers,
    assistant = noAssistant,
    pairing = noPairing,
    clock = systemClock,
  }: DomainOptions,
  hasher = new CountingHasher(),
) {
  const provided = [
    provide(AccountSettings, { ...defaultAccountSettings, ...accounts }),
    provide(ItemSettings, { ...defaultItemSettings, ...items }),
    provide(VaultSettings, { ...defaultVaultSettings, ...vaults }),
    provide(SessionTokens, sessionTokens),
    provide(SigninKeys, signinKeys),
    provide(UserSecrets, createUserSecrets(keyring)),
    provide(BridgeTokens, bridgeTokens),
    provide(CalendarTokens, calendarTokens),
    provide(CalendarTokenHasher, quickTokenHasher),
    provide(ImportedPasswords, createImportedPasswords()),
    provide(ProvenTokens, createProvenTokens()),
    provide(SubscriptionTokens, subscriptionTokens),
    provide(ShareIds, shareIds),
    provide(ValetTokens, valetTokens),
    provide(FileSettings, { ...defaultFileSettings, ...files }),
    provide(FileStore, fileStore),
    provide(PasswordHasher, hasher),
    provide(CaptchaVerifier, captcha),
    provide(WebAuthnSettings, webAuthn),
    provide(MailSettings, { ...defaultMailSettings, ...mail }),
    provide(MailSender, mailSender),
    provide(MailRoom, unknownRoom),
    provide(Messengers, messengers ?? new Chats([])),
    provide(AssistantPolicy, assistant),
    provide(PairingTools, pairing),
    provide(RefreshWaits, createRefreshWaits(clock)),
  ];
  return { kinds, provided };
}

export const webAuthn: WebAuthnSettings = {
  relyingPartyId: 'notes.test',
  relyingPartyName: 'Notes',
  expectedOrigins: ['https://notes.test'],
  requireUserVerification: false,
};

const browsersAnywhere: CookieOptions = { sameSite: 'None', secure: true, partitioned: true, domain: '' };
const longMs = 60_000;
/** Leases are not what these tests are about, and none ends while a test leaps over months. */
const neverMs = 1e11;
const withoutLimits = { publicPerMinute: 0, sessionPerMinute: 0 };

export interface TestServer extends TestGateway {
  /** The one that serves now: another after a restart. */
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly hasher: CountingHasher;
  readonly transport: LossyTransport;
  /** Unless the options brought another one. */
  readonly files: MemoryFileStore;
  call(method: string, path: string, request?: Call): Promise<Answer>;
  /** Another device of Alice's, or of whom this is the address. Whose first it is, registers with it. */
  device(email?: string): Promise<Device>;
  advance(byMs: number): Promise<void>;
  /** Moves the clock until `condition` holds. @throws Error when it does not within so long */
  until(condition: () => boolean, withinMs: number): Promise<void>;
  /** The answer to a request that takes time to be given. */
  answered<T>(asked: Promise<T>, withinMs?: number): Promise<T>;
  /** Ends the host as a crash would and starts another on the same database, with other settings where given. */
  restart(changes?: DomainOptions): Promise<void>;
  /** Another gateway before the same host. */
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
    ...{ http: outbound, clock, providers: new Map(), default: options.assistant?.default, streamsMax: 500 },
    ...options.providers,
  });
  const codeHost = new CodeHost({ http: outbound, apiUrl: 'http://127.0.0.1:9', ...options.codeHost });
  const socketTokens = testSocketTokens(clock);
  const captchaUiUrl = options.captchaUiUrl ?? null;
  const gatewayWith = (config: Partial<GatewayConfig>): Promise<TestGateway> => {
    const readiness = createReadiness({}, clock);
    const routes = allRoutes({
      readiness,
      tokens: sessionTokens,
      signinKeys,
      bridgeTokens,
      subscriptionTokens,
      shareIds,
      socketTokens,
      syncTickets: testSyncTickets,
      syncLane: { ...defaultsOf(gatewaySettings).syncLane, ...config.syncLane },
      calendar: {
        ...{ basePath: '/dav', publicUrl: 'http://notes.test', tokens: calendarTokens },
        failures: createRateLimiter(config.rateLimits ?? withoutLimits, clock, [wrongTokens]),
      },
      version: '0',
      settings: { ...defaultAccountSettings, ...options.accounts },
      cookies: { ...browsersAnywhere, ...options.cookies },
      refreshLimiter: createRateLimiter(config.rateLimits ?? withoutLimits, clock),
      filesServerUrl: 'http://files.test',
      captchaUiUrl,
      assistant,
      codeHost,
      files: { tokens: valetTokens, store: fileStore, clock, random: systemRandom },
      signInFailed: options.signInFailed,
      pairedForOperator: () => {},
    });
    const verifyBearer = createVerifyBearer(sessionTokens);
    const { actors } = host;
    const ports = { clock, actors, transport, verifyBearer, socketTokens, readiness };
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
      // What is on its way through real sockets arrives meanwhile.
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
      // Hours of what repeats itself every second would take minutes.
      if (byMs > longMs) await clock.leap(byMs - longMs);
      await clock.advance(Math.min(byMs, longMs));
      await drainPromises();
    },
    async answered(asked, withinMs = 5_000) {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      asked.then(over, over);
      await until(() => isOver, withinMs);
      return asked;
    },
    async restart(changes = {}) {
      host = await host.restart(domainWith(changes));
    },
    another: (config) => gatewayWith(config),
  };
  return server;
}
