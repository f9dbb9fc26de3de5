/**
 * The internal API: always on a socket in the data directory, for callers that may read that directory. A setting adds a port.
 * A port without mutual TLS requires the token, which is then in the data directory, too.
 */
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerCredentials } from '@grpc/grpc-js';
import { internalApiToken, serverCredentials } from '../operations/access.ts';
import { createInternalApi, type InternalApi } from '../operations/internal-api.ts';
import type { InternalApiOptions } from '../operations/internal-api-options.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Resources } from './resources.ts';
import type { ServerOptions } from './server-options.ts';
import { type InternalApiSettings, internalApiSocket, internalApiTokenFile } from './settings.ts';
import { withShortPath } from './short-path.ts';
import { StartError } from './start-error.ts';

export interface InternalApiAddresses {
  readonly socketPath: string;
  readonly port: number | undefined;
}

type InternalApiResources = Pick<Resources, 'directory' | 'keyring'>;

/** Closes with the lifetime. @throws StartError */
export async function openInternalApi(
  { config, lifetime }: Pick<ServerOptions, 'config' | 'lifetime'>,
  { directory, keyring }: InternalApiResources,
  apiOptions: InternalApiOptions,
): Promise<InternalApiAddresses> {
  const { host, port, ...files } = config.internalApi;
  const credentials = await credentialsOf(files);
  const api = createInternalApi(apiOptions);
  lifetime.onEnd(() => api.close());
  const socketPath = await listenOnSocket(api, directory.path);
  lifetime.onEnd(() => rm(socketPath, { force: true }));
  if (port === undefined) return { socketPath, port };
  const token = files.clientCaFile === undefined ? internalApiToken(keyring) : undefined;
  if (token !== undefined) await directory.replace(internalApiTokenFile, token);
  return { socketPath, port: await api.listenOnPort(host, port, { credentials, token }) };
}

/** Only the holder of the directory's lock may remove the previous process's files. @throws StartError */
async function listenOnSocket(api: InternalApi, directory: string): Promise<string> {
  const socketPath = join(directory, internalApiSocket);
  try {
    await rm(socketPath, { force: true });
    await withShortPath(directory, (shortPath) => api.listenOnSocket(join(shortPath, internalApiSocket)));
    await chmod(socketPath, 0o600);
    return socketPath;
  } catch (error) {
    throw StartError.unavailable(
      `The internal API cannot listen on ${socketPath}: ${messageOf(error)}.`,
      error,
    );
  }
}

async function credentialsOf(
  settings: Pick<InternalApiSettings, 'certFile' | 'keyFile' | 'clientCaFile'>,
): Promise<ServerCredentials> {
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

const wrong = (message: string, cause: unknown): StartError => StartError.config(message, cause);
