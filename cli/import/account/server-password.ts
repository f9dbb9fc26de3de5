/** What a client shows a server instead of the typed password, by protocol 004. The other half of the hash opens the items. */
import { createHash } from 'node:crypto';
import { exitCodes, Failure } from '../../failure.ts';

export interface KeyParams {
  readonly identifier: string;
  readonly version: string;
  readonly pw_nonce: string;
  readonly created?: string;
  readonly origination?: string;
}

const saltHexDigits = 32;
const halfBytes = 32;
/** Argon2id, which is the library's default. */
const argon = { memoryCost: 65_536, timeCost: 5, parallelism: 1, outputLen: 2 * halfBytes };

/** @throws Failure for an account of an older protocol */
export async function serverPasswordOf(
  password: string,
  { version, identifier, pw_nonce: nonce }: KeyParams,
): Promise<string> {
  if (version !== '004') {
    throw new Failure(
      exitCodes.refused,
      `The account is of protocol ${version}. Sign in to it with a current app first, which brings it to 004.`,
    );
  }
  const { hashRaw } = await import('@node-rs/argon2');
  const digest = createHash('sha256').update(`${identifier}:${nonce}`).digest('hex');
  const salt = Buffer.from(digest.slice(0, saltHexDigits), 'hex');
  const hash = await hashRaw(password, { ...argon, salt });
  return hash.subarray(halfBytes).toString('hex');
}
