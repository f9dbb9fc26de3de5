/**
 * Applies migrations in order, one process at a time.
 *
 * Protocol:
 * 1. The two bookkeeping tables are made if they are missing. Two processes may do so at once; the loser of that
 *    race finds them there and goes on.
 * 2. One connection holds the lock row until the end. A process that dies loses its connection and with it the lock.
 * 3. A second connection runs each statement that has no record, outside of a transaction (CockroachDB takes one
 *    schema change at a time), and records it.
 *
 * A crash between statement and record runs the statement again, which is why each says IF NOT EXISTS.
 */
import pg from 'pg';
import { StoreError } from '../store.ts';
import { toStoreError } from './errors.ts';
import type { Migration } from './schema.ts';

const lockWaitMs = 60_000;
const bookkeepingAttemptsMax = 5;

/** Brings the database up to `migrations`. Returns the ids it applied. Rejects with a StoreError. */
export async function migrate(
  connection: pg.ClientConfig,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  assertSound(migrations);
  const lock = await connect({ ...connection, lock_timeout: lockWaitMs });
  try {
    const worker = await connect(connection);
    try {
      await createBookkeeping(worker);
      await takeLock(lock);
      return await applyMissing(worker, migrations);
    } finally {
      await worker.end();
    }
  } catch (error) {
    throw toStoreError(error);
  } finally {
    // Closing the connection gives the lock row back, whatever became of the statements.
    await lock.end();
  }
}

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  // A connection that breaks fails its statement; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new StoreError('unavailable', 'cannot connect to the database', { cause: error });
  }
  return client;
}

function assertSound(migrations: readonly Migration[]): void {
  const ids = new Set(migrations.map((migration) => migration.id));
  if (ids.size !== migrations.length) throw new StoreError('defect', 'two migrations have the same id');
  const unsafe = migrations.find((migration) => !/ IF (NOT )?EXISTS /.test(migration.sql));
  if (unsafe !== undefined) throw new StoreError('defect', `migration ${unsafe.id} is not repeatable`);
}

async function createBookkeeping(client: pg.Client, attempt = 1): Promise<void> {
  try {
    await client.query(
      'CREATE TABLE IF NOT EXISTS migration (id text NOT NULL PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    await client.query('CREATE TABLE IF NOT EXISTS migration_lock (name text NOT NULL PRIMARY KEY)');
    await client.query(`INSERT INTO migration_lock (name) VALUES ('schema') ON CONFLICT (name) DO NOTHING`);
  } catch (error) {
    // Concurrent CREATE TABLE IF NOT EXISTS can collide in the catalogue; the next attempt finds the table.
    if (attempt >= bookkeepingAttemptsMax) throw error;
    await createBookkeeping(client, attempt + 1);
  }
}

async function takeLock(client: pg.Client): Promise<void> {
  await client.query('BEGIN');
  await client.query(`SELECT name FROM migration_lock WHERE name = 'schema' FOR UPDATE`);
}

async function applyMissing(client: pg.Client, migrations: readonly Migration[]): Promise<readonly string[]> {
  const known = await client.query<{ id: string }>('SELECT id FROM migration');
  const applied = new Set(known.rows.map((row) => row.id));
  const missing = migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of missing) {
    await client.query(migration.sql);
    await client.query('INSERT INTO migration (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [migration.id]);
  }
  return missing.map((migration) => migration.id);
}
