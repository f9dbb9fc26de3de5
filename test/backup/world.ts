/** Databases with a row of every kind, a store of files beside them, and a target. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { blobName, withChunk } from '../../actors/files/layout.ts';
import { openLocalDisk } from '../../actors/files/local-disk.ts';
import { FileStoreError } from '../../actors/files/store.ts';
import { file } from '../../actors/files/tables.ts';
import type { BlobSource } from '../../process/backup/blobs.ts';
import { type BackupOptions, backUp } from '../../process/backup/create.ts';
import { openFolderTarget } from '../../process/backup/folder-target.ts';
import { backupsIn, readManifest } from '../../process/backup/format.ts';
import { type RestoreOptions, restore } from '../../process/backup/restore.ts';
import { type BackupRow, insertRows, tableDigestOf } from '../../process/backup/rows.ts';
import { openerWith, sealerFor } from '../../process/backup/sealing.ts';
import { type BackupTable, backupTables } from '../../process/backup/tables.ts';
import type { BackupTarget } from '../../process/backup/target.ts';
import { migrations } from '../../process/schema.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { typeOf } from '../../runtime/store/postgres/sql.ts';
import type { DatabaseConnection, TestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';

export const uuidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

/** More than a page of each. */
const rowsOfTable = 230;

function sampleOf(table: BackupTable, index: number): BackupRow {
  return Object.keys(table.columns).map((column) => {
    const isNull = String(table.columns[column]).endsWith('?') && index % 3 === 0;
    if (isNull) return null;
    switch (typeOf(table.columns, column)) {
      case 'uuid':
        return uuidOf(`${table.name} ${column} ${index}`);
      case 'int8':
        return String(9_007_199_254_740_993n + BigInt(index));
      case 'bool':
        return index % 2 === 0;
      case 'bytea':
        return randomBytes(20).toString('base64');
      default:
        return `${column} ${index} "quoted" \\ ü\n`;
    }
  });
}

export async function connected<T>(
  connection: DatabaseConnection,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A migrated database with rows in every table. `file` is empty. */
async function filledDatabase(server: TestPostgres): Promise<DatabaseConnection> {
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  await connected(connection, async (client) => {
    for (const table of backupTables) {
      if (table.name === file.name) continue;
      const rows = Array.from({ length: rowsOfTable }, (_, index) => sampleOf(table, index));
      await insertRows(client, table, Object.keys(table.columns), rows);
    }
    await client.query(
      `INSERT INTO setting (name, value) VALUES ('generation', 'before'), ('secret-key-fingerprint', 'f')`,
    );
    await client.query('UPDATE counter SET value = 7');
  });
  return connection;
}

/** A folder of files as the server keeps it. */
export class Files {
  readonly folder: string;
  readonly source: BlobSource;

  constructor(folder: string) {
    this.folder = folder;
    this.source = {
      read: async (name) => {
        try {
          return readFileSync(join(folder, name));
        } catch (error) {
          throw new FileStoreError('missing', error);
        }
      },
    };
  }

  /** A file of two chunks, in the store and in the database. Resolves to its blobs. */
  async add(client: pg.ClientBase, key: string, bytes = 1_000): Promise<readonly string[]> {
    const origin = { storedUnder: uuidOf('owner'), uploadUuid: uuidOf(key) };
    const chunks = [1, 2].map((number) => ({ number, bytes, nonce: randomBytes(8).toString('hex') }));
    const names = chunks.map((chunk) => blobName(origin, chunk));
    for (const name of names) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), randomBytes(bytes));
    }
    const layout = chunks.reduce(withChunk, new Uint8Array());
    await client.query(
      `INSERT INTO file (owner_uuid, remote_identifier, ${file.order}, upload_uuid, hop, stored_under, bytes, layout, closed_at)
       VALUES ($1, $2, $3, $4, 0, $5, $6, $7, 0)`,
      [
        origin.storedUnder,
        uuidOf(`remote ${key}`),
        Math.floor(Math.random() * 1e9),
        origin.uploadUuid,
        origin.storedUnder,
        2 * bytes,
        Buffer.from(layout),
      ],
    );
    return names;
  }

  async remove(client: pg.ClientBase, key: string, names: readonly string[]): Promise<void> {
    await client.query('DELETE FROM file WHERE upload_uuid = $1', [uuidOf(key)]);
    for (const name of names) rmSync(join(this.folder, name));
  }
}

export interface Made {
  readonly connection: DatabaseConnection;
  readonly files: Files;
  readonly target: BackupTarget;
  readonly folder: string;
}

let clockMs = Date.UTC(2026, 0, 1);

export async function backUpTo(
  { connection, files, target }: Pick<Made, 'connection' | 'files' | 'target'>,
  options: Partial<BackupOptions> & { readonly recipients?: readonly string[] } = {},
) {
  clockMs += 1_000;
  return backUp({
    connection,
    source: files.source,
    target,
    sealer: await sealerFor(options.recipients ?? []),
    keep: 3,
    release: 'test',
    nowMs: clockMs,
    random: randomBytes,
    onProgress: () => undefined,
    ...options,
  });
}

export async function restoreFrom(
  target: BackupTarget,
  connection: DatabaseConnection,
  folder: string,
  options: Partial<RestoreOptions> & { readonly identity?: string } = {},
): Promise<void> {
  const { whole } = await backupsIn(target);
  const store = await openLocalDisk({
    folder,
    reserveBytes: 0,
    nodeId: 'restore',
    isShared: false,
    clock: systemClock,
    random: systemRandom,
  });
  try {
    await restore({
      connection,
      target,
      opener: await openerWith(options.identity),
      manifest: options.manifest ?? (await readManifest(target, whole.at(-1) ?? '')),
      files: store,
      generation: 'after',
      onProgress: () => undefined,
      ...options,
    });
  } finally {
    await store.close();
  }
}

/** Rows and digest of each table, but for those that a restore changes on purpose. */
export const contentOf = (connection: DatabaseConnection): Promise<Readonly<Record<string, string>>> =>
  connected(connection, async (client) => {
    const found: Record<string, string> = {};
    for (const table of backupTables) {
      if (table.name === 'setting' || table.name === 'counter') continue;
      const digest = await tableDigestOf(client, table);
      found[table.name] = `${digest.rows} ${digest.hex}`;
    }
    return found;
  });

/** Every file below a folder with a hash of its bytes. */
export function treeOf(folder: string, below = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, below))) {
    const path = join(below, name);
    if (statSync(join(folder, path)).isDirectory()) Object.assign(found, treeOf(folder, path));
    else
      found[path] = createHash('sha256')
        .update(readFileSync(join(folder, path)))
        .digest('hex');
  }
  return found;
}

export async function make(t: ExecutionContext, server: TestPostgres): Promise<Made> {
  const folder = temporaryFolder(t);
  const files = new Files(join(folder, 'files'));
  mkdirSync(files.folder);
  return {
    connection: await filledDatabase(server),
    files,
    folder: join(folder, 'target'),
    target: await openFolderTarget(join(folder, 'target'), { create: true }),
  };
}
