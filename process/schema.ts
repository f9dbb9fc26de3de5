/** The schema of a server's database: its migrations, and what to do with a database that lacks some. */
import type pg from 'pg';
import { domainMigrations } from '../actors/migrations.ts';
import type { Migration } from '../runtime/migration.ts';
import type { Logger } from '../runtime/ports.ts';
import { migrate, NewerSchemaError, pendingMigrations } from '../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../runtime/store/postgres/migrations.ts';
import { StartError } from './start-error.ts';

export const migrations: readonly Migration[] = [...runtimeMigrations, ...domainMigrations];

const ids: ReadonlySet<string> = new Set(migrations.map(({ id }) => id));
export const isKnownMigration = (id: string): boolean => ids.has(id);

/**
 * A restore that has not ended has a record with this beginning among the migrations (`process/backup/restore.ts`). No release
 * knows it, so that none starts on that database.
 */
export const restoringMark = 'restoring-';

export interface SchemaPolicy {
  /** Without it, the server refuses a database that lacks a migration. */
  readonly migrateAtStart: boolean;
  readonly logger: Logger;
}

/** Ensures that the database has the schema of this release. @throws StartError | StoreError */
export async function ensureSchema(
  connection: pg.ClientConfig,
  { migrateAtStart, logger }: SchemaPolicy,
): Promise<void> {
  if (!migrateAtStart) return refuseBehind(connection);
  const applied = await applyMigrations(connection);
  if (applied.length > 0)
    logger.info({ migrations: applied.length }, 'the database schema was brought up to date');
}

async function refuseBehind(connection: pg.ClientConfig): Promise<void> {
  const lacking = await lackingMigrations(connection);
  if (lacking.length === 0) return;
  throw StartError.config(
    `The schema of this database is behind this release (${lacking.length} to apply), and MIGRATE_AT_START is false: run \`scriptorium migrate apply\` first.`,
  );
}

/** The migrations that the database lacks, in their order. @throws StartError | StoreError */
export function lackingMigrations(connection: pg.ClientConfig): Promise<readonly Migration[]> {
  return refusingNewer(() => pendingMigrations(connection, migrations));
}

/** Resolves to the ids of the applied migrations. @throws StartError | StoreError */
export function applyMigrations(
  connection: pg.ClientConfig,
  onApplied?: (id: string) => void,
): Promise<readonly string[]> {
  return refusingNewer(() => migrate(connection, migrations, onApplied));
}

async function refusingNewer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NewerSchemaError)) throw error;
    if (error.unknownIds.some((id) => id.startsWith(restoringMark))) {
      throw StartError.config(
        'A restore into this database has not ended: run `scriptorium restore` again, which begins anew.',
        error,
      );
    }
    throw StartError.config(
      `The schema of this database is from a newer release (it has ${error.unknownIds.join(', ')}): run that release or a later one.`,
      error,
    );
  }
}
