/**
 * What an account stores and the server must be able to read, such as the secret of its authenticator app, is
 * stored encrypted: AES-256-GCM under a separate key for each user, derived from the root secret. Sealed
 * bytes are `nonce (12) | ciphertext | tag (16)` and are bound to their purpose, so that none can stand in
 * for another.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import type { Random } from '../../runtime/random.ts';

export interface UserSecrets {
  /** `random` makes the nonce: that of the turn, so that a turn which runs again is the same. */
  seal(secret: SealedFor, plain: string, random: Pick<Random, 'bytes'>): Buffer;
  /** @throws Error when the bytes were altered, or sealed for another user, purpose or root secret */
  open(secret: SealedFor, sealed: Uint8Array): string;
}
export const UserSecrets = dependency<UserSecrets>('the keys of users’ secrets');

export interface SealedFor {
  readonly userUuid: string;
  readonly purpose: string;
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export function createUserSecrets(keyring: Keyring): UserSecrets {
  const root = keyring.derive('user-secrets');
  const keyOf = (userUuid: string) => createHmac('sha256', root).update(userUuid).digest();
  return {
    seal({ userUuid, purpose }, plain, random) {
      const nonce = random.bytes(nonceBytes);
      const sealing = createCipheriv(cipher, keyOf(userUuid), nonce).setAAD(Buffer.from(purpose));
      return Buffer.concat([nonce, sealing.update(plain, 'utf8'), sealing.final(), sealing.getAuthTag()]);
    },
    open({ userUuid, purpose }, sealed) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      if (bytes.length < nonceBytes + tagBytes) throw new Error('sealed bytes are too short');
      const end = bytes.length - tagBytes;
      const opening = createDecipheriv(cipher, keyOf(userUuid), bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(end));
      return Buffer.concat([opening.update(bytes.subarray(nonceBytes, end)), opening.final()]).toString(
        'utf8',
      );
    },
  };
}
