/** Opens the internal gRPC API as configured: reads the certificates, listens, and says what is in the way. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { InternalApiSettings } from '../config.ts';
import { type ServerCertificate, serverCredentials } from '../operations/credentials.ts';
import { createInternalApi } from '../operations/internal-api.ts';
import type { InternalApiPorts } from '../operations/ports.ts';
import { exitCodes, StartError } from './start-error.ts';

export interface OpenInternalApi {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws StartError */
export async function openInternalApi(
  settings: InternalApiSettings,
  ports: InternalApiPorts,
): Promise<OpenInternalApi> {
  const certificate = await readCertificate(settings);
  const api = createInternalApi(ports);
  try {
    const port = await api.listen(settings.host, settings.port, serverCredentials(certificate));
    return { port, close: () => api.close() };
  } catch (error) {
    throw new StartError(
      `GRPC_PORT cannot be listened on: ${(error as Error).message}`,
      exitCodes.unavailable,
      { cause: error },
    );
  }
}

async function readCertificate(settings: InternalApiSettings): Promise<ServerCertificate | undefined> {
  const { certFile, keyFile, clientCaFile } = settings;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const [certificate, key, clientCa] = await Promise.all([
    readPem('GRPC_CERT_FILE', certFile),
    readPem('GRPC_KEY_FILE', keyFile),
    clientCaFile === undefined ? undefined : readPem('GRPC_CLIENT_CA_FILE', clientCaFile),
  ]);
  assertUsable({ certificate, key, clientCa });
  return { certificate, key, clientCa };
}

async function readPem(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw wrong(`${setting} cannot be read: ${(error as Error).message}.`, error);
  }
}

/** Here and not at the first connection, where nobody would be told. */
function assertUsable({ certificate, key, clientCa }: ServerCertificate): void {
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw wrong('GRPC_CERT_FILE and GRPC_KEY_FILE are no certificate (PEM) and its private key.', error);
  }
  if (clientCa !== undefined && !clientCa.includes('-----BEGIN CERTIFICATE-----')) {
    throw wrong('GRPC_CLIENT_CA_FILE has no certificates (PEM).');
  }
}

function wrong(message: string, cause?: unknown): StartError {
  return new StartError(message, exitCodes.config, { cause });
}
