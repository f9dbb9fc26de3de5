/** From the `Authorization` header to credentials, before a body is read or an actor asked (auth.md 3.5). */
import type { Credentials, SessionTokens } from '../actors/mod.ts';
import { noCookies, parseCookies } from './cookies.ts';

/** Both as sent, empty when absent. Undefined: there is no bearer, or not one this server made. */
export type VerifyBearer = (authorization: string, cookieHeader: string) => Credentials | undefined;

const schemePattern = /^bearer +/i;

export function createVerifyBearer(tokens: Pick<SessionTokens, 'verify'>): VerifyBearer {
  return (authorization, cookieHeader) => {
    if (authorization === '') return undefined;
    const token = authorization.startsWith('Bearer ')
      ? authorization.slice('Bearer '.length)
      : authorization.replace(schemePattern, '');
    // Only a cookie-style token has its secrets in cookies.
    return tokens.verify(token, token.startsWith('2:') ? parseCookies(cookieHeader) : noCookies);
  };
}
