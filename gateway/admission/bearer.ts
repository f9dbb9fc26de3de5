/**
 * Turns the `Authorization` header into credentials before the gateway reads a body or calls an actor
 * (docs/protocol/authentication.md, "Authenticating a request").
 *
 * A client sends the same bearer and cookies with every request, and the result depends on nothing else. So this
 * cache remembers the most recent valid ones, which saves a third of the time that an idle sync spends here. It keeps
 * only bearers with a valid MAC, so a caller without tokens of this server cannot evict others. The key is what the
 * MAC covers, so each token takes one entry, whatever secret or spelling surrounds it.
 */
import type { Credentials, SessionTokens } from '../../actors/identity/session-tokens.ts';
import { isRefused } from '../../actors/reply.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { type Actors, unlessAbsent } from '../../runtime/handles.ts';
import { accessCookiePrefix, parseCookies, secretsOf } from '../http/cookies.ts';
import { type HttpRefusal, refusals, statusOf } from '../http/refusal.ts';

/** Both as the client sent them, empty if absent. Undefined: there is no bearer, or this server did not make it. */
export type VerifyBearer = (authorization: string, cookieHeader: string) => Credentials | undefined;

interface Remembered {
  readonly token: string;
  /** Empty where the cookies do not matter. */
  readonly cookieHeader: string;
  readonly credentials: Credentials;
}

const rememberedMax = 8_192;
const rememberedCookieCharactersMax = 1_024;

export function createVerifyBearer(tokens: Pick<SessionTokens, 'verify'>): VerifyBearer {
  let recent = new Map<string, Remembered>();
  let older = new Map<string, Remembered>();

  function remember(session: string, known: Remembered): void {
    if (recent.size >= rememberedMax / 2) {
      older = recent;
      recent = new Map();
    }
    recent.set(session, known);
  }

  function recall(session: string, token: string, cookieHeader: string): Credentials | undefined {
    let known = recent.get(session);
    if (known === undefined) {
      known = older.get(session);
      if (known !== undefined) remember(session, known);
    }
    if (known === undefined || known.token !== token) return undefined;
    if (known.credentials.style === 2 && known.cookieHeader !== cookieHeader) return undefined;
    return known.credentials;
  }

  return (authorization, cookieHeader) => {
    const token = tokenOf(authorization);
    if (token === undefined) return undefined;
    const session = token.slice(0, sessionCharacters);
    const recalled = recall(session, token, cookieHeader);
    if (recalled !== undefined) return recalled;
    // Only a cookie-style token has its secrets in cookies.
    const isCookieStyle = token.startsWith('2:');
    const credentials = tokens.verify(
      token,
      isCookieStyle ? secretsOf(parseCookies(cookieHeader), accessCookiePrefix) : none,
    );
    if (credentials === undefined) return undefined;
    if (cookieHeader.length <= rememberedCookieCharactersMax || !isCookieStyle) {
      remember(session, { token, credentials, cookieHeader: isCookieStyle ? cookieHeader : '' });
    }
    return credentials;
  };
}

const none: readonly string[] = [];
/** The part that the MAC covers, which is the same for all tokens of one session. */
const sessionCharacters = 98;
/** Tokens have up to 256 characters. The cache also keeps what precedes the token, so that has a bound too. */
const authorizationCharactersMax = 272;
const schemePattern = /^bearer +(?=\S)/i;

/** Undefined: there is no header, or it is not a bearer header. */
function tokenOf(authorization: string): string | undefined {
  if (authorization === '' || authorization.length > authorizationCharactersMax) return undefined;
  const token = authorization.startsWith('Bearer ')
    ? authorization.slice('Bearer '.length)
    : authorization.replace(schemePattern, '');
  return token.includes(' ') ? undefined : token;
}

/**
 * Whether a session is alive, for decisions before its command runs: a valid MAC does not prove that. Undefined if it is.
 * `bearerSuffices` is the route's. @throws ActorError
 */
export type CheckSession = (
  credentials: Credentials,
  bearerSuffices: true | undefined,
) => Promise<HttpRefusal | undefined>;

/** The sender of a large body waits for this check. */
const askMs = 10_000;

export function createSessionCheck(actors: Actors): CheckSession {
  return async (credentials, bearerSuffices) => {
    const { ask } = actors.get(Sessions, credentials.userUuid);
    const command = bearerSuffices ? 'validateBearer' : 'validateSession';
    const answer = await unlessAbsent<object>(ask[command]({ credentials }, { deadlineMs: askMs }));
    if (answer === undefined) return refusals.invalidAuth;
    if (!isRefused(answer)) return undefined;
    const { message, tag } = answer.refused;
    return { status: statusOf(answer.refused), message, ...(tag !== undefined && { tag }) };
  };
}
