/**
 * The contract of commands for signed-in callers: the request carries the credentials beside the command's own fields,
 * and the actor checks the session before it looks at anything else.
 */
import { z } from 'zod';
import type { CommandShape } from '../runtime/contract.ts';
import { type Credentials, credentialsSchema } from './identity/session-tokens.ts';
import { answerSchema, type Refusal, type SignedInAnswer } from './reply.ts';

export type SignedInRequest<Fields> = Fields & { readonly credentials: Credentials };

/** An object schema, so that `credentials` can be added without validating twice. */
type ObjectSchema<T> = z.ZodType<T> & z.ZodObject;

export interface SignedInShape<Fields, Ok> extends CommandShape<SignedInRequest<Fields>, SignedInAnswer<Ok>> {
  /**
   * `writes`: refuses read-only sessions with 403 `read-only-access`, and those of bridges with 403 unless it is open to
   * them. What may depend on the item, like a sync, or on what is asked for, like a token for a file, `reads` here.
   */
  readonly access: 'reads' | 'writes';
  /**
   * The bearer of a cookie-style session is enough, without its cookie. For commands alone that neither show nor change
   * what the account holds: the cookie is what a script that has stolen the bearer lacks.
   */
  readonly bearerSuffices?: true | undefined;
  /** A bridge that may write may ask for it too (docs/protocol/account.md, "Bridge tokens"). */
  readonly bridges?: true | undefined;
  /** The command's own fields. */
  readonly fields: ObjectSchema<Fields>;
  readonly ok: z.ZodType<Ok>;
  /** The request names a user, in the path: who is not that user is refused with 403. */
  readonly ofUser?: boolean | undefined;
  /** The reply as JSON text, where that may be at hand already. */
  readonly json?: (ok: Ok) => string;
}

/** For a command whose path names the user that it is about. */
export function signedInOf<Fields extends object, Ok>(
  shape: Pick<SignedInShape<Fields, Ok>, 'access' | 'fields' | 'ok'>,
): SignedInShape<Fields & { readonly userUuid: string }, Ok> {
  const fields = shape.fields.extend({ userUuid: z.string().max(64) });
  return signedIn({
    ...shape,
    fields: fields as unknown as ObjectSchema<Fields & { readonly userUuid: string }>,
    ofUser: true,
  });
}

export function signedIn<Fields, Ok>(
  shape: Pick<SignedInShape<Fields, Ok>, 'access' | 'fields' | 'ok' | 'json' | 'ofUser' | 'bearerSuffices'>,
): SignedInShape<Fields, Ok> {
  const request = shape.fields.extend({ credentials: credentialsSchema });
  return {
    ...shape,
    request: request as unknown as z.ZodType<SignedInRequest<Fields>>,
    reply: answerSchema(shape.ok) as unknown as z.ZodType<SignedInAnswer<Ok>>,
  };
}

/**
 * Commands that a bridge may ask for, too. Those that are not opened by this are refused: a family that protects the account
 * stays closed whatever is added to it.
 */
export function openToBridges<Shapes extends object>(shapes: Shapes): Shapes {
  const opened = Object.entries(shapes).map(([name, shape]) => [
    name,
    'access' in shape ? { ...shape, bridges: true } : shape,
  ]);
  return Object.fromEntries(opened) as Shapes;
}

/** There is no such session, or no such account. */
export const invalidAuth: Refusal = {
  reason: 'unauthenticated',
  tag: 'invalid-auth',
  message: 'Invalid login credentials.',
  withoutEnvelope: true,
};
