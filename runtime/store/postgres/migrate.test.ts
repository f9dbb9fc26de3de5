import test from 'ava';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/kit/postgres.ts';
import { PostgresProxy } from '../../../test/kit/postgres-proxy.ts';
import { assertFails } from '../../../test/store/actors.ts';
import { contractTables } from '../../../test/store/tables.ts';
import { StoreError } from '../store.ts';
import { migrate } from './migrate.ts';
import { createTable, runtimeMigrations } from './schema.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const migrations = [...runtimeMigrations, ...contractTables.flatMap((table) => createTable(table))];
const allIds = migrations.map(({ id }) => id);

test('migrations are applied in order, recorded, and not applied again', async (t) => {
  const connection = await server.createDatabase();
  t.deepEqual(
    await migrate(connection, runtimeMigrations),
    runtimeMigrations.map(({ id }) => id),
  );
  t.deepEqual(await migrate(connection, migrations), allIds.slice(runtimeMigrations.length));
  t.deepEqual(await migrate(connection, migrations), []);
});

test('what crashed between a statement and its record is resumed', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`DELETE FROM migration WHERE id LIKE 'note-%' OR id = 'runtime-0004-actor'`);
  await client.end();
  const forgotten = allIds.filter((id) => id.startsWith('note-') || id === 'runtime-0004-actor');
  t.deepEqual(await migrate(connection, migrations), forgotten);
});

test('a migration that fails leaves those before it applied and is tried again', async (t) => {
  const connection = await server.createDatabase();
  const broken = { id: 'note-0002-broken', sql: 'CREATE INDEX IF NOT EXISTS broken ON note (nothing)' };
  await assertFails(migrate(connection, [...migrations, broken]), 'defect');
  const mended = { id: 'note-0002-broken', sql: 'CREATE INDEX IF NOT EXISTS mended ON note (size)' };
  t.deepEqual(await migrate(connection, [...migrations, mended]), [mended.id]);
});

test('of processes that migrate at once, each migration is applied by one', async (t) => {
  const connection = await server.createDatabase();
  const applied = await Promise.all([1, 2, 3].map(() => migrate(connection, migrations)));
  t.deepEqual(applied.flat().sort(), [...allIds].sort());
});

test('what is struck at any statement is finished by migrating again', async (t) => {
  const some = runtimeMigrations.slice(0, 1);
  const connection = await server.createDatabase();
  const proxy = await PostgresProxy.start(connection);
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(async () => {
    await client.end();
    await proxy.stop();
  });
  const texts: string[] = [];
  proxy.onStatement = ({ text }) => void texts.push(text);
  await migrate(proxy.connection, some);
  t.true(texts.length >= 9);
  for (const at of texts.keys()) {
    for (const fault of [
      { effect: 'error', code: '40001', isApplied: false },
      { effect: 'error', code: '40003', isApplied: true },
      { effect: 'reset', isApplied: false },
      { effect: 'reset', isApplied: true },
    ] as const) {
      await client.query('DROP TABLE node, migration, migration_lock');
      let statements = 0;
      proxy.onStatement = () => (statements++ === at ? fault : undefined);
      const first = await migrate(proxy.connection, some).catch((error: unknown) => error);
      t.true(first instanceof StoreError || Array.isArray(first), String(first));
      await migrate(proxy.connection, some);
      t.deepEqual(await migrate(proxy.connection, some), [], `${fault.effect} at ${texts[at]}`);
    }
  }
});

test('a list that could not be resumed is refused before anything runs', async (t) => {
  const connection = await server.createDatabase();
  const once = { id: 'x-0001', sql: 'CREATE TABLE x (id text)' };
  await assertFails(migrate(connection, [once]), 'defect');
  await assertFails(migrate(connection, [...migrations, ...migrations]), 'defect');
  t.deepEqual(await migrate(connection, []), []);
});

test('a database that cannot be reached is unavailable', async (t) => {
  const connection = await server.createDatabase();
  await assertFails(migrate({ ...connection, database: 'missing' }, migrations), 'unavailable');
  t.pass();
});
