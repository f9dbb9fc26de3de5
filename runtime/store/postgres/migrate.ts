/**
 * Applies migrations in order, one process at a time (`schema-lock.ts`).
 *
 * Each statement that has no record is run, outside of a transaction, and then recorded. A crash between the two runs
 * it again, which is why each says IF NOT EXISTS.
 */
import type pg from 'pg';
import { StoreError } from '../store.ts';
import type { Migration } from './schema.ts';
import { underSchemaLock } from './schema-lock.ts';

/** Brings the database up to `migrations`. Returns the ids it applied. Rejects with a StoreError. */
export async function migrate(
  connection: pg.ClientConfig,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  assertSound(migrations);
  return underSchemaLock(connection, (worker, assertHeld) => applyMissing(worker, migrations, assertHeld));
}

function assertSound(migrations: readonly Migration[]): void {
  const ids = new Set(migrations.map((migration) => migration.id));
  if (ids.size !== migrations.length) throw new StoreError('defect', 'two migrations have the same id');
  const unsafe = migrations.find((migration) => !/ IF (NOT )?EXISTS /.test(migration.sql));
  if (unsafe !== undefined) throw new StoreError('defect', `migration ${unsafe.id} is not repeatable`);
}

async function applyMissing(
  client: pg.Client,
  migrations: readonly Migration[],
  assertHeld: () => void,
): Promise<readonly string[]> {
  const known = await client.query<{ id: string }>('SELECT id FROM migration');
  const applied = new Set(known.rows.map((row) => row.id));
  const missing = migrations.filter((migration) => !applied.has(migration.id));
  for (const migration of missing) {
    assertHeld();
    await client.query(migration.sql);
    await client.query('INSERT INTO migration (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [migration.id]);
  }
  return missing.map((migration) => migration.id);
}
