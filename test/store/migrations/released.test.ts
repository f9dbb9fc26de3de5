/**
 * Every released state of a database, with data in it, becomes the newest one and has lost nothing. A file of
 * `released/` is such a state; a release whose schema is another than the last one's adds one: the statements of the
 * file before, its new migrations with their records, and rows for what is new.
 */
import { readdirSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type Account, signIn, sync } from '../../../benchmarks/support/api-client.ts';
import { migrations } from '../../../process/schema.ts';
import { migrate, pendingMigrations } from '../../../runtime/store/postgres/migrate.ts';
import {
  type DatabaseConnection,
  databaseUrl,
  startTestPostgres,
  type TestPostgres,
} from '../../kit/postgres.ts';
import { startServer } from '../../kit/started-server.ts';
import { catalogueOf } from './catalogue.ts';

/** How many of each sequence a release had. */
const countsOf: Readonly<Record<string, { readonly runtime: number; readonly domain: number }>> = {
  '0.1.0': { runtime: 14, domain: 7 },
};
const releases = readdirSync(new URL('released', import.meta.url)).map((file) => file.replace('.sql', ''));

/** The settings and the account of the server that wrote the data. */
const settings = { SECRET_KEY: '01'.repeat(32), SHARD_COUNT: '4', E2E_TESTING: 'true' };
const account: Account = {
  email: 'ada@example.org',
  password: 'a password of 0.1.0',
  userUuid: 'f967d8d7-efe0-4e79-b1e6-c894f2488462',
  accessToken: '',
};

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

async function databaseOf(t: ExecutionContext, release: string) {
  const connection = await server.createDatabase();
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(() => client.end());
  await client.query(readFileSync(new URL(`released/${release}.sql`, import.meta.url), 'utf8'));
  return { connection, client };
}

/** The rows of each table by its columns, as texts. */
type Content = ReadonlyMap<string, { readonly columns: readonly string[]; readonly rows: readonly string[] }>;

async function contentOf(client: pg.Client, connection: DatabaseConnection): Promise<Content> {
  const content = new Map();
  for (const [table, { columns }] of Object.entries(await catalogueOf(connection)))
    content.set(table, await rowsOf(client, table, Object.keys(columns)));
  return content;
}

async function rowsOf(client: pg.Client, table: string, columns: readonly string[]) {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const { rows } = await client.query(`SELECT ROW(${names})::text AS row FROM "${table}" ORDER BY 1`);
  return { columns, rows: rows.map(({ row }) => row) };
}

/** Whatever a release after `release` brought. */
function newerThan(release: string): readonly string[] {
  return migrations
    .map(({ id }) => id)
    .filter((id) => {
      const [sequence = '', number] = id.split('-');
      return Number(number) > (countsOf[release]?.[sequence as 'runtime' | 'domain'] ?? 0);
    });
}

for (const release of releases) {
  test(`a database of ${release} gets what is newer and nothing again, and keeps its data`, async (t) => {
    const { connection, client } = await databaseOf(t, release);
    const before = await contentOf(client, connection);
    t.true([...before.values()].every(({ rows }) => rows.length > 0));
    const newer = newerThan(release);
    t.deepEqual(
      (await pendingMigrations(connection, migrations)).map(({ id }) => id),
      newer,
    );
    t.deepEqual(await migrate(connection, migrations), newer);
    for (const [table, { columns, rows }] of before) {
      const after = new Set((await rowsOf(client, table, columns)).rows);
      t.deepEqual(
        rows.filter((row) => !after.has(row)),
        [],
        table,
      );
    }
  });

  test(`a database of ${release} ends with the schema of a new one`, async (t) => {
    const { connection } = await databaseOf(t, release);
    await migrate(connection, migrations);
    const fresh = await server.createDatabase();
    await migrate(fresh, migrations);
    t.deepEqual(await catalogueOf(connection), await catalogueOf(fresh));
  });

  test(`a server on a database of ${release} signs its users in and gives them their notes`, async (t) => {
    const { connection } = await databaseOf(t, release);
    const running = await startServer({ ...settings, DATABASE_URL: databaseUrl(connection) });
    t.teardown(() => running.stop());
    const items = await notesOf(running.url);
    t.deepEqual(items.get('00000000-0000-4000-8000-000000000001'), 'a note');
    t.false(items.has('00000000-0000-4000-8000-000000000002'));
    t.true(items.get('00000000-0000-4000-8000-000000000003') === 'large '.repeat(100_000));
    t.deepEqual(items.get('00000000-0000-4000-8000-000000000004'), 'keys');
    t.deepEqual(running.failures, []);
  });
}

async function notesOf(url: string): Promise<ReadonlyMap<string, string | null>> {
  const signedIn = await signIn(url, account);
  const { retrieved_items: items } = await sync(url, signedIn, { items: [] });
  return new Map(
    (items as readonly { uuid: string; content: string | null }[]).map(({ uuid, content }) => [
      uuid,
      content,
    ]),
  );
}
