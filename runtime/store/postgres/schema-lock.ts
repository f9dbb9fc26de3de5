/**
 * The lock for changes that everything else relies on: the schema and the number of shards. One process at a time has it.
 *
 * One connection holds the lock row until the end. A process that dies loses its connection and with it the lock. A second
 * connection does the work, one statement at a time, because CockroachDB takes one schema change at a time. So nothing but the
 * lock row is locked for long. The two tables for this are created if they are missing. If two processes do so at once, the
 * loser finds them there and goes on.
 */
import pg from 'pg';
import { StoreError } from '../store.ts';
import { toStoreError } from './errors.ts';
import { readCommitted } from './pool.ts';

const lockWaitMs = 60_000;
const bookkeepingAttemptsMax = 5;

/** Runs `work` under the lock. `assertHeld` throws once another process may have the lock. @throws StoreError */
export async function underSchemaLock<T>(
  connection: pg.ClientConfig,
  work: (worker: pg.Client, assertHeld: () => void) => Promise<T>,
): Promise<T> {
  const lock = await connect({ ...connection, lock_timeout: lockWaitMs });
  let isHeld = true;
  lock.once('end', () => {
    isHeld = false;
  });
  try {
    const worker = await connect(connection);
    try {
      await createBookkeeping(worker);
      await lock.query(readCommitted);
      await lock.query('BEGIN');
      await lock.query(`SELECT name FROM migration_lock WHERE name = 'schema' FOR UPDATE`);
      return await work(worker, () => {
        if (!isHeld) throw new StoreError('unavailable', 'the connection that holds the lock is lost');
      });
    } finally {
      await worker.end();
    }
  } catch (error) {
    throw toStoreError(error);
  } finally {
    // Closing the connection releases the lock row, no matter how the statements ended.
    await lock.end();
  }
}

export async function connect(config: pg.ClientConfig): Promise<pg.Client> {
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
