/**
 * How callers and this server prove themselves. A caller shows a certificate or the token of the internal API, or reaches the
 * socket file. The token is derived from the root secret, so it is the same for all nodes. Callers send it as
 * `authorization: Bearer <token>`.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ServerCredentials, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
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
            const [authorization = ''] = metadata.get('authorization');
            if (timingSafeEqual(digestOf(authorization), expected)) return pass(metadata);
            call.sendStatus({
              code: status.UNAUTHENTICATED,
              details: 'The internal API needs its token, which is in the data directory of each node.',
            });
          },
        }),
    });
}

const digestOf = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();

/** PEM, as in the files. */
interface ServerCertificate {
  readonly certificate: Buffer;
  readonly key: Buffer;
  /** With it, callers must show a certificate signed by one of these. */
  readonly clientCa: Buffer | undefined;
}

/** Plain text without a certificate. @throws Error if they are not certificates or do not match */
export function serverCredentials(tls: ServerCertificate | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { certificate, key, clientCa } = tls;
  // Checked here, because the error would go unnoticed at the first connection.
  createSecureContext({ cert: certificate, key });
  if (clientCa !== undefined && !clientCa.includes('-----BEGIN CERTIFICATE-----')) {
    throw new Error('the file of authorities for callers holds no certificate');
  }
  const pairs = [{ cert_chain: certificate, private_key: key }];
  return ServerCredentials.createSsl(clientCa ?? null, pairs, clientCa !== undefined);
}
