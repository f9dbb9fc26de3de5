/**
 * The server whole, in this process: every kind of actor on a host over the model store, every route behind a
 * listening gateway, one clock that tests move, and a hasher that costs nothing. What a test says of it went over a
 * socket, so a route that forgets something shows.
 *
 * The only file of the kit that knows how the server is put together.
 */
import type { ExecutionContext } from 'ava';
import { BridgeTokens, createBridgeTokens } from '../../actors/identity/bridge-tokens.ts';
import { CaptchaVerifier, noCaptcha } from '../../actors/identity/captcha.ts';
import { PasswordHasher } from '../../actors/identity/password-hasher.ts';
import { createSessionTokens, SessionTokens } from '../../actors/identity/session-tokens.ts';
import { createShareIds, ShareIds } from '../../actors/identity/share-ids.ts';
import { createSigninKeys, SigninKeys } from '../../actors/identity/signin-keys.ts';
import { createSubscriptionTokens, SubscriptionTokens } from '../../actors/identity/subscription-tokens.ts';
import { createUserSecrets, UserSecrets } from '../../actors/identity/user-secrets.ts';
import { kinds } from '../../actors/kinds.ts';
import { MailSender } from '../../actors/mailer/sender.ts';
import {
  AccountSettings,
  defaultAccountSettings,
  defaultItemSettings,
  defaultMailSettings,
  ItemSettings,
  MailSettings,
  WebAuthnSettings,
} from '../../actors/settings.ts';
import { createVerifyBearer } from '../../gateway/admission/bearer.ts';
import { createRateLimiter } from '../../gateway/admission/rate-limit.ts';
import { allRoutes } from '../../gateway/routes/mod.ts';
import type { GatewayConfig } from '../../gateway/server.ts';
import type { CookieOptions } from '../../gateway/settings.ts';
import { provide } from '../../runtime/dependency.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { alice } from './account.ts';
import { drainPromises, FakeClock } from './clock.ts';
import { Device } from './device.ts';
import { startGateway, type TestGateway, testSocketTokens } from './gateway.ts';
import { CountingHasher } from './hasher.ts';
import { startTestHost, type TestHost, type TestHostOptions } from './host.ts';
import { type Answer, type Call, call } from './http.ts';
import { LossyTransport } from './lossy-transport.ts';
import { Postbox } from './postbox.ts';

export interface DomainOptions {
  readonly accounts?: Partial<AccountSettings>;
  readonly items?: Partial<ItemSettings>;
  readonly captcha?: CaptchaVerifier;
  readonly mail?: Partial<MailSettings>;
  /** What relays take instead of the real ones. */
  readonly mailSender?: MailSender;
}

export interface ServerOptions extends DomainOptions {
  readonly cookies?: Partial<CookieOptions>;
  readonly captchaUiUrl?: string;
  /** Told the client's address of every refused sign-in. */
  readonly signInFailed?: (clientAddress: string) => void;
  readonly gateway?: Partial<GatewayConfig>;
  readonly host?: Pick<TestHostOptions, 'clock' | 'store' | 'schedule' | 'limits' | 'leaseMs'>;
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
export const subscriptionTokens = createSubscriptionTokens(keyring);
export const shareIds = createShareIds(keyring);
export const sessionTokens: SessionTokens = createSessionTokens(keyring.derive('session-token'));

/** Every kind of actor with what it uses, for tests with hosts of their own. */
export function domainOf(
  { accounts, items, captcha = noCaptcha, mail, mailSender = new Postbox() }: DomainOptions,
  hasher = new CountingHasher(),
) {
  const provided = [
    provide(AccountSettings, { ...defaultAccountSettings, ...accounts }),
    provide(ItemSettings, { ...defaultItemSettings, ...items }),
    provide(SessionTokens, sessionTokens),
    provide(SigninKeys, signinKeys),
    provide(UserSecrets, createUserSecrets(keyring)),
    provide(BridgeTokens, bridgeTokens),
    provide(SubscriptionTokens, subscriptionTokens),
    provide(ShareIds, shareIds),
    provide(PasswordHasher, hasher),
    provide(CaptchaVerifier, captcha),
    provide(WebAuthnSettings, webAuthn),
    provide(MailSettings, { ...defaultMailSettings, ...mail }),
    provide(MailSender, mailSender),
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
  const domain = domainOf(options, hasher);
  let host = await startTestHost({ leaseMs: neverMs, ...options.host, ...domain, clock, transport });
  t.teardown(() => host.host.abandon());

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
      version: '0',
      settings: { ...defaultAccountSettings, ...options.accounts },
      cookies: { ...browsersAnywhere, ...options.cookies },
      refreshLimiter: createRateLimiter(config.rateLimits ?? withoutLimits, clock),
      filesServerUrl: 'http://files.test',
      captchaUiUrl,
      signInFailed: options.signInFailed,
    });
    const verifyBearer = createVerifyBearer(sessionTokens);
    const { actors } = host;
    const ports = { clock, actors, transport, verifyBearer, socketTokens, readiness };
    return startGateway(t, routes, { rateLimits: withoutLimits, ...config, ...ports });
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
      host = await host.restart(domainOf({ ...options, ...changes }, hasher));
    },
    another: (config) => gatewayWith(config),
  };
  return server;
}
