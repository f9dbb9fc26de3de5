/** `scriptorium migrate`: shows and applies the migrations that a database lacks. Nodes may be running. */
import type { Migration } from '../runtime/migration.ts';
import { needing } from './database.ts';
import { applyMigrations, lackingMigrations } from './schema.ts';
import { StartError } from './start-error.ts';

/** Changes nothing. @throws StartError */
export async function planMigration(databaseUrl: string | undefined): Promise<readonly Migration[]> {
  const connection = connectionOf(databaseUrl);
  return needing('The database cannot be queried', () => lackingMigrations(connection));
}

/** Resolves to the ids of the applied migrations, and calls `onApplied` for each. @throws StartError */
export async function migrateDatabase(
  databaseUrl: string | undefined,
  onApplied: (id: string) => void,
): Promise<readonly string[]> {
  const connection = connectionOf(databaseUrl);
  return needing('The schema could not be brought up to date; another try continues from there', () =>
    applyMigrations(connection, onApplied),
  );
}

function connectionOf(databaseUrl: string | undefined) {
  if (databaseUrl !== undefined) return { connectionString: databaseUrl };
  throw StartError.config(
    'DATABASE_URL is not set: a server with an embedded database brings it up to date at every start.',
  );
}
