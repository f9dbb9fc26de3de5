/**
 * Applies migrations in order, one process at a time (`schema-lock.ts`).
 *
 * Each statement without a record runs outside of a transaction and is then recorded. A crash between the two runs it again, so
 * each says IF NOT EXISTS. If a database lacks nothing, one query finds that out and nothing changes.
 *
 * A database with a record unknown here belongs to a newer release, and does not change either. This release runs on it as long as
 * the unknown migrations only added. Its processes must be able to restart during an upgrade, and to come back after it.
 */
import pg from 'pg';
import type { Migration } from '../../migration.ts';
import { StoreError } from '../store.ts';
import { configureZone } from './cockroach.ts';
import { toStoreError } from './errors.ts';
import { connect, underSchemaLock } from './schema-lock.ts';

/** PostgreSQL's code for a missing table. */
const undefinedTable = '42P01';

/** Statements of this form can run again after a crash. */
const commonForm = / IF (NOT )?EXISTS /;
const zoneForm = /^ALTER TABLE \w+ CONFIGURE ZONE USING /;

/** Their ids tell older releases which migrations took something away that these may need. */
const additionId = /^[a-z]+-\d{4}-(?!drop-)/;

/** The database has migrations that this release does not know and cannot run on. */
export class NewerSchemaError extends StoreError {
  readonly unknownIds: readonly string[];
  constructor(unknownIds: readonly string[]) {
    super('defect', `the schema is of a newer release: ${unknownIds.join(', ')}`);
    this.unknownIds = unknownIds;
  }
}

/** The `migrations` that the database lacks, in order. Changes nothing. @throws StoreError */
export async function pendingMigrations(
  connection: pg.ClientConfig,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  assertSound(migrations);
  const client = await connect(connection);
  try {
    return await missingIn(client, migrations);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end();
  }
}

/** Brings the database up to `migrations`. Returns the ids that it applied. @throws StoreError */
export async function migrate(
  connection: pg.ClientConfig,
  migrations: readonly Migration[],
  onApplied: (id: string) => void = () => undefined,
): Promise<readonly string[]> {
  const pending = await pendingMigrations(connection, migrations);
  if (pending.length === 0) return [];
  return underSchemaLock(connection, async (worker, assertHeld) => {
    // Another process may have applied some meanwhile.
    const missing = await missingIn(worker, migrations);
    for (const { id, sql, only } of missing) {
      assertHeld();
      if (only === undefined) await worker.query(sql);
      else await configureZone(worker, sql);
      await worker.query('INSERT INTO migration (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [id]);
      onApplied(id);
    }
    return missing.map(({ id }) => id);
  });
}

function assertSound(migrations: readonly Migration[]): void {
  const ids = new Set(migrations.map((migration) => migration.id));
  if (ids.size !== migrations.length) throw new StoreError('defect', 'two migrations have the same id');
  const unsafe = migrations.find(({ only, sql }) => !(only === undefined ? commonForm : zoneForm).test(sql));
  if (unsafe !== undefined) throw new StoreError('defect', `migration ${unsafe.id} is not repeatable`);
  const misnamed = migrations.find(({ id, sql }) => additionId.test(id) && /\bDROP\b/.test(sql));
  if (misnamed !== undefined)
    throw new StoreError('defect', `migration ${misnamed.id} drops: its id has to say so`);
}

async function missingIn(client: pg.Client, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const recorded = new Set(await recordedIds(client));
  const known = new Set(migrations.map(({ id }) => id));
  const unknown = [...recorded].filter((id) => !known.has(id));
  const missing = migrations.filter(({ id }) => !recorded.has(id));
  // What a newer release changed contains all of this one. Anything else is another list.
  const isContained = missing.length === 0 && unknown.every((id) => additionId.test(id));
  if (unknown.length > 0 && !isContained) throw new NewerSchemaError(unknown);
  return missing;
}

/** Empty for a database to which nothing was ever applied. */
async function recordedIds(client: pg.Client): Promise<readonly string[]> {
  try {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM migration ORDER BY id');
    return rows.map(({ id }) => id);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === undefinedTable) return [];
    throw error;
  }
}
