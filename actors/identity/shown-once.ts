/**
 * Secrets that the server makes and shows once: app passwords, tokens of trusted devices and of bridges. They are 32
 * random bytes, so a single SHA-256 is all the hashing they need; nothing else is stored.
 */
import { hash } from 'node:crypto';
import type { Random } from '../../runtime/random.ts';
import { equalInConstantTime } from './session-tokens.ts';

const secretBytes = 32;

export interface ShownOnce {
  /** 43 characters, base64url. */
  readonly secret: string;
  readonly secretHash: string;
}

export function makeSecret(random: Pick<Random, 'bytes'>): ShownOnce {
  const secret = random.bytes(secretBytes).toString('base64url');
  return { secret, secretHash: secretHashOf(secret) };
}

/** The entry that was made with this secret. Every entry is compared, even after a match. */
export function findBySecret<T extends { readonly secretHash: string }>(
  entries: Iterable<T>,
  secret: string,
): T | undefined {
  const secretHash = secretHashOf(secret);
  let found: T | undefined;
  for (const entry of entries) {
    if (equalInConstantTime(secretHash, entry.secretHash)) found = entry;
  }
  return found;
}

export const secretHashOf = (secret: string): string => hash('sha256', secret, 'hex');
