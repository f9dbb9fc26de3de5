/**
 * The contract of commands for signed-in callers: the request carries the credentials beside the command's own fields,
 * and the actor checks the session before it looks at anything else.
 */
import type { z } from 'zod';
import type { CommandShape } from '../runtime/contract.ts';
import { type Credentials, credentialsSchema } from './identity/session-tokens.ts';
import { answerSchema, type Refusal, type SignedInAnswer } from './reply.ts';

export type SignedInRequest<Fields> = Fields & { readonly credentials: Credentials };

/** An object schema, so that `credentials` can be added without validating twice. */
export type ObjectSchema<T> = z.ZodType<T> & z.ZodObject;

export interface SignedInShape<Fields, Ok> extends CommandShape<SignedInRequest<Fields>, SignedInAnswer<Ok>> {
  /** `writes`: refuses read-only sessions with 403 `read-only-access`. */
  readonly access: 'reads' | 'writes';
  /** The command's own fields. */
  readonly fields: ObjectSchema<Fields>;
  readonly ok: z.ZodType<Ok>;
  /** The reply as JSON text, where it may already exist. */
  readonly json?: (ok: Ok) => string;
}

export function signedIn<Fields, Ok>(
  shape: Pick<SignedInShape<Fields, Ok>, 'access' | 'fields' | 'ok' | 'json'>,
): SignedInShape<Fields, Ok> {
  const request = shape.fields.extend({ credentials: credentialsSchema });
  return {
    ...shape,
    request: request as unknown as z.ZodType<SignedInRequest<Fields>>,
    reply: answerSchema(shape.ok) as unknown as z.ZodType<SignedInAnswer<Ok>>,
  };
}

/** There is no such session, or no such account. */
export const invalidAuth: Refusal = {
  status: 401,
  tag: 'invalid-auth',
  message: 'Invalid login credentials.',
  bare: true,
};
