/**
 * The answer to register, login, a change of credentials and a refresh. It has a session in the body and in two cookies, or the
 * token of an account without sessions.
 */
import { z } from 'zod';
import {
  issuedSchema,
  type SessionSecrets,
  type SignInReply,
  sessionReplySchema,
  type TokenReply,
  tokenReplySchema,
} from '../../actors/identity/session.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import { sessionCookies } from '../http/cookies.ts';
import type { RouteReply } from '../http/route.ts';
import type { CookieOptions } from '../settings.ts';
import { answered } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

export const signInBodySchema = z.union([
  sessionReplySchema.omit({ secrets: true }),
  tokenReplySchema.omit({ sessionUuid: true }),
]);
export const refreshBodySchema = issuedSchema.omit({ secrets: true });

/** Puts the secrets into the cookies and everything else into the body. */
export const sessionAnswer =
  (cookies: CookieOptions) =>
  (reply: { readonly secrets: SessionSecrets } | TokenReply): RouteReply => {
    if ('token' in reply) return { status: 200, body: { token: reply.token, user: reply.user } };
    const { secrets, ...body } = reply;
    return { status: 200, body, setCookies: sessionCookies(cookies, secrets) };
  };

/** The answer to a sign-in that may have failed, with the captcha that the next attempt needs, if it needs one. */
export function signInAnswer(
  reply: Answer<SignInReply>,
  { cookies, captchaUiUrl }: Pick<RoutesOptions, 'cookies' | 'captchaUiUrl'>,
): RouteReply {
  const answer = answered(reply, sessionAnswer(cookies));
  const needsCaptcha = isRefused(reply) && reply.refused.captchaRequired === true;
  if (!needsCaptcha || !captchaUiUrl) return answer;
  return { ...answer, headers: { 'x-captcha-required': captchaUiUrl } };
}
