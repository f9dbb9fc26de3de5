/**
 * Valet tokens (docs/protocol/files.md, "Valet tokens"). Each allows a client one operation on one file. Requests for the bytes
 * of files may go to another host, so they carry a valet token and no session token.
 *
 *     <claims, JSON, base64url>.<mac, base64url>
 *
 * `mac` is the first 16 bytes of HMAC-SHA-256 over the text before the dot. The server stores nothing when it makes a token. On
 * each use, the user's actor checks whether the session of the token still lives. Each token has an id of its own, so no two are
 * the same.
 */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import type { Random } from '../../runtime/random.ts';
import { equalInConstantTime } from './session-tokens.ts';

export const valetOperations = ['read', 'write', 'delete', 'move'] as const;
export const moveTypes = [
  'shared-vault-to-user',
  'user-to-shared-vault',
  'shared-vault-to-shared-vault',
] as const;

const moveSchema = z.object({
  type: z.enum(moveTypes),
  /** For a move from one vault to another: the target. */
  targetVaultUuid: z.string().optional(),
});
export type Move = z.infer<typeof moveSchema>;

export const valetClaimsSchema = z.object({
  id: z.string(),
  /** The user for whose session it was made. */
  userUuid: z.string(),
  sessionUuid: z.string(),
  operation: z.enum(valetOperations),
  remoteIdentifier: z.string(),
  /** The shared vault of the file. For a move: the source, or the target if the file comes from a user. */
  sharedVaultUuid: z.string().optional(),
  move: moveSchema.optional(),
  /** Bytes that may be written, before encryption. */
  unencryptedBytes: z.number(),
  issuedMs: z.number(),
  endsMs: z.number(),
});
export type ValetClaims = Readonly<z.infer<typeof valetClaimsSchema>>;

export interface ValetTokens {
  mint(claims: Omit<ValetClaims, 'id'>): string;
  /** Undefined if the token is malformed or was not made by this server. The caller checks whether it has expired. */
  verify(token: string): ValetClaims | undefined;
}
export const ValetTokens = dependency<ValetTokens>('the valet tokens');

const tokenPattern = /^([\w-]{1,1000})\.([\w-]{22})$/;

export function createValetTokens(keyring: Keyring, random: Pick<Random, 'bytes'>): ValetTokens {
  const key = keyring.derive('valet-token');
  const macOf = (signed: string) =>
    createHmac('sha256', key).update(signed).digest().subarray(0, 16).toString('base64url');
  return {
    mint(claims) {
      const id = random.bytes(16).toString('base64url');
      const signed = Buffer.from(JSON.stringify({ ...claims, id })).toString('base64url');
      return `${signed}.${macOf(signed)}`;
    },
    verify(token) {
      const [, signed = '', mac = ''] = tokenPattern.exec(token) ?? [];
      if (!equalInConstantTime(mac, macOf(signed))) return undefined;
      // The key is this server's, but another release with other claims may have made the token.
      return valetClaimsSchema.safeParse(JSON.parse(Buffer.from(signed, 'base64url').toString())).data;
    },
  };
}
