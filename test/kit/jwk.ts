import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/**
 * A generated key as a JSON Web Key. It is parsed anew from its text. If the garbage of its generation is collected
 * in the middle of such an export, Node.js deadlocks.
 */
export function jwkOf(key: KeyObject): JsonWebKey {
  const isPrivate = key.type === 'private';
  const text = key.export({ type: isPrivate ? 'pkcs8' : 'spki', format: 'pem' }).toString();
  return (isPrivate ? createPrivateKey(text) : createPublicKey(text)).export({ format: 'jwk' });
}
