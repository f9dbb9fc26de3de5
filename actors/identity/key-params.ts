/**
 * Key params, from which a client derives its keys (docs/protocol/authentication.md, "Key params"). The protocol version of the
 * account decides which of them exist.
 */
import { z } from 'zod';
import type { AccountRow } from './account-table.ts';

const shortText = z.string().min(1).max(256);
const count = z.int().min(1).max(0x7fff_ffff);

const derivation = z.object({
  pw_alg: shortText,
  pw_cost: count,
  pw_func: shortText,
  pw_key_size: count,
  pw_nonce: shortText,
  pw_salt: shortText,
});
const anyDerivation = derivation.partial();
type Derivation = z.infer<typeof anyDerivation>;

/** Params for which old clients had defaults may be absent. */
const derivations: Readonly<Record<string, z.ZodType<Derivation>>> = {
  '001': derivation
    .pick({ pw_alg: true, pw_cost: true, pw_func: true, pw_key_size: true, pw_salt: true })
    .partial({ pw_alg: true, pw_func: true, pw_key_size: true }),
  '002': derivation.pick({ pw_cost: true, pw_salt: true }),
  '003': derivation.pick({ pw_cost: true, pw_nonce: true }).partial({ pw_cost: true }),
};
const nonceAlone: z.ZodType<Derivation> = derivation.pick({ pw_nonce: true });
const derivationOf = (version: string): z.ZodType<Derivation> => derivations[version] ?? nonceAlone;

/** Key params of these versions repeat the identifier as `email`. */
const namesEmail = (version: string): boolean => version === '001' || version === '002';

export const keyParamsSchema = z.object({
  /** Milliseconds since the epoch as decimal text. Given only to a signed-in caller, like `origination`. */
  created: z.string().optional(),
  email: z.string().optional(),
  identifier: z.string(),
  origination: z.string().optional(),
  ...anyDerivation.shape,
  version: z.string(),
});
export type KeyParams = z.infer<typeof keyParamsSchema>;

const storedSchema = keyParamsSchema.omit({ email: true, identifier: true }).extend({
  /** The spelling of an imported account, if it differs from its address: clients derive keys from this one. */
  identifier: z.string().optional(),
});
/** The stored params. The identifier is the account's. */
export type StoredKeyParams = z.infer<typeof storedSchema>;

/**
 * The fields of a request that carry them (docs/protocol/authentication.md, "Registration" and "Change of
 * credentials").
 */
export const sentKeyParamsSchema = z.object({
  ...anyDerivation.shape,
  version: shortText.optional(),
  origination: z.string().max(256).optional(),
  created: z.string().max(256).optional(),
});
export type SentKeyParams = z.infer<typeof sentKeyParamsSchema>;

/** Protocol versions are three digits. */
export const isVersion = (text: string): boolean => /^\d{3}$/.test(text) && text >= '001';

/**
 * Accounts below 004 are given a token instead (docs/protocol/authentication.md, "Accounts of protocol 001 to 003").
 */
export const hasSessions = (version: string): boolean => version >= '004';

/** The version as sent, or else the present one. */
export const protocolVersionOf = (sent: SentKeyParams, before?: string): string =>
  sent.version || before || '004';

/** The first param that a version needs and that was not sent. */
export function missingKeyParam(sent: SentKeyParams, version: string): string | undefined {
  const [issue] = derivationOf(version).safeParse(sent).error?.issues ?? [];
  return issue && String(issue.path[0]);
}

/** Call it when nothing is missing. Fields that the client left empty keep their values. */
export function storedKeyParams(sent: SentKeyParams, before: Partial<StoredKeyParams>): StoredKeyParams {
  const version = protocolVersionOf(sent, before.version);
  return {
    ...derivationOf(version).parse(sent),
    version,
    origination: sent.origination || before.origination,
    created: sent.created || before.created,
  };
}

export type KeyParamsRow = Pick<AccountRow, 'identifier' | 'key_params'>;

/** The key params for the signed-in owner. */
export function fullKeyParams(row: KeyParamsRow): KeyParams {
  const { created, origination, version } = readKeyParams(row);
  return { ...(hasSessions(version) && { created, origination }), ...publicKeyParams(row) };
}

/** The key params for anyone who names the address. */
export function publicKeyParams(row: KeyParamsRow): KeyParams {
  const { created, origination, version, identifier = row.identifier, ...derivation } = readKeyParams(row);
  return { ...(namesEmail(version) && { email: identifier }), identifier, ...derivation, version };
}

export function readKeyParams({ key_params }: Pick<AccountRow, 'key_params'>): StoredKeyParams {
  return storedSchema.parse(JSON.parse(key_params));
}
