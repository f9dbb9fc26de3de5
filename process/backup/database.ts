/** What a backup asks of a database as a whole: a snapshot, a lock, whether it is empty, and the mark of a restore. */
import pg from 'pg';
import { isCockroach } from '../../runtime/store/postgres/cockroach.ts';
import { readCommitted } from '../../runtime/store/postgres/pool.ts';
import { ident } from '../../runtime/store/postgres/sql.ts';
import { isKnownMigration, restoringMark } from '../schema.ts';
import { BackupError } from './error.ts';

/** The bound of a statement, and of a pause in a transaction. A backup reads for hours, and waits for its target in between. */
const longestMs = 86_400_000;

/** @throws BackupError `unavailable` */
export async function connectTo(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    keepAlive: true,
    statement_timeout: longestMs,
    idle_in_transaction_session_timeout: longestMs,
  });
  // A connection that breaks fails its statement; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // Pages have to follow the index of the primary key, also in tables without statistics, where the planner might sort instead.
    if (!(await isCockroach(client))) await client.query('SET enable_seqscan = off; SET jit = off');
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw BackupError.unavailable(`The database cannot be used: ${(error as Error).message}.`, error);
  }
}

/** Makes CockroachDB read as of a past time. Such a read neither waits for writers nor delays them. */
export const pastOfCockroach = `SET TRANSACTION AS OF SYSTEM TIME '-1s'`;

/** Runs `work` on one state of the database, while others go on writing. */
export async function inSnapshot<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  if (await isCockroach(client)) {
    await client.query('BEGIN');
    await client.query(pastOfCockroach);
  } else {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }
  try {
    return await work();
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
  }
}

/** An arbitrary number, which nothing else in this database uses. */
const lockNumber = 7_221_963_418;

/** Only PostgreSQL has these locks. They need no right to write, so a backup can be taken from a replica. */
const tryLock = 'SELECT pg_try_advisory_lock($1) AS got';

export const lockOfCockroach = [
  readCommitted,
  `INSERT INTO migration_lock (name) VALUES ('backup') ON CONFLICT (name) DO NOTHING`,
  'BEGIN',
  `SELECT name FROM migration_lock WHERE name = 'backup' FOR UPDATE NOWAIT`,
];

/**
 * Only one backup of a database runs at a time. The lock goes with the connection. On CockroachDB, which has no such locks, a row
 * is locked instead. What this resolves to throws once another backup may have the lock. Call it often, as something on the way to
 * the database may end a connection that is idle for long.
 *
 * @throws BackupError `unavailable`
 */
export async function takeBackupLock(client: pg.Client): Promise<() => Promise<void>> {
  if (!(await gotLock(client))) {
    throw BackupError.unavailable('Another backup of this database is running. Wait until it has ended.');
  }
  return async () => {
    try {
      await client.query('SELECT 1');
    } catch (error) {
      throw BackupError.unavailable('The connection that holds the lock of the backup is lost.', error);
    }
  };
}

async function gotLock(client: pg.Client): Promise<boolean> {
  if (!(await isCockroach(client))) {
    const { rows } = await client.query<{ got: boolean }>(tryLock, [lockNumber]);
    return rows[0]?.got === true;
  }
  try {
    for (const text of lockOfCockroach) await client.query(text);
    return true;
  } catch {
    return false;
  }
}

/** The migrations that were applied. Empty for a new database. */
export async function migrationsOf(client: pg.ClientBase): Promise<readonly string[]> {
  const found = await ifThere(() => client.query<{ id: string }>('SELECT id FROM migration ORDER BY id'));
  return found?.rows.map(({ id }) => id) ?? [];
}

const isRestoringMark = (id: string): boolean => id.startsWith(restoringMark);

/**
 * This release does not know all tables of a newer one. A backup would lack them, and a restore would leave them as they are.
 * @throws BackupError
 */
export function assertOwnSchema(recorded: readonly string[]): void {
  if (recorded.every((id) => isKnownMigration(id) || isRestoringMark(id))) return;
  throw BackupError.refused(
    'A newer release has changed the schema of this database: use the command line of that one.',
  );
}

export const isHalfRestored = (recorded: readonly string[]): boolean => recorded.some(isRestoringMark);

const undefinedTable = '42P01';

/** Undefined if the table is not there. */
export async function ifThere<T>(query: () => Promise<T>): Promise<T | undefined> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === undefinedTable) return undefined;
    throw error;
  }
}

export async function settingOf(client: pg.ClientBase, name: string): Promise<string | null> {
  const { rows } = await client.query<{ value: string }>('SELECT value FROM setting WHERE name = $1', [name]);
  return rows[0]?.value ?? null;
}

/** The first table with a row, if there is any. */
export async function firstUsedTable(
  client: pg.ClientBase,
  tables: readonly { readonly name: string }[],
): Promise<string | undefined> {
  for (const { name } of tables) {
    const { rows } = await client.query(`SELECT 1 AS one FROM ${ident(name)} LIMIT 1`);
    if (rows.length > 0) return name;
  }
  return undefined;
}
