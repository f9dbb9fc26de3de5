import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedConnection,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../process/postgres/embedded.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { systemRandom } from '../../runtime/random.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../../runtime/store/postgres/migrations.ts';
import type { AnyTable } from '../../runtime/table.ts';
import { createTable } from '../../test/kit/create-table.ts';

/** The embedded server as `npm start` runs it (fsync on), with the runtime's tables and these, in a scratch folder. */
export async function withDatabase(
  tables: readonly AnyTable[],
  use: (connection: EmbeddedConnection) => Promise<void>,
): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'scriptorium-load-'));
  const server = await startDatabase(dataDirectory, tables);
  try {
    await use(server.connection);
  } finally {
    await server.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

/** The same in this folder, with its password in a file as the server keeps it. */
export async function startDatabase(
  dataDirectory: string,
  tables: readonly AnyTable[],
): Promise<EmbeddedPostgres> {
  const password = systemRandom.bytes(24).toString('base64url');
  await writeFile(join(dataDirectory, 'postgres-password'), password);
  const server = await startEmbeddedPostgres({
    dataDirectory,
    password,
    clock: systemClock,
    logger: silentLogger,
  });
  await migrate(server.connection, [...runtimeMigrations, ...tables.flatMap(createTable)]);
  return server;
}
