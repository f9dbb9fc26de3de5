/**
 * Authenticates a caller: by the file of a socket, a certificate, or the token of the internal API. The token is
 * derived from the root secret, so it is the same for all nodes. Callers send it as `authorization: Bearer <token>`.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import type { Keyring } from '../runtime/keyring.ts';

export const internalApiToken = (keyring: Keyring): string =>
  keyring.derive('internal-api-token').toString('hex');

/** Runs before anything is read from a call. */
export function demandToken(token: string): ServerInterceptor {
  // Digests, so that the time taken reveals nothing about how close a guess was.
  const expected = digestOf(`Bearer ${token}`);
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, pass) {
            const [shown = ''] = metadata.get('authorization');
            if (timingSafeEqual(digestOf(shown), expected)) return pass(metadata);
            call.sendStatus({
              code: status.UNAUTHENTICATED,
              details: 'The internal API needs its token, which is in the data directory of each node.',
            });
          },
        }),
    });
}

const digestOf = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();
