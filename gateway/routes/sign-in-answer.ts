/** What register, login, a change of credentials and a refresh answer: a session in the body and in two cookies. */
import { z } from 'zod';
import { keyParamsSchema, type SignInReply, sessionBodySchema } from '../../actors/mod.ts';
import { sessionCookies } from '../http/cookies.ts';
import type { RouteReply } from '../http/route.ts';
import type { CookieOptions } from '../settings.ts';

export const signInBodySchema = z.object({
  session: sessionBodySchema,
  key_params: keyParamsSchema,
  user: z.object({ uuid: z.string(), email: z.string(), protocolVersion: z.string() }),
});

export const errorBodySchema = z.object({
  error: z.object({
    message: z.string(),
    tag: z.string().optional(),
    payload: z.record(z.string(), z.unknown()).optional(),
  }),
});

type Secrets = SignInReply['secrets'];

/** Answers everything but the secrets, which go into the cookies. */
export function sessionAnswer(cookies: CookieOptions, reply: { readonly secrets: Secrets }): RouteReply {
  const { secrets, ...body } = reply;
  return { status: 200, body, setCookies: sessionCookies(cookies, secrets) };
}
