/**
 * What an account of version 004 sends in place of its password: the second half of 64 bytes that Argon2id makes of
 * the password. The first half is the key to the notes, and is dropped here.
 */
import { argon2idAsync } from '@noble/hashes/argon2.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const cost = { t: 5, m: 65_536, p: 1, dkLen: 64 };
const saltHexDigits = 32;
const halfHexDigits = 64;

const hexOfSha256 = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

/** Takes seconds, and leaves the page usable meanwhile. */
export async function serverPassword(password: string, identifier: string, nonce: string): Promise<string> {
  const salt = hexToBytes(hexOfSha256(`${identifier}:${nonce}`).slice(0, saltHexDigits));
  const derived = await argon2idAsync(utf8ToBytes(password), salt, cost);
  return bytesToHex(derived).slice(halfHexDigits);
}

export interface Challenge {
  readonly verifier: string;
  readonly challenge: string;
}

export function newChallenge(random: Uint8Array): Challenge {
  const verifier = bytesToHex(random);
  const challenge = btoa(hexOfSha256(verifier)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return { verifier, challenge };
}
