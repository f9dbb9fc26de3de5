import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { createTable } from '../../../test/kit/create-table.ts';
import { startTestPostgres, type TestPostgres } from '../../../test/kit/postgres.ts';
import { PostgresProxy } from '../../../test/kit/postgres-proxy.ts';
import { assertFails } from '../../../test/store/actors.ts';
import { contractTables } from '../../../test/store/tables.ts';
import { StoreError } from '../store.ts';
import { migrate, NewerSchemaError, pendingMigrations } from './migrate.ts';
import { runtimeMigrations } from './migrations.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const migrations = [...runtimeMigrations, ...contractTables.flatMap((table) => createTable(table))];
const allIds = migrations.map(({ id }) => id);

async function connected(t: ExecutionContext, connection: pg.ClientConfig): Promise<pg.Client> {
  const made = new pg.Client(connection);
  await made.connect();
  t.teardown(() => made.end());
  return made;
}

test('migrations are applied in order, recorded, and not applied again', async (t) => {
  const connection = await server.createDatabase();
  t.deepEqual(
    await migrate(connection, runtimeMigrations),
    runtimeMigrations.map(({ id }) => id),
  );
  t.deepEqual(await migrate(connection, migrations), allIds.slice(runtimeMigrations.length));
  t.deepEqual(await migrate(connection, migrations), []);
});

test('a migration that crashed between a statement and its record is resumed', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  const client = await connected(t, connection);
  await client.query(`DELETE FROM migration WHERE id LIKE 'note-%' OR id = 'runtime-0005-actor'`);
  const forgotten = allIds.filter((id) => id.startsWith('note-') || id === 'runtime-0005-actor');
  t.deepEqual(await migrate(connection, migrations), forgotten);
});

test('a migration that fails leaves those before it applied and is tried again', async (t) => {
  const connection = await server.createDatabase();
  const broken = { id: 'note-0002-broken', sql: 'CREATE INDEX IF NOT EXISTS broken ON note (nothing)' };
  await assertFails(migrate(connection, [...migrations, broken]), 'defect');
  const mended = { id: 'note-0002-broken', sql: 'CREATE INDEX IF NOT EXISTS mended ON note (size)' };
  t.deepEqual(await migrate(connection, [...migrations, mended]), [mended.id]);
});

test('each migration is applied by one of the processes that migrate at once', async (t) => {
  const connection = await server.createDatabase();
  const applied = await Promise.all([1, 2, 3].map(() => migrate(connection, migrations)));
  t.deepEqual(applied.flat().sort(), [...allIds].sort());
});

test('a migration that fails at any statement is finished by migrating again', async (t) => {
  const some = runtimeMigrations.slice(0, 1);
  const connection = await server.createDatabase();
  const proxy = await PostgresProxy.start(connection);
  t.teardown(() => proxy.stop());
  const client = await connected(t, connection);
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

test('pending migrations are listed in order, and listing changes nothing', async (t) => {
  const connection = await server.createDatabase();
  t.deepEqual(await pendingMigrations(connection, migrations), migrations);
  const client = await connected(t, connection);
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  t.deepEqual(rows, []);
  await migrate(connection, migrations.slice(0, 3));
  t.deepEqual(await pendingMigrations(connection, migrations), migrations.slice(3));
  await migrate(connection, migrations);
  t.deepEqual(await pendingMigrations(connection, migrations), []);
});

test('a database that lacks nothing is asked once', async (t) => {
  const connection = await server.createDatabase();
  const proxy = await PostgresProxy.start(connection);
  t.teardown(() => proxy.stop());
  await migrate(connection, migrations);
  const texts: string[] = [];
  proxy.onStatement = ({ text }) => void texts.push(text);
  t.deepEqual(await migrate(proxy.connection, migrations), []);
  t.deepEqual(texts, ['SELECT id FROM migration ORDER BY id']);
});

test('callers learn of each migration once it is applied', async (t) => {
  const connection = await server.createDatabase();
  const applied: string[] = [];
  await migrate(connection, migrations, (id) => applied.push(id));
  t.deepEqual(applied, allIds);
});

test('a database of a newer release is left as it is', async (t) => {
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  const older = [...migrations.slice(1, -1), { id: 'z-0001', sql: 'CREATE TABLE IF NOT EXISTS z (id text)' }];
  const unknownIds = [allIds[0], allIds.at(-1)].toSorted();
  for (const rejected of [pendingMigrations(connection, older), migrate(connection, older)]) {
    const error = await t.throwsAsync(rejected, { instanceOf: NewerSchemaError });
    t.deepEqual(error.unknownIds, unknownIds as string[]);
  }
  t.deepEqual(await migrate(connection, migrations), []);
});

test('a release runs on a schema to which a newer one only added, and not after it dropped something', async (t) => {
  const connection = await server.createDatabase();
  const adding = { id: 'note-0900-color', sql: 'ALTER TABLE note ADD COLUMN IF NOT EXISTS color text' };
  const dropping = { id: 'note-0901-drop-color', sql: 'ALTER TABLE note DROP COLUMN IF EXISTS color' };
  await migrate(connection, [...migrations, adding]);
  t.deepEqual(await pendingMigrations(connection, migrations), []);
  t.deepEqual(await migrate(connection, migrations), []);
  await migrate(connection, [...migrations, adding, dropping]);
  const error = await t.throwsAsync(migrate(connection, migrations), { instanceOf: NewerSchemaError });
  t.deepEqual(error.unknownIds, [adding.id, dropping.id]);
});

test('a list that could not be resumed is rejected before anything runs', async (t) => {
  const connection = await server.createDatabase();
  const once = { id: 'x-0001', sql: 'CREATE TABLE x (id text)' };
  await assertFails(migrate(connection, [once]), 'defect');
  await assertFails(migrate(connection, [...migrations, ...migrations]), 'defect');
  const misnamed = { id: 'note-0900-color', sql: 'ALTER TABLE note DROP COLUMN IF EXISTS color' };
  await assertFails(migrate(connection, [...migrations, misnamed]), 'defect');
  t.deepEqual(await migrate(connection, []), []);
});

test('a database that cannot be reached is unavailable', async (t) => {
  const connection = await server.createDatabase();
  await assertFails(migrate({ ...connection, database: 'missing' }, migrations), 'unavailable');
  t.pass();
});
