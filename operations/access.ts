/**
 * How callers of the internal API and this server authenticate. A caller shows a certificate, sends the token, or connects by the
 * socket file, which only its owner can open. The token is derived from the root secret, so it is the same for all nodes. Callers
 * send it as `authorization: Bearer <token>`.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ServerCredentials, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import type { Keyring } from '../runtime/keyring.ts';

export const internalApiToken = (keyring: Keyring): string =>
  keyring.derive('internal-api-token').toString('hex');

/** Refuses calls without the token, before anything of their body is read. */
export function demandToken(token: string): ServerInterceptor {
  // Comparing digests takes the same time for every guess, so the time reveals nothing.
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

/** The contents of PEM files. */
interface ServerCertificate {
  readonly certificate: Buffer;
  readonly key: Buffer;
  /** If set, callers must show a certificate that one of these authorities has signed. */
  readonly clientCa: Buffer | undefined;
}

/** Without a certificate the connection is not encrypted. @throws Error if the files are no certificates or do not match */
export function serverCredentials(tls: ServerCertificate | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { certificate, key, clientCa } = tls;
  // Without this check a wrong certificate would only fail the first connection, unnoticed by the operator.
  createSecureContext({ cert: certificate, key });
  if (clientCa !== undefined && !clientCa.includes('-----BEGIN CERTIFICATE-----')) {
    throw new Error('the file of authorities for callers holds no certificate');
  }
  const pairs = [{ cert_chain: certificate, private_key: key }];
  return ServerCredentials.createSsl(clientCa ?? null, pairs, clientCa !== undefined);
}
