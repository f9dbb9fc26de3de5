/**
 * Secrets that the server makes and shows once: app passwords, tokens of trusted devices and of bridges. They are 32
 * random bytes, so a single SHA-256 is all the hashing they need; nothing else is stored.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Random } from '../../runtime/random.ts';
import { equalInConstantTime } from './session-tokens.ts';

const secretBytes = 32;

/** The stored fields of a secret that is shown once. */
export const shownOnceFields = {
  uuid: z.string(),
  label: z.string(),
  secretHash: z.string(),
  createdAtMs: z.number(),
  lastUsedAtMs: z.number().nullable(),
};

export interface NewSecret {
  /** 43 characters, base64url. */
  readonly secret: string;
  readonly secretHash: string;
}

export function makeSecret(random: Pick<Random, 'bytes'>): NewSecret {
  const secret = random.bytes(secretBytes).toString('base64url');
  return { secret, secretHash: secretHashOf(secret) };
}

/**
 * The entry that was made with this secret. It compares every entry, even after a match. If anonymous clients may ask, it makes
 * `comparisons` in any case. So the time does not show how many entries there are, or whether there is an account.
 */
export function findBySecret<T extends { readonly secretHash: string }>(
  entries: Iterable<T>,
  secret: string,
  comparisons = 0,
): T | undefined {
  const secretHash = secretHashOf(secret);
  let found: T | undefined;
  let compared = 0;
  for (const entry of entries) {
    if (equalInConstantTime(secretHash, entry.secretHash)) found = entry;
    compared += 1;
  }
  for (; compared < comparisons; compared += 1) equalInConstantTime(secretHash, hashOfNone);
  return found;
}

const hashOfNone = '0'.repeat(64);

export const secretHashOf = (secret: string): string => hash('sha256', secret, 'hex');
