/**
 * `scriptorium restore`: what a backup holds, into a database without rows and a store of files.
 *
 *     1. empty   what an earlier run has left goes, and then its mark
 *     2. schema  the migrations of the backup are applied; the next start of a server applies later ones
 *     3. mark    from here on no server starts on this database (`process/schema.ts`)
 *     4. files   each blob is checked and written, unless the store has it as it was
 *     5. rows    each object is checked and written
 *     6. check   the database is read back and compared with the manifest
 *     7. ready   positions of devices become invalid, epochs grow, and the mark goes, in one transaction
 *
 * A crash at any step leaves the mark, or a database without rows. The next run starts over, and finds the files that are there.
 */
import type pg from 'pg';
import type { FileStore } from '../../actors/files/store.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { ident } from '../../runtime/store/postgres/sql.ts';
import { isKnownMigration, migrations, restoringMark } from '../schema.ts';
import {
  assertOwnSchema,
  connectTo,
  firstUsedTable,
  ifThere,
  isHalfRestored,
  migrationsOf,
} from './database.ts';
import { BackupError } from './error.ts';
import { type BackedUpBlob, blobIn, hashesIn, linesOf, type Manifest, sha256 } from './format.ts';
import { type BackupRow, insertRows, tableDigestOf } from './rows.ts';
import type { Opener } from './sealing.ts';
import { type BackupTable, backupTables } from './tables.ts';
import type { BackupTarget } from './target.ts';

export interface RestoreOptions {
  readonly connection: pg.ClientConfig;
  readonly target: BackupTarget;
  readonly opener: Opener;
  readonly manifest: Manifest;
  /** If absent, no files are restored. */
  readonly files: FileStore | undefined;
  /**
   * A new generation for the positions in sync tokens. Without one, old tokens stay valid, which is right only if nothing was
   * saved after the backup.
   */
  readonly generation: string | undefined;
  readonly onProgress: (text: string) => void;
}

/** Added to all counters, so that new epochs exceed those that a former process may still send (tools/lost-commits.sql). */
const epochGap = 1_000_000;
/** Rows and bytes of one statement. */
const insertedRows = 1_000;
const insertedBytes = 4 * 1_048_576;

