/**
 * `scriptorium backup`: one state of the database with its files, while the server goes on.
 *
 *     1. lock      only one backup of a database runs at a time
 *     2. prune     makes room: the newest `keep - 1` stay, and what was never finished goes
 *     3. files     copies what the target lacks (`blobs.ts`)
 *     4. snapshot  copies the files that came meanwhile, then writes all rows
 *     5. manifest  makes it a backup
 *     6. prune     leaves `keep`
 *
 * A crash before 5 leaves no backup: the next run goes on with the files that were copied, and removes the rest. Every step
 * holds a bounded amount in memory: an object, a page of rows, and the names of a sixteenth of the blobs.
 */
import type pg from 'pg';
import { type BlobSource, copyPart, stillNamed, writePart, written } from './blobs.ts';
import {
  assertOwnSchema,
  connectTo,
  inSnapshot,
  isHalfRestored,
  migrationsOf,
  settingOf,
  takeBackupLock,
} from './database.ts';
import { BackupError } from './error.ts';
import {
  type BackedUpBlob,
  backupId,
  digits,
  folderOf,
  type Manifest,
  manifestBytes,
  manifestOf,
  textOfLines,
  zip,
} from './format.ts';
import { pruneBackups } from './prune.ts';
import { type BackupRow, lineOf, pagesOf, TableDigest, typesOf } from './rows.ts';
import type { Sealer } from './sealing.ts';
import { type BackupTable, backupTables } from './tables.ts';
import type { BackupTarget } from './target.ts';

/** Bytes of the rows of one object before it is zipped. The row that reaches this number is its last one. */
const rowsBytes = 8 * 1_048_576;
/** How many snapshots are tried while files go away. The last one is kept, without the files that have gone meanwhile. */
const snapshotsMax = 5;

export interface BackupOptions {
  readonly connection: pg.ClientConfig;
  readonly source: BlobSource;
  readonly target: BackupTarget;
  readonly sealer: Sealer;
  readonly keep: number;
  readonly release: string;
  readonly nowMs: number;
  readonly random: (bytes: number) => Buffer;
  readonly onProgress: (text: string) => void;
}

export interface BackedUp {
  readonly manifest: Manifest;
  /** Files that were written now. The others were there from earlier backups. */
  readonly copiedBlobs: number;
  readonly copiedBytes: number;
}

/** @throws BackupError */
export async function backUp(options: BackupOptions): Promise<BackedUp> {
  const clients: pg.Client[] = [];
  const connected = async () => {
    const client = await connectTo(options.connection);
    clients.push(client);
    return client;
  };
  try {
    const locked = await connected();
    const assertLocked = await takeBackupLock(locked);
    assertWhole(await migrationsOf(locked));
    const backup = new Backup(options, assertLocked, await connected(), await connected());
    return await backup.run();
  } finally {
    for (const client of clients) await client.end().catch(() => undefined);
  }
}

/** @throws BackupError */
function assertWhole(recorded: readonly string[]): void {
  assertOwnSchema(recorded);
  if (!isHalfRestored(recorded)) return;
  throw BackupError.refused(
    'A restore into this database has not ended: run `scriptorium restore` again first.',
  );
}

const idBytes = 4;

class Backup {
  readonly #options: BackupOptions;
  /** Call before anything that would harm another backup. */
  readonly #assertLocked: () => Promise<void>;
  readonly #id: string;
  /** Sees the snapshot. */
  readonly #client: pg.Client;
  /** Sees what is true now. */
  readonly #live: pg.Client;
  #copiedBlobs = 0;
  #copiedBytes = 0;

  constructor(options: BackupOptions, assertLocked: () => Promise<void>, client: pg.Client, live: pg.Client) {
    this.#options = options;
    this.#assertLocked = assertLocked;
    this.#client = client;
    this.#live = live;
    this.#id = backupId(options.nowMs, options.random(idBytes));
  }

