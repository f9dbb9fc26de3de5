/**
 * The account routes over a host with the model store, a clock that tests move and a hasher that costs nothing:
 * everything but sockets and Argon2.
 */
import { createHash } from 'node:crypto';
import {
  type AccountSettings,
  createKinds,
  createSessionTokens,
  createSigninKeys,
  defaultAccountSettings,
  defaultItemSettings,
  type PasswordHasher,
  type Services,
} from '../../actors/mod.ts';
import { createVerifyBearer } from '../../gateway/admission/bearer.ts';
import { type CookieOptions, parseCookies } from '../../gateway/http/cookies.ts';
import { mergeRequest, validateRequest } from '../../gateway/http/request.ts';
import type { AnyRoute, RouteReply } from '../../gateway/http/route.ts';
import { accountRoutes } from '../../gateway/routes/accounts.ts';
import { sessionRoutes } from '../../gateway/routes/sessions.ts';
import { signInRoutes } from '../../gateway/routes/sign-in.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { settled } from '../support/clock.ts';
import { startTestHost, type TestHost } from '../support/host.ts';

const cookies: CookieOptions = { sameSite: 'None', secure: true, partitioned: true, domain: '' };

export interface Call {
  readonly body?: Record<string, unknown>;
  readonly bearer?: string | undefined;
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly callId?: string;
}

/** A hasher whose hashes are readable, and which counts what it was asked. */
export class CountingHasher implements PasswordHasher {
  hashes = 0;
  verifications = 0;
  /** Runs once, before the next verification answers. */
  meanwhile: (() => Promise<unknown>) | undefined;

  async hash(password: string): Promise<string> {
    this.hashes += 1;
    return `hash of ${password}`;
  }

  async verify(hashed: string | undefined, password: string): Promise<boolean> {
    this.verifications += 1;
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    if (hashed !== undefined && !hashed.startsWith('hash of ')) throw new Error('not a hash');
    return hashed === `hash of ${password}`;
  }
}

export interface World {
  readonly hasher: CountingHasher;
  readonly services: Services;
  host: TestHost;
  call(method: string, path: string, call?: Call): Promise<RouteReply>;
  advance(byMs: number): Promise<void>;
}

export async function createWorld(
  overrides: Partial<AccountSettings> = {},
  more: { captcha?: Services['captcha']; captchaUiUrl?: string } = {},
): Promise<World> {
  const keyring = createKeyring(Buffer.alloc(32, 7));
  const settings = { ...defaultAccountSettings, ...overrides };
  const hasher = new CountingHasher();
  const tokens = createSessionTokens(keyring.derive('session-tokens'));
  const signinKeys = createSigninKeys(keyring);
  const services: Services = {
    settings,
    items: defaultItemSettings,
    tokens,
    hasher,
    signinKeys,
    captcha: more.captcha,
  };
  const host = await startTestHost({ kinds: createKinds(services) });
  const routes = [
    ...accountRoutes({ settings, cookies }),
    ...sessionRoutes({ tokens, cookies }),
    ...signInRoutes({ settings, signinKeys, cookies, captchaUiUrl: more.captchaUiUrl ?? null }),
  ];
  const verifyBearer = createVerifyBearer(tokens);
  let calls = 0;

  const world: World = {
    hasher,
    services,
    host,
    async call(method, path, { body = {}, bearer, cookie = '', headers = {}, callId }: Call = {}) {
      const { route, parameters } = findRoute(routes, method, path);
      const credentials = verifyBearer(bearer === undefined ? '' : `Bearer ${bearer}`, cookie);
      if (route.access === 'session' && credentials === undefined) throw new Error('refused by the gateway');
      const validated = validateRequest(route, mergeRequest('', { ...body }, parameters));
      if ('status' in validated) return { status: validated.status, body: { error: validated } };
      calls += 1;
      const context = {
        actors: world.host.actors,
        credentials: route.access === 'public' ? undefined : credentials,
        client: {
          ipAddress: '203.0.113.7',
          userAgent: headers['user-agent'] ?? null,
          snjsVersion: null,
          applicationVersion: null,
        },
        snjsVersion: null,
        cookies: parseCookies(cookie),
        header: (name: string) => headers[name],
        requestId: `request ${calls}`,
        ask: { callId: callId ?? `call ${calls}` },
        body: undefined,
        gone: never,
        stopping: never,
      };
      return route.handle(context, validated.request);
    },
    async advance(byMs) {
      await world.host.clock.advance(byMs);
      await settled();
    },
  };
  return world;
}

const never = new AbortController().signal;

function findRoute(routes: readonly AnyRoute[], method: string, path: string) {
  for (const route of routes) {
    if (route.method !== method) continue;
    const names: string[] = [];
    const pattern = route.path.replace(/:(\w+)/g, (_, name: string) => {
      names.push(name);
      return '([^/]+)';
    });
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (match) {
      const parameters = Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
      return { route, parameters };
    }
  }
  throw new Error(`no route ${method} ${path}`);
}

/** The challenge clients of snjs make: base64url of the hex text of the verifier's SHA-256. */
export function challengeOf(verifier: string): string {
  return Buffer.from(createHash('sha256').update(verifier).digest('hex')).toString('base64url');
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  /** The `Cookie` header of a browser that got the answer. */
  readonly cookie: string;
  readonly userUuid: string;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at as a client would
export const bodyOf = (reply: RouteReply): any => reply.body;

export function tokensOf(reply: RouteReply): Tokens {
  const { session, user } = bodyOf(reply);
  const cookie = (reply.setCookies ?? []).map((text) => text.slice(0, text.indexOf(';'))).join('; ');
  return { access: session.access_token, refresh: session.refresh_token, cookie, userUuid: user?.uuid ?? '' };
}

export const alice = { email: 'alice@example.org', password: 'a'.repeat(64), pw_nonce: 'b'.repeat(64) };

export async function register(
  world: World,
  fields: Record<string, unknown> = {},
  call: Call = {},
): Promise<Tokens> {
  const body = { ...alice, api: '20200115', version: '004', origination: 'registration', ...fields };
  const reply = await world.call('POST', '/v1/users', { body, ...call });
  if (reply.status !== 200) throw new Error(`not registered: ${JSON.stringify(reply.body)}`);
  return tokensOf(reply);
}

let verifiers = 0;

/** Both calls of a sign-in; the last one's answer. */
export async function signIn(world: World, fields: Record<string, unknown> = {}): Promise<RouteReply> {
  verifiers += 1;
  const verifier = `verifier ${verifiers}`;
  const { email, password } = { ...alice, ...fields };
  await world.call('POST', '/v2/login-params', {
    body: { email, code_challenge: challengeOf(verifier), ...fields },
  });
  const body = { email, password, code_verifier: verifier, api: '20200115', ...fields };
  return world.call('POST', '/v2/login', { body });
}

export async function statusOf(
  world: World,
  { access, cookie }: Pick<Tokens, 'access' | 'cookie'>,
): Promise<string> {
  const reply = await world.call('GET', '/v1/sessions', { bearer: access, cookie });
  return reply.status === 200 ? '200' : `${reply.status} ${bodyOf(reply).error.tag}`;
}

export const refresh = (world: World, { access, refresh, cookie }: Tokens, api = '20200115') =>
  world.call('POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: refresh, api },
    cookie,
  });
