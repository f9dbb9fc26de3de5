/** Opens the store of files that the settings name, and feeds metrics and readiness. */
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { openLocalDisk } from '../actors/files/local-disk.ts';
import { countedFileStore } from '../actors/files/metrics.ts';
import type { FileStore, OpenFileStore, StoreCondition } from '../actors/files/store.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { ReadinessCheck } from '../runtime/readiness.ts';
import type { DataDirectory } from './data-directory.ts';
import type { ServerOptions } from './server-options.ts';
import { StartError } from './start-error.ts';

export interface CheckedFileStore {
  readonly store: FileStore;
  readonly check: ReadinessCheck;
}

/** Closes with the lifetime. @throws StartError */
export async function provideFileStore(
  options: ServerOptions,
  directory: Pick<DataDirectory, 'path'>,
  registry: Registry,
): Promise<CheckedFileStore> {
  const store = await openFileStore(options, directory);
  options.lifetime.onEnd(() => store.close());
  const check = createFilesCheck(store, options.clock);
  return { store: countedFileStore(store, registry, check), check };
}

/** The options of a server that opening a store needs. */
export type FileStoreOptions = Pick<ServerOptions, 'clock' | 'random'> & {
  readonly config: Pick<ServerOptions['config'], 'nodeId' | 'fileStore'>;
  readonly secrets: Pick<ServerOptions['secrets'], 's3SecretAccessKey'>;
};

/** @throws StartError */
export function openFileStore(
  options: FileStoreOptions,
  directory: Pick<DataDirectory, 'path'>,
): Promise<OpenFileStore> {
  return options.config.fileStore.kind === 's3' ? openBucket(options) : openFolder(options, directory);
}

/** The folder of files, unless the files are in a bucket. */
export const filesFolderOf = (folder: string | undefined, directory: Pick<DataDirectory, 'path'>): string =>
  folder ?? join(directory.path, 'files');

async function openFolder(
  { config, clock, random }: FileStoreOptions,
  directory: Pick<DataDirectory, 'path'>,
): Promise<OpenFileStore> {
  const { nodeId, fileStore } = config;
  const folder = filesFolderOf(fileStore.folder, directory);
  try {
    const { reserveBytes, isFolderShared: isShared } = fileStore;
    return await openLocalDisk({ folder, reserveBytes, nodeId, isShared, clock, random });
  } catch (error) {
    throw StartError.config(
      `The folder of files ${folder} cannot be used: ${messageOf(error)}. It must be writable; set FILES_FOLDER to use another one.`,
      error,
    );
  }
}

/** Readiness checks whether the store answers: everything but files works without it. */
async function openBucket({ config, secrets, clock }: FileStoreOptions): Promise<OpenFileStore> {
  const { endpoint, region, bucket, accessKeyId, isPathStyle } = config.fileStore.s3;
  const { s3SecretAccessKey: secretAccessKey } = secrets;
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error('the configuration lets nobody open a bucket without its name and key');
  }
  // Loaded only when it is needed, because the S3 client is large.
  const { openS3 } = await import('../actors/files/s3.ts');
  return openS3({
    endpoint,
    region,
    bucket,
    accessKeyId,
    secretAccessKey,
    isPathStyle,
    clock,
  });
}

const cacheMs = 30_000;
/** Less than the time of a check, which would otherwise make this process unready. */
const deadlineMs = 1_500;

/**
 * Clients need their files as they need their notes. A full store does not make this node unready: only uploads are refused, and
 * notes are saved. A result stays valid for a while, because S3 charges for each request.
 */
export function createFilesCheck(store: Pick<OpenFileStore, 'condition'>, clock: Clock): ReadinessCheck {
  let found: StoreCondition = 'good';
  let foundUntilMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonicMs() >= foundUntilMs) {
      foundUntilMs = clock.monotonicMs() + cacheMs;
      const late = sleep(clock, deadlineMs).then(() => 'away' as const);
      found = await Promise.race([store.condition(), late]);
    }
    return found === 'full' ? 'degraded' : found === 'good';
  };
}
