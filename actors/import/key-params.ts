/** Key params as another server has them. */
import type { z } from 'zod';
import { isVersion, missingKeyParam, type SentKeyParams } from '../identity/key-params.ts';
import type { importedKeyParamsSchema } from './messages.ts';

export type ImportedKeyParams = z.infer<typeof importedKeyParamsSchema>;

export const sentKeyParamsOf = (of: ImportedKeyParams): SentKeyParams => ({
  version: of.version,
  created: of.created,
  origination: of.origination,
  pw_nonce: of.pwNonce,
  pw_cost: of.pwCost,
  pw_salt: of.pwSalt,
  pw_alg: of.pwAlg,
  pw_func: of.pwFunc,
  pw_key_size: of.pwKeySize,
});

/** No client could derive its keys from them. */
export const isUnusable = (of: ImportedKeyParams): boolean =>
  !isVersion(of.version) || missingKeyParam(sentKeyParamsOf(of), of.version) !== undefined;
