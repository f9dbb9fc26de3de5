import { hkdfSync } from 'node:crypto';

/** The source of keys: one root secret, one key per purpose. */
export interface Keyring {
  /** 32 bytes that depend only on the root secret and on `purpose`. The same purpose gives the same bytes. */
  derive(purpose: string): Buffer;
}

export const rootSecretBytes = 32;
const derivedBytes = 32;

/** Derives by HKDF-SHA256 with the purpose as label. `rootSecret` is `rootSecretBytes` random bytes. */
export function createKeyring(rootSecret: Buffer): Keyring {
  if (rootSecret.length !== rootSecretBytes) throw new RangeError('The root secret has to be 32 bytes.');
  return {
    derive(purpose) {
      return Buffer.from(hkdfSync('sha256', rootSecret, '', `scriptorium/${purpose}`, derivedBytes));
    },
  };
}
