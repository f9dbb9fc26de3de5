/** Accounts over the HTTP interface: registering, signing in, refreshing. Works on any server that has an address. */
import { createHash, randomUUID } from 'node:crypto';
import { type Answer, type Call, call } from './http.ts';

export interface Server {
  readonly url: string;
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  /** The `Cookie` header of a browser that received the answer. */
  readonly cookie: string;
  readonly userUuid: string;
}

export interface Account extends Tokens {
  readonly email: string;
  readonly password: string;
}

export const headerSessions = '20200115';
export const cookieSessions = '20240226';

export const alice = { email: 'alice@example.org', password: 'a'.repeat(64), pw_nonce: 'b'.repeat(64) };
export const bob = { ...alice, email: 'bob@example.org' };
/** The key params of an account of protocol 003, which has no sessions. Only a server for testing registers it. */
export const protocol003 = { version: '003', pw_cost: 110_000 };
export const newAlice = { ...alice, api: headerSessions, version: '004' };

/** The challenge of snjs clients: base64url of the hex text of the verifier's SHA-256. */
export function challengeOf(verifier: string): string {
  return Buffer.from(createHash('sha256').update(verifier).digest('hex')).toString('base64url');
}

/**
 * The token pair from a registration, a sign-in, a refresh or a change of credentials, or the token of an account
 * without sessions.
 */
export function tokensOf({ body, setCookies }: Pick<Answer, 'body' | 'setCookies'>): Tokens {
  const { session = { access_token: body.token, refresh_token: '' }, user } = body;
  const cookie = setCookies.map((text) => text.slice(0, text.indexOf(';'))).join('; ');
  return { access: session.access_token, refresh: session.refresh_token, cookie, userUuid: user?.uuid ?? '' };
}

/** Registers Alice, or somebody else. @throws Error if that is refused */
export async function register(
  { url }: Server,
  fields: Readonly<Record<string, unknown>> = {},
  request: Call = {},
): Promise<Account> {
  const body = { ...newAlice, origination: 'registration', ...fields };
  const answer = await call(url, 'POST', '/v1/users', { body, ...request });
  if (answer.status !== 200) throw new Error(`not registered: ${answer.status} ${answer.text}`);
  return { ...tokensOf(answer), email: body.email, password: body.password };
}

/** Registers a new user. */
export const registerStranger = (server: Server, fields: Readonly<Record<string, unknown>> = {}) =>
  register(server, { email: `${randomUUID()}@example.org`, ...fields });

/** Both calls of a sign-in; returns the last answer. */
export async function signIn(
  { url }: Server,
  fields: Readonly<Record<string, unknown>> = {},
  request: Call = {},
): Promise<Answer> {
  const verifier = randomUUID();
  const { email, password } = { ...alice, ...fields };
  const params = { email, code_challenge: challengeOf(verifier), ...fields };
  await call(url, 'POST', '/v2/login-params', { body: params, ...request });
  const body = { email, password, code_verifier: verifier, api: headerSessions, ...fields };
  return call(url, 'POST', '/v2/login', { body, ...request });
}

/** The result of a signed-in call: `200`, or the status with the tag of the error. */
export async function statusOf(
  { url }: Server,
  { access, cookie }: Pick<Tokens, 'access' | 'cookie'>,
): Promise<string> {
  const { status, body } = await call(url, 'GET', '/v1/sessions', { bearer: access, cookie });
  return status === 200 ? '200' : `${status} ${body.error.tag}`;
}

export const refresh = ({ url }: Server, { access, refresh, cookie }: Tokens, api = headerSessions) =>
  call(url, 'POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: refresh, api },
    cookie,
  });

/** Changes the address of the account; all its sessions end, and a new one begins. */
export const changeEmail = (
  server: Server,
  { access, userUuid, password, email }: Account,
  newEmail: string,
  request: Call = {},
) =>
  call(server.url, 'PUT', `/v1/users/${userUuid}/attributes/credentials`, {
    bearer: access,
    body: {
      current_password: password,
      new_password: password,
      new_email: newEmail,
      email,
      pw_nonce: 'e'.repeat(64),
      api: headerSessions,
    },
    ...request,
  });
