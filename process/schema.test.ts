import test from 'ava';
import pg from 'pg';
import { type Logger, silentLogger } from '../runtime/ports.ts';
import { startTestPostgres, type TestPostgres } from '../test/kit/postgres.ts';
import { applyMigrations, ensureSchema, lackingMigrations, migrations } from './schema.ts';
import { StartError, serverExitCodes } from './start-error.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const ids = migrations.map(({ id }) => id);
const manual = { migrateAtStart: false, logger: silentLogger };

test('a start brings the database up to date, and says so when there was something to do', async (t) => {
  const connection = await server.createDatabase();
  const said: unknown[] = [];
  const logger: Logger = { ...silentLogger, info: (...words: unknown[]) => void said.push(words[0]) };
  const policy = { migrateAtStart: true, logger };
  await ensureSchema(connection, policy);
  t.deepEqual(said, [{ migrations: ids.length }]);
  t.deepEqual(await lackingMigrations(connection), []);
  await ensureSchema(connection, policy);
  t.is(said.length, 1);
});

test('without MIGRATE_AT_START a database that is behind is refused and left as it is', async (t) => {
  const connection = await server.createDatabase();
  const error = await t.throwsAsync(ensureSchema(connection, manual), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.config);
  t.regex(error.message, new RegExp(`\\(${ids.length} to apply\\).*\`scriptorium migrate apply\``));
  t.deepEqual(await lackingMigrations(connection), migrations);
  t.deepEqual(await applyMigrations(connection), ids);
  await t.notThrowsAsync(ensureSchema(connection, manual));
});

test('a database of a newer release is refused, with MIGRATE_AT_START or without', async (t) => {
  const connection = await server.createDatabase();
  await applyMigrations(connection);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query("INSERT INTO migration (id) VALUES ('domain-9999-drop-to-come')");
  await client.end();
  for (const refused of [
    ensureSchema(connection, manual),
    ensureSchema(connection, { ...manual, migrateAtStart: true }),
    lackingMigrations(connection),
    applyMigrations(connection),
  ]) {
    const error = await t.throwsAsync(refused, { instanceOf: StartError });
    t.is(error.exitCode, serverExitCodes.config);
    t.regex(error.message, /newer release \(it has domain-9999-drop-to-come\)/);
  }
});
