/**
 * From the `Authorization` header to credentials, before a body is read or an actor asked
 * (docs/protocol/authentication.md, "Authenticating a request").
 *
 * A client sends the same bearer and cookies with every request, and what they say is a function of nothing else,
 * so the last ones found right are remembered: that is a third of the time an idle sync spends here. Only what has
 * a right MAC is kept, so nobody without tokens of this server can push others out.
 */
import type { Credentials, SessionTokens } from '../../actors/identity/session-tokens.ts';
import { accessCookiePrefix, parseCookies, secretsOf } from '../http/cookies.ts';

/** Both as sent, empty when absent. Undefined: there is no bearer, or not one this server made. */
export type VerifyBearer = (authorization: string, cookieHeader: string) => Credentials | undefined;

interface Remembered {
  /** Empty where the cookies do not matter. */
  readonly cookieHeader: string;
  readonly credentials: Credentials;
}

const rememberedMax = 8_192;
const rememberedCookieCharactersMax = 1_024;

export function createVerifyBearer(tokens: Pick<SessionTokens, 'verify'>): VerifyBearer {
  let recent = new Map<string, Remembered>();
  let older = new Map<string, Remembered>();

  function remember(authorization: string, known: Remembered): void {
    if (recent.size >= rememberedMax / 2) {
      older = recent;
      recent = new Map();
    }
    recent.set(authorization, known);
  }

  function recall(authorization: string, cookieHeader: string): Credentials | undefined {
    let known = recent.get(authorization);
    if (known === undefined) {
      known = older.get(authorization);
      if (known !== undefined) remember(authorization, known);
    }
    if (known === undefined) return undefined;
    if (known.credentials.style === 2 && known.cookieHeader !== cookieHeader) return undefined;
    return known.credentials;
  }

  return (authorization, cookieHeader) => {
    if (authorization === '') return undefined;
    const recalled = recall(authorization, cookieHeader);
    if (recalled !== undefined) return recalled;
    const token = withoutScheme(authorization);
    // Only a cookie-style token has its secrets in cookies.
    const isCookieStyle = token.startsWith('2:');
    const credentials = tokens.verify(
      token,
      isCookieStyle ? secretsOf(parseCookies(cookieHeader), accessCookiePrefix) : none,
    );
    if (credentials === undefined) return undefined;
    if (cookieHeader.length <= rememberedCookieCharactersMax || !isCookieStyle) {
      remember(authorization, { credentials, cookieHeader: isCookieStyle ? cookieHeader : '' });
    }
    return credentials;
  };
}

const none: readonly string[] = [];
const schemePattern = /^bearer +/i;

const withoutScheme = (authorization: string) =>
  authorization.startsWith('Bearer ')
    ? authorization.slice('Bearer '.length)
    : authorization.replace(schemePattern, '');
