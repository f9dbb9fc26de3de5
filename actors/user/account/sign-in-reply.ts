import { z } from 'zod';
import type { Profile } from '../profile.ts';
import { type Issued, sessionBodySchema, sessionSecretsSchema } from '../sessions/issue.ts';
import { type KeyParams, keyParamsSchema } from './key-params.ts';

/** What register, login and a change of credentials answer (auth.md 5.3), and the secrets for the cookies. */
export const signInReplySchema = z.object({
  session: sessionBodySchema,
  key_params: keyParamsSchema,
  user: z.object({ uuid: z.string(), email: z.string(), protocolVersion: z.string() }),
  secrets: sessionSecretsSchema,
});
export type SignInReply = z.infer<typeof signInReplySchema>;

export function signInReply(
  userUuid: string,
  { email, protocolVersion }: Profile,
  keyParams: KeyParams,
  issued: Issued,
): SignInReply {
  return { ...issued, key_params: keyParams, user: { uuid: userUuid, email, protocolVersion } };
}
