/**
 * Decrypts what the other server encrypts at rest: AES-256-GCM with a nonce of 16 bytes, as JSON. Its one key opens a key of
 * each user, which opens the user's settings.
 */
import { createDecipheriv } from 'node:crypto';

interface ImportEnvelope {
  readonly version: number;
  readonly encrypted: {
    readonly iv: string;
    readonly tag: string;
    readonly aad: string;
    readonly ciphertext: string;
  };
}

const keyForm = /^[0-9a-f]{64}$/i;

/** Undefined unless it is 64 hexadecimal digits. */
export const keyFrom = (text: string): Buffer | undefined =>
  keyForm.test(text.trim()) ? Buffer.from(text.trim(), 'hex') : undefined;

/** Undefined if the text is not encrypted, whatever the row says. */
export function envelopeIn(text: string): ImportEnvelope | undefined {
  try {
    const parsed = JSON.parse(text);
    return typeof parsed?.encrypted?.ciphertext === 'string' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if the key does not fit. */
export function opened({ version, encrypted }: ImportEnvelope, key: Buffer): string | undefined {
  if (version !== 1) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(encrypted.iv, 'hex'), {
      authTagLength: 16,
    });
    decipher.setAAD(Buffer.from(encrypted.aad ?? '', 'hex'));
    decipher.setAuthTag(Buffer.from(encrypted.tag, 'hex'));
    const start = decipher.update(Buffer.from(encrypted.ciphertext, 'base64'));
    return Buffer.concat([start, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** The key of a user. Undefined if the key of the server does not open it. */
export function userKeyFrom(stored: string, serverKey: Buffer): Buffer | undefined {
  const envelope = envelopeIn(stored);
  const text = envelope && opened(envelope, serverKey);
  return text === undefined ? undefined : keyFrom(text);
}
