/**
 * Reading `Cookie`, and writing the cookies of sessions (docs/protocol/authentication.md, "Cookies") and of sign-ins that
 * wait for another device (docs/protocol/account.md, "Approval by another device").
 */
import { hash } from 'node:crypto';
import type { SessionSecrets } from '../../actors/identity/session.ts';
import { namedSecret } from '../../actors/identity/session-tokens.ts';
import type { CookieOptions } from '../settings.ts';

/** Parsed cookies. One name may have several values, from other domain or path scopes, and all count. */
export type Cookies = ReadonlyMap<string, readonly string[]>;

export const accessCookiePrefix = 'access_token_';
export const refreshCookiePrefix = 'refresh_token_';

/**
 * More cookies than browsers keep for one site. A session that ended without a logout leaves its cookies behind, and
 * browsers send the oldest first. With a low bound the living session's own cookie would be cut off.
 */
export const secretsMax = 256;

const noCookies: Cookies = new Map();

const cookiesMax = 256;

/**
 * All cookies of a `Cookie` header, with every value of a name in order. Values may contain `=`. Parts without `=` or
 * without a name are skipped.
 */
export function parseCookies(header: string): Cookies {
  if (header === '') return noCookies;
  const cookies = new Map<string, string[]>();
  for (const pair of header.split(';', cookiesMax)) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(equals, 0)).trim();
    if (name === '') continue;
    const value = unquote(pair.slice(equals + 1).trim());
    const values = cookies.get(name);
    if (values === undefined) cookies.set(name, [value]);
    else values.push(value);
  }
  return cookies;
}

const unquote = (value: string) =>
  value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;

/**
 * The values of all cookies `<prefix><uuid>`, each with its uuid (`namedSecret`), distinct, in order, at most
 * `secretsMax`. Only the actor knows which session a cookie-style token belongs to; the gateway does not.
 */
export function secretsOf(cookies: Cookies, prefix: string): readonly string[] {
  const secrets = new Set<string>();
  for (const [name, values] of cookies) {
    if (!name.startsWith(prefix)) continue;
    for (const value of values) {
      if (secrets.size === secretsMax) return [...secrets];
      secrets.add(namedSecret(name.slice(prefix.length), value));
    }
  }
  return [...secrets];
}

/** The two complete `Set-Cookie` values of a session. */
export function sessionCookies(options: CookieOptions, session: SessionSecrets): readonly string[] {
  const { sessionUuid, accessSecret, refreshSecret, refreshExpirationMs } = session;
  return cookiePair({
    options,
    sessionUuid,
    accessValue: accessSecret,
    refreshValue: refreshSecret,
    expiresMs: refreshExpirationMs,
  });
}

/** The two `Set-Cookie` values that remove the cookies of a session. */
export function clearedSessionCookies(options: CookieOptions, sessionUuid: string): readonly string[] {
  return cookiePair({ options, sessionUuid, accessValue: '0', refreshValue: '0', expiresMs: 0 });
}

function cookiePair({
  options,
  sessionUuid,
  accessValue,
  refreshValue,
  expiresMs,
}: {
  readonly options: CookieOptions;
  readonly sessionUuid: string;
  readonly accessValue: string;
  readonly refreshValue: string;
  readonly expiresMs: number;
}): readonly string[] {
  const expires = `Expires=${new Date(expiresMs).toUTCString()}`;
  return [
    `${accessCookiePrefix}${sessionUuid}=${accessValue}; ${attributes(options, '/', expires)}`,
    `${refreshCookiePrefix}${sessionUuid}=${refreshValue}; ${attributes(options, '/v1/sessions/refresh', expires)}`,
  ];
}

/**
 * The name of the cookie that identifies a waiting sign-in at this address. A page of another origin has another
 * cookie. So it cannot use what the user approved for this one, even if it may send requests with the browser's
 * cookies.
 */
export const approvalCookieName = (origin: string, actorId: string): string =>
  `approval_${hash('sha256', `${origin}\u0000${actorId}`, 'hex').slice(0, 32)}`;

/**
 * The complete `Set-Cookie` value that gives a waiting device the id of its approval. `path`: the path that the
 * device polls.
 */
export const approvalCookie = ({
  options,
  path,
  name,
  id,
  ageMs,
}: {
  readonly options: CookieOptions;
  readonly path: string;
  readonly name: string;
  readonly id: string;
  readonly ageMs: number;
}): string => `${name}=${id}; ${attributes(options, path, `Max-Age=${Math.ceil(ageMs / 1_000)}`)}`;

function attributes(options: CookieOptions, path: string, lifetime: string): string {
  const parts = ['HttpOnly'];
  if (options.secure) parts.push('Secure');
  parts.push(`Path=${path}`);
  if (options.partitioned) parts.push('Partitioned');
  parts.push(`SameSite=${options.sameSite}`);
  if (options.domain !== '') parts.push(`Domain=${options.domain}`);
  parts.push(lifetime);
  return parts.join('; ');
}
