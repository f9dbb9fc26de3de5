import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/**
 * A generated key as a JSON Web Key. It is read anew from its text: where the garbage of its generation is collected in the
 * middle of such an export, Node.js waits for itself for good.
 */
export function jwkOf(key: KeyObject): JsonWebKey {
  const isPrivate = key.type === 'private';
  const text = key.export({ type: isPrivate ? 'pkcs8' : 'spki', format: 'pem' }).toString();
  return (isPrivate ? createPrivateKey(text) : createPublicKey(text)).export({ format: 'jwk' });
}
