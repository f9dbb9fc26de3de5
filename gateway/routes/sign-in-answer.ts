/** What register, login, a change of credentials and a refresh answer: a session in the body and in two cookies. */
import { issuedSchema, type SessionSecrets, signInReplySchema } from '../../actors/identity/session.ts';
import { sessionCookies } from '../http/cookies.ts';
import type { RouteReply } from '../http/route.ts';
import type { CookieOptions } from '../settings.ts';

export const signInBodySchema = signInReplySchema.omit({ secrets: true });
export const refreshBodySchema = issuedSchema.omit({ secrets: true });

/** Answers everything but the secrets, which go into the cookies. */
export const sessionAnswer =
  (cookies: CookieOptions) =>
  ({ secrets, ...body }: { readonly secrets: SessionSecrets }): RouteReply => ({
    status: 200,
    body,
    setCookies: sessionCookies(cookies, secrets),
  });