  async run(): Promise<BackedUp> {
    const { target, keep, onProgress } = this.#options;
    onProgress('Making room …');
    await pruneBackups(target, Math.max(1, keep - 1), { unnamed: 'stay' });
    onProgress('Files …');
    for (const digit of digits) {
      await this.#assertLocked();
      await copyPart(this.#copying(this.#live), digit);
    }
    const manifest = await this.#snapshot(snapshotsMax);
    await this.#assertLocked();
    await target.put(manifestOf(this.#id), manifestBytes(manifest));
    await pruneBackups(target, keep, { unnamed: 'go' });
    return { manifest, copiedBlobs: this.#copiedBlobs, copiedBytes: this.#copiedBytes };
  }

  async #snapshot(attemptsLeft: number): Promise<Manifest> {
    const manifest = await inSnapshot(this.#client, async () => {
      // An upgrade may have come while the files were copied.
      const recorded = await migrationsOf(this.#client);
      assertWhole(recorded);
      const blobs = await this.#blobs();
      if (attemptsLeft > 1 && blobs.vanished > 0) return undefined;
      return this.#rows(blobs.part, recorded);
    });
    return manifest ?? this.#snapshot(attemptsLeft - 1);
  }

  /** Comes before the rows, because a file that is deleted now stays in its store for a moment only. */
  async #blobs() {
    const { target, sealer } = this.#options;
    const part: Manifest['blobs'] = { count: 0, bytes: 0, parts: [], missing: [] };
    for (const digit of digits) {
      const { blobs, missing } = await copyPart(this.#copying(this.#client), digit);
      part.parts.push(await writePart({ target, sealer }, { id: this.#id, digit, blobs }));
      part.count += blobs.length;
      part.bytes += bytesOf(blobs);
      part.missing.push(...missing);
    }
    const damaged = await stillNamed(this.#live, new Set(part.missing));
    return { part, vanished: part.missing.length - damaged.length };
  }

  /** Writes the rows of all tables. Returns the manifest, which names them. */
  async #rows(blobs: Manifest['blobs'], recorded: readonly string[]): Promise<Manifest> {
    const { sealer, release, nowMs, onProgress } = this.#options;
    const tables: Manifest['tables'] = [];
    const rows: Manifest['rows'] = [];
    for (const table of backupTables) {
      onProgress(`Table ${table.name} …`);
      await this.#assertLocked();
      const digest = new TableDigest();
      for await (const lines of objectsOf(digest, pagesOf(this.#client, table))) {
        rows.push(await this.#writeRows(table, rows.length + 1, lines));
      }
      tables.push({ name: table.name, columns: typesOf(table), rows: digest.rows, digest: digest.hex });
    }
    return {
      format: 1,
      id: this.#id,
      takenAt: new Date(nowMs).toISOString(),
      release,
      sealer: sealer.id,
      secretKeyFingerprint: await settingOf(this.#client, 'secret-key-fingerprint'),
      migrations: [...recorded],
      tables,
      rows,
      blobs,
    };
  }

  async #writeRows(table: BackupTable, number: number, lines: readonly string[]) {
    const { target, sealer } = this.#options;
    const name = `${folderOf(this.#id)}rows-${String(number).padStart(5, '0')}`;
    const bytes = await sealer.seal(await zip(textOfLines(lines)));
    return { ...(await written(target, name, bytes)), table: table.name, rows: lines.length };
  }

  #copying(client: pg.Client) {
    const { source, target, sealer } = this.#options;
    const onCopied = (bytes: number) => {
      this.#copiedBlobs += 1;
      this.#copiedBytes += bytes;
    };
    return { client, source, target, sealer, onCopied };
  }
}

const bytesOf = (blobs: readonly BackedUpBlob[]): number => blobs.reduce((sum, { bytes }) => sum + bytes, 0);

/** The lines of each object. */
async function* objectsOf(
  digest: TableDigest,
  pages: AsyncIterable<readonly BackupRow[]>,
): AsyncGenerator<readonly string[]> {
  let lines: string[] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const row of page) {
      const line = lineOf(row);
      digest.add(line);
      lines.push(line);
      bytes += line.length;
    }
    if (bytes < rowsBytes) continue;
    yield lines;
    lines = [];
    bytes = 0;
  }
  if (lines.length > 0) yield lines;
}
