/**
 * What a client of protocol 004 makes to sign in. The page for administrators and the command line are such clients, so this
 * runs in browsers as well.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

export interface TypedPassword {
  readonly password: string;
  readonly identifier: string;
  readonly nonce: string;
}

const argon2Cost = { passes: 5, memoryKiB: 65_536, lanes: 1, outputBytes: 64 } as const;
const saltHexDigits = 32;
const halfBytes = 32;

/** Node.js has a library twenty times as fast as the one for browsers. */
export type Argon2id = (
  password: Uint8Array,
  salt: Uint8Array,
  cost: typeof argon2Cost,
) => Promise<Uint8Array>;

/** The server gets the second half of the hash in place of the password. The first half is the key to the items. */
export async function serverPassword(
  { password, identifier, nonce }: TypedPassword,
  argon2id: Argon2id,
): Promise<string> {
  const salt = hexToBytes(hexOfSha256(`${identifier}:${nonce}`).slice(0, saltHexDigits));
  const hash = await argon2id(utf8ToBytes(password), salt, argon2Cost);
  return bytesToHex(hash.subarray(halfBytes));
}

export interface Challenge {
  readonly verifier: string;
  readonly challenge: string;
}

/** The client sends the challenge first, and the verifier with the password. */
export function newChallenge(random: Uint8Array): Challenge {
  const verifier = bytesToHex(random);
  const challenge = btoa(hexOfSha256(verifier)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return { verifier, challenge };
}

const hexOfSha256 = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));
