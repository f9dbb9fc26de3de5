/**
 * Key params: what a client derives its keys from (docs/protocol/authentication.md, "Key params"). Only protocol 004
 * and later has accounts here.
 */
import { z } from 'zod';
import type { AccountRow } from './account-table.ts';

export const keyParamsSchema = z.object({
  /** Milliseconds since the epoch as decimal text. Given only to a signed-in caller, like `origination`. */
  created: z.string().optional(),
  identifier: z.string(),
  origination: z.string().optional(),
  pw_nonce: z.string(),
  version: z.string(),
});
export type KeyParams = z.infer<typeof keyParamsSchema>;

/** What is stored of them: the identifier is the account's. */
export type StoredKeyParams = Omit<KeyParams, 'identifier'>;

/**
 * The fields of a request that carry them (docs/protocol/authentication.md, "Registration" and "Change of
 * credentials").
 */
const shortText = z.string().min(1).max(256);
export const sentKeyParamsFields = {
  pw_nonce: shortText,
  version: shortText.optional(),
  origination: z.string().max(256).optional(),
  created: z.string().max(256).optional(),
};
export const sentKeyParamsSchema = z.object(sentKeyParamsFields);
export type SentKeyParams = z.infer<typeof sentKeyParamsSchema>;

/** Protocol versions are three digits. Accounts below 004 sign in by a token this server does not issue. */
export function isSupportedVersion(version: string): boolean {
  return /^\d{3}$/.test(version) && version >= '004';
}

/** Fields the client left empty keep the value they had. */
export function storedKeyParams(sent: SentKeyParams, before: Partial<StoredKeyParams>): StoredKeyParams {
  return {
    pw_nonce: sent.pw_nonce,
    version: sent.version || before.version || '004',
    origination: sent.origination || before.origination,
    created: sent.created || before.created,
  };
}

/** As a signed-in caller gets them. */
export function fullKeyParams({
  identifier,
  key_params,
}: Pick<AccountRow, 'identifier' | 'key_params'>): KeyParams {
  const { created, origination, pw_nonce, version } = readKeyParams(key_params);
  return { created, identifier, origination, pw_nonce, version };
}

/** As anyone gets them. */
export function publicKeyParams(row: Pick<AccountRow, 'identifier' | 'key_params'>): KeyParams {
  const { identifier, pw_nonce, version } = fullKeyParams(row);
  return { identifier, pw_nonce, version };
}

export function readKeyParams(text: string): StoredKeyParams {
  return storedSchema.parse(JSON.parse(text));
}

const storedSchema = keyParamsSchema.omit({ identifier: true });
