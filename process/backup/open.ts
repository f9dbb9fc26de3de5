/** Opens what a backup or a restore works with, as the settings of the server name it. */
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { checkBlobName, FileStoreError } from '../../actors/files/store.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { BackupConfiguration } from '../config/config.ts';
import { openDataDirectory } from '../data-directory.ts';
import { openDatabase } from '../database.ts';
import { filesFolderOf, openFileStore } from '../files.ts';
import { superuser } from '../postgres/cluster.ts';
import { embeddedDatabase, endpointOf } from '../postgres/embedded.ts';
import type { BlobSource } from './blobs.ts';
import { BackupError } from './error.ts';
import { openFolderTarget } from './folder-target.ts';
import type { BackupTarget } from './target.ts';

const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
const s3Form = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/;

/** `place` is a folder, or s3://bucket/prefix. @throws BackupError */
export async function openTarget(
  location: string,
  { backup, backupS3SecretAccessKey: secretAccessKey }: BackupConfiguration,
  access: { readonly create: boolean },
): Promise<BackupTarget> {
  if (!location.startsWith('s3://')) return openFolderTarget(location, access);
  const [, bucket, path = ''] = s3Form.exec(location) ?? [];
  if (bucket === undefined)
    throw BackupError.refused(`${location} is not s3://bucket or s3://bucket/prefix.`);
  const { endpoint, region, accessKeyId, isPathStyle } = backup.s3;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw BackupError.refused(
      'A bucket needs BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY (or …_FILE).',
    );
  }
  // Loaded only when it is needed, because the S3 client is large.
  const { openS3Target } = await import('./s3-target.ts');
  return openS3Target({
    bucket,
    prefix: path === '' || path.endsWith('/') ? path : `${path}/`,
    endpoint,
    region,
    accessKeyId,
    secretAccessKey,
    isPathStyle,
  });
}

export interface OpenedResource<T> {
  readonly it: T;
  close(): Promise<void>;
}

export async function using<T, R>(
  opening: Promise<OpenedResource<T>>,
  work: (it: T) => Promise<R>,
): Promise<R> {
  const { it, close } = await opening;
  try {
    return await work(it);
  } finally {
    await close();
  }
}

/** The database of the server, whether the server runs or not. @throws BackupError | StartError */
export async function openForBackup(config: BackupConfiguration): Promise<OpenedResource<pg.ClientConfig>> {
  const { databaseUrl } = config;
  if (databaseUrl !== undefined)
    return { it: { connectionString: databaseUrl }, close: async () => undefined };
  const served = await servedDatabase(resolve(config.dataDirectory));
  if (served !== undefined) return { it: served, close: async () => undefined };
  if (!(await hasEmbedded(config.dataDirectory))) {
    throw BackupError.refused(
      `There is no database in ${resolve(config.dataDirectory)}: set DATA_DIR or DATABASE_URL as for the server.`,
    );
  }
  return openEmbedded(config);
}

const hasEmbedded = (directory: string): Promise<boolean> =>
  stat(join(directory, 'postgres', 'PG_VERSION')).then(
    () => true,
    () => false,
  );

/** The embedded database of a server that runs on this directory, which may be mounted to be read alone. */
async function servedDatabase(directory: string): Promise<pg.ClientConfig | undefined> {
  const clusterPath = join(directory, 'postgres');
  const state = await readFile(join(clusterPath, 'postmaster.pid'), 'utf8').catch(() => undefined);
  const password = await readFile(join(directory, 'postgres-password'), 'utf8').catch(() => undefined);
  if (state === undefined || password === undefined) return undefined;
  const connection = {
    ...endpointOf(clusterPath, Number(state.split('\n')[portLine])),
    user: superuser,
    password: password.trim(),
    database: embeddedDatabase,
  };
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return connection;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** What PostgreSQL writes into `postmaster.pid`: the port is on its fourth line. */
const portLine = 3;

/** The embedded database of a server that does not run. @throws StartError */
export async function openEmbedded({
  dataDirectory,
}: Pick<BackupConfiguration, 'dataDirectory'>): Promise<OpenedResource<pg.ClientConfig>> {
  const directory = await openDataDirectory(dataDirectory);
  try {
    const database = await openDatabase(undefined, directory, ports);
    return {
      it: database.connection,
      async close() {
        await database.stop();
        await directory.release();
      },
    };
  } catch (error) {
    await directory.release();
    throw error;
  }
}

/** The database to restore into. No server runs on it. @throws StartError */
export function openForRestore(config: BackupConfiguration): Promise<OpenedResource<pg.ClientConfig>> {
  const { databaseUrl } = config;
  if (databaseUrl === undefined) return openEmbedded(config);
  return Promise.resolve({ it: { connectionString: databaseUrl }, close: async () => undefined });
}

/** Where the server keeps the files of users, for reading alone. @throws StartError */
export async function openSource(config: BackupConfiguration): Promise<OpenedResource<BlobSource>> {
  const { fileStore, dataDirectory } = config;
  if (fileStore.kind === 'local') {
    const folder = filesFolderOf(fileStore.folder, { path: resolve(dataDirectory) });
    return { it: { read: (name) => readBlobFile(folder, name) }, close: async () => undefined };
  }
  const { it: store, close } = await openFilesOfServer(config);
  const never = new AbortController().signal;
  return {
    it: {
      async read(name, bytes) {
        const pieces: Buffer[] = [];
        for await (const piece of store.read(name, { start: 0, end: bytes }, never))
          pieces.push(Buffer.from(piece));
        return Buffer.concat(pieces);
      },
    },
    close,
  };
}

async function readBlobFile(folder: string, name: string): Promise<Buffer> {
  checkBlobName(name);
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new FileStoreError(isAbsent ? 'missing' : 'unavailable', error);
  }
}

/** The store of files of a server that does not run. @throws StartError */
export async function openFilesOfServer(config: BackupConfiguration) {
  const { fileStore, dataDirectory, s3SecretAccessKey } = config;
  const store = await openFileStore(
    {
      config: { nodeId: 'restore', fileStore },
      secrets: { s3SecretAccessKey },
      clock: systemClock,
      random: systemRandom,
    },
    { path: resolve(dataDirectory) },
  );
  return { it: store, close: () => store.close() };
}

/** The secret key of this server as text. Undefined if it is not on this machine. */
export async function secretKeyOf({
  secretKey,
  dataDirectory,
}: BackupConfiguration): Promise<string | undefined> {
  if (secretKey !== undefined) return secretKey;
  const stored = await readFile(join(dataDirectory, 'secret-key'), 'utf8').catch(() => undefined);
  return stored?.trim();
}
