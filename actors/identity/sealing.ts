/**
 * AES-256-GCM, as used for everything that the server stores encrypted. Sealed bytes are `nonce (12) | ciphertext | tag (16)`, and
 * are bound to their purpose, so that none can stand in for another.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../../runtime/random.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export interface SealedUnder {
  /** 32 bytes. */
  readonly key: Buffer;
  /** The purpose that the bytes are bound to. */
  readonly purpose: string;
}

/** `random` makes the nonce: that of the turn, so that a turn which runs again is the same. */
export function seal({ key, purpose }: SealedUnder, plain: string, random: Pick<Random, 'bytes'>): Buffer {
  const nonce = random.bytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, sealing.update(plain, 'utf8'), sealing.final(), sealing.getAuthTag()]);
}

/** @throws Error when the bytes were altered, or sealed under another key or for another purpose */
export function open({ key, purpose }: SealedUnder, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < nonceBytes + tagBytes) throw new Error('sealed bytes are too short');
  const end = bytes.length - tagBytes;
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(end));
  return Buffer.concat([opening.update(bytes.subarray(nonceBytes, end)), opening.final()]).toString('utf8');
}

/** The tag, which differs between any two sealed texts. */
export const tagOf = (sealed: Uint8Array): Uint8Array => sealed.subarray(-tagBytes);
