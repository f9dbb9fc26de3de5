/**
 * The contract of commands for signed-in callers. The request carries the credentials beside the command's own fields. The actor
 * checks the session before anything else.
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
   * `writes`: refuses read-only sessions with 403 `read-only-access`, and those of bridges with 403 unless it is open to them. A
   * command whose check depends on its items, like a sync, or on its fields, like a token for a file, is `reads` here.
   */
  readonly access: 'reads' | 'writes';
  /**
   * The bearer of a cookie-style session is enough, without its cookie. Only for commands that neither show nor change the contents
   * of the account: a script that has stolen the bearer lacks the cookie.
   */
  readonly bearerSuffices?: true | undefined;
  /** A bridge with the right to write may use the command too (docs/protocol/account.md, "Bridge tokens"). */
  readonly bridges?: true | undefined;
  /** The command's own fields. */
  readonly fields: ObjectSchema<Fields>;
  readonly ok: z.ZodType<Ok>;
  /** The path names a user, and any other caller is refused with 403. */
  readonly ofUser?: boolean | undefined;
  /** The reply as JSON text, if that may be at hand already. */
  readonly json?: (ok: Ok) => string;
}

const nothing = z.object({});
type Nothing = z.infer<typeof nothing>;

/** Without `fields` the client sends none, and without `ok` the answer is empty. */
type Declared<Fields, Ok> = Partial<
  Pick<SignedInShape<Fields, Ok>, 'fields' | 'ok' | 'json' | 'bearerSuffices'>
>;

/** A command that writes nothing, or that checks itself whether the session may write. */
export const reads = <Fields = Nothing, Ok = Nothing>(declared: Declared<Fields, Ok> = {}) =>
  signedIn('reads', declared);

/** A command that read-only sessions may not use. */
export const writes = <Fields = Nothing, Ok = Nothing>(declared: Declared<Fields, Ok> = {}) =>
  signedIn('writes', declared);

/** The same for commands whose path names the user that they are about. */
export const readsOf = <Fields extends object = Nothing, Ok = Nothing>(declared: Declared<Fields, Ok> = {}) =>
  signedInOf('reads', declared);
export const writesOf = <Fields extends object = Nothing, Ok = Nothing>(
  declared: Declared<Fields, Ok> = {},
) => signedInOf('writes', declared);

function signedInOf<Fields extends object, Ok>(
  access: SignedInShape<Fields, Ok>['access'],
  { fields = nothing as unknown as ObjectSchema<Fields>, ...rest }: Declared<Fields, Ok>,
): SignedInShape<Fields & { readonly userUuid: string }, Ok> {
  const ofUser = fields.extend({ userUuid: z.string().max(64) });
  type OfUser = ObjectSchema<Fields & { readonly userUuid: string }>;
  return { ...signedIn(access, { ...rest, fields: ofUser as unknown as OfUser }), ofUser: true };
}

function signedIn<Fields, Ok>(
  access: SignedInShape<Fields, Ok>['access'],
  {
    fields = nothing as unknown as ObjectSchema<Fields>,
    ok = nothing as unknown as z.ZodType<Ok>,
    ...rest
  }: Declared<Fields, Ok>,
): SignedInShape<Fields, Ok> {
  const request = fields.extend({ credentials: credentialsSchema });
  return {
    ...rest,
    access,
    fields,
    ok,
    request: request as unknown as z.ZodType<SignedInRequest<Fields>>,
    reply: answerSchema(ok) as unknown as z.ZodType<SignedInAnswer<Ok>>,
  };
}

/**
 * Opens commands to bridges. All others are refused, so a family that protects the account stays closed whatever is added to it.
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
