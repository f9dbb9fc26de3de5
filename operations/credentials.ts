import { createSecureContext } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';

/** PEM, as in the files. */
export interface ServerCertificate {
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
