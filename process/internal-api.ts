/** The internal API, with its certificates from files. */
import { readFile } from 'node:fs/promises';
import type { ServerCredentials } from '@grpc/grpc-js';
import { serverCredentials } from '../operations/credentials.ts';
import { createInternalApi } from '../operations/internal-api.ts';
import type { InternalApiOptions } from '../operations/internal-api-options.ts';
import { messageOf } from '../runtime/errors.ts';
import type { ServerOptions } from './server-options.ts';
import type { InternalApiSettings } from './settings.ts';
import { exitCodes, StartError } from './start-error.ts';

/** Closes with the lifetime. Resolves to the port taken. @throws StartError */
export async function openInternalApi(
  options: ServerOptions,
  apiOptions: InternalApiOptions,
): Promise<number> {
  const { config, lifetime } = options;
  const credentials = await credentialsOf(config.internalApi);
  const api = createInternalApi(apiOptions);
  lifetime.onEnd(() => api.close());
  return api.listen(config.internalApi.host, config.internalApi.port, credentials);
}

async function credentialsOf(settings: InternalApiSettings): Promise<ServerCredentials> {
  const { certFile, keyFile, clientCaFile } = settings;
  if (certFile === undefined || keyFile === undefined) return serverCredentials(undefined);
  const certificate = await read('GRPC_CERT_FILE', certFile);
  const key = await read('GRPC_KEY_FILE', keyFile);
  const clientCa = clientCaFile === undefined ? undefined : await read('GRPC_CLIENT_CA_FILE', clientCaFile);
  try {
    return serverCredentials({ certificate, key, clientCa });
  } catch (error) {
    throw wrong(
      `GRPC_CERT_FILE, GRPC_KEY_FILE and GRPC_CLIENT_CA_FILE do not fit: ${messageOf(error)}.`,
      error,
    );
  }
}

async function read(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw wrong(`The file ${path} that ${setting} names cannot be read: ${messageOf(error)}.`, error);
  }
}

const wrong = (message: string, cause: unknown): StartError =>
  new StartError(message, exitCodes.config, { cause });
