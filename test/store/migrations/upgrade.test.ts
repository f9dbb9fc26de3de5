/**
 * Upgrades a database while a server writes to it. Nothing is released so far, so the upgrade here is made up: it
 * adds to this schema what a release may add. From the first release on, the test also upgrades the schema of the
 * last one to this one.
 */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import pg from 'pg';
import { caughtUp, newItem, register, sync } from '../../../benchmarks/support/api-client.ts';
import { migrations } from '../../../process/schema.ts';
import type { Migration } from '../../../runtime/migration.ts';
import { migrate } from '../../../runtime/store/postgres/migrate.ts';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import { startServer } from '../../kit/started-server.ts';
import { catalogueOf } from './catalogue.ts';
import { releasedLine, releasedLines } from './released.ts';

/** One of each change that a release may bring, to tables that every save writes. */
const nextRelease: readonly Migration[] = [
  { id: 'domain-9001-color', sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS color text' },
  {
    id: 'domain-9002-weight',
    sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS weight int8 NOT NULL DEFAULT 0',
  },
  {
    id: 'domain-9003-by-weight',
    sql: 'CREATE INDEX IF NOT EXISTS item_by_weight ON item (collection, weight)',
  },
  { id: 'domain-9004-tag', sql: 'CREATE TABLE IF NOT EXISTS tag (owner uuid NOT NULL PRIMARY KEY)' },
];

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

test('a server goes on saving while the schema of the next release is applied, and nothing it saved is lost', async (t) => {
  const connection = await server.createDatabase();
  const running = await startServer({ DATABASE_URL: databaseUrl(connection) });
  t.teardown(() => running.stop());
  const account = await register(running.url);
  const saved: string[] = [];
  let isUpgraded = false;
  const save = async () => {
    const item = newItem(randomUUID());
    const reply = await sync(running.url, account, { items: [item] });
    t.is(reply.saved_items.length, 1);
    saved.push(item.uuid);
  };
  const saving = (async () => {
    while (!isUpgraded) await save();
  })();
  for (const at of nextRelease.keys()) {
    const before = saved.length;
    await migrate(connection, [...migrations, ...nextRelease.slice(0, at + 1)]);
    while (saved.length === before) await save();
  }
  isUpgraded = true;
  await saving;
  await save();
  t.truthy(await caughtUp(running.url, account));
  t.deepEqual((await itemsIn(connection)).toSorted(), saved.toSorted());
  t.deepEqual(running.failures, []);
  const fresh = await server.createDatabase();
  await migrate(fresh, [...migrations, ...nextRelease]);
  t.deepEqual(await catalogueOf(connection), await catalogueOf(fresh));
});

test('the schema of the last release becomes the schema of this one', async (t) => {
  const released = migrations.filter((migration) => releasedLines.includes(releasedLine(migration)));
  const newer = migrations.filter((migration) => !released.includes(migration));
  const [upgraded, fresh] = [await server.createDatabase(), await server.createDatabase()];
  await migrate(upgraded, released);
  t.deepEqual(
    await migrate(upgraded, migrations),
    newer.map(({ id }) => id),
  );
  await migrate(fresh, migrations);
  t.deepEqual(await catalogueOf(upgraded), await catalogueOf(fresh));
});

async function itemsIn(connection: pg.ClientConfig): Promise<readonly string[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rows } = await client.query<{ uuid: string }>('SELECT uuid FROM item WHERE content IS NOT NULL');
    return rows.map(({ uuid }) => uuid);
  } finally {
    await client.end();
  }
}