/** @throws BackupError */
export async function restore(options: RestoreOptions): Promise<void> {
  const { connection, manifest, onProgress } = options;
  assertKnown(manifest);
  // A wrong identity is noticed before anything is written.
  for (const { list } of manifest.blobs.parts.slice(0, 1))
    await linesOf(options.target, list, keyOf(options));
  const client = await connectTo(connection);
  try {
    onProgress('Schema …');
    await prepare(client, options);
    if (options.files !== undefined) {
      onProgress('Files …');
      await restoreFiles(options, options.files);
    }
    await restoreRows(client, options);
    onProgress('Comparing …');
    await compare(client, manifest);
    await finish(client, options);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const keyOf = ({ manifest, opener }: Pick<RestoreOptions, 'manifest' | 'opener'>) => ({
  sealer: manifest.sealer,
  opener,
});

/** Refuses a backup of a newer release, which this one cannot restore as it was. @throws BackupError */
function assertKnown({ id, migrations: recorded, tables }: Manifest): void {
  const isNewer = !recorded.every(isKnownMigration) || tables.some(({ name }) => tableOf(name) === undefined);
  if (isNewer)
    throw BackupError.refused(`${id} is of a newer release: restore it with that one or a later one.`);
}

const tableOf = (name: string): BackupTable | undefined => backupTables.find((table) => table.name === name);

async function prepare(client: pg.Client, { connection, manifest }: RestoreOptions): Promise<void> {
  const before = await migrationsOf(client);
  assertOwnSchema(before);
  // The mark of an earlier run stays until its rows are gone.
  if (isHalfRestored(before)) await empty(client);
  await unmark(client);
  const required = new Set([...manifest.migrations, ...before]);
  await migrate(
    connection,
    migrations.filter(({ id }) => required.has(id)),
  );
  await client.query('INSERT INTO migration (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [
    `${restoringMark}${manifest.id}`,
  ]);
  const used = await firstUsedTable(client, manifest.tables);
  if (used === undefined) return;
  await unmark(client);
  throw BackupError.refused(
    `The database is not empty: ${used} has rows. Restore into a new database, or remove this one first.`,
  );
}

async function empty(client: pg.Client): Promise<void> {
  for (const { name } of backupTables) await ifThere(() => client.query(`TRUNCATE TABLE ${ident(name)}`));
}

const unmark = (client: pg.Client): Promise<unknown> =>
  ifThere(() => client.query('DELETE FROM migration WHERE id LIKE $1', [`${restoringMark}%`]));

async function restoreRows(client: pg.Client, options: RestoreOptions) {
  const { target, manifest, onProgress } = options;
  let reportedTable = '';
  for (const object of manifest.rows) {
    const table = tableOf(object.table);
    const columns = Object.keys(manifest.tables.find(({ name }) => name === object.table)?.columns ?? {});
    if (table === undefined || columns.length === 0) throw unlikeManifest(object.name);
    if (reportedTable !== table.name) onProgress(`Table ${table.name} …`);
    reportedTable = table.name;
    const lines = await linesOf(target, object, keyOf(options));
    if (lines.length !== object.rows) throw unlikeManifest(object.name);
    for (const group of groupsOf(lines)) {
      const rows = group.map((line) => JSON.parse(line) as BackupRow);
      await insertRows(client, table, columns, rows);
    }
  }
}

const unlikeManifest = (name: string): BackupError =>
  BackupError.damaged(`${name} is not what the manifest says.`);

function* groupsOf(lines: readonly string[]): Generator<readonly string[]> {
  let group: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    group.push(line);
    bytes += line.length;
    if (group.length < insertedRows && bytes < insertedBytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

async function restoreFiles(options: RestoreOptions, files: FileStore): Promise<void> {
  const { target, manifest } = options;
  for (const { list } of manifest.blobs.parts) {
    for (const line of await linesOf(target, list, keyOf(options))) {
      const blob = blobIn(line);
      const content = await readVerified(options, blob);
      if (!(await isThere(files, blob, sha256(content)))) await writeBlob(files, blob, content);
    }
  }
}

/** The bytes of a blob, checked. @throws BackupError */
export async function readVerified(
  { target, opener, manifest }: Pick<RestoreOptions, 'target' | 'opener' | 'manifest'>,
  { name, bytes, object }: BackedUpBlob,
): Promise<Buffer> {
  const stored = await target.get(object);
  const hashes = hashesIn(object);
  if (hashes?.stored !== sha256(stored) || hashes.name !== sha256(name)) {
    throw BackupError.damaged(`${object} is not what the backup has written: its hash differs.`);
  }
  const content = await opener.open(manifest.sealer, stored);
  if (content.byteLength !== bytes) throw unlikeManifest(object);
  return content;
}

async function isThere(files: FileStore, { name, bytes }: BackedUpBlob, expected: string): Promise<boolean> {
  const [found] = await files.list({ prefix: uploadOf(name), limit: 1 });
  if (found === undefined) return false;
  try {
    const pieces: Uint8Array[] = [];
    for await (const piece of files.read(name, { start: 0, end: bytes }, never()))
      pieces.push(Buffer.from(piece));
    return sha256(Buffer.concat(pieces)) === expected;
  } catch {
    return false;
  }
}

/** `<owner>/<upload>/`, by which the store lists. */
const uploadOf = (name: string): string => name.slice(0, name.lastIndexOf('/') + 1);

async function writeBlob(files: FileStore, { name, bytes }: BackedUpBlob, content: Buffer): Promise<void> {
  try {
    await files.write(name, once(content), {
      owner: name.slice(0, name.indexOf('/')),
      bytes,
      signal: never(),
    });
    await files.persist([{ name, bytes }]);
  } catch (error) {
    const { message } = error as Error;
    throw BackupError.unavailable(`A file cannot be written: ${message}. See FILES_STORE.`, error);
  }
}

async function* once(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}

const never = (): AbortSignal => new AbortController().signal;

/** @throws BackupError unless the database holds exactly what the manifest says */
async function compare(client: pg.Client, { tables }: Manifest): Promise<void> {
  for (const { name, columns, rows, digest } of tables) {
    const table = tableOf(name);
    if (table === undefined) throw unlikeManifest(name);
    const inOrderOfBackup = Object.fromEntries(
      Object.keys(columns).map((column) => [column, table.columns[column] ?? 'text']),
    );
    const found = await tableDigestOf(client, { ...table, columns: inOrderOfBackup });
    if (found.rows === rows && found.hex === digest) continue;
    throw BackupError.damaged(
      `The table ${name} has ${found.rows} rows after the restore, and not the ${rows} of the backup as they were. Start again with an empty database.`,
    );
  }
}

async function finish(client: pg.Client, { generation }: RestoreOptions): Promise<void> {
  await client.query('BEGIN');
  if (generation !== undefined) {
    await client.query(`UPDATE setting SET value = $1 WHERE name = 'generation'`, [generation]);
    await client.query('UPDATE counter SET value = value + $1::int8', [epochGap]);
  }
  await client.query('DELETE FROM migration WHERE id LIKE $1', [`${restoringMark}%`]);
  await client.query('COMMIT');
}
