/**
 * The commands for operators whose database has lost commits (docs/operations.md, "When the database has lost
 * commits").
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import pg from 'pg';
import { migrate } from '../runtime/store/postgres/migrate.ts';
import { openPostgresStore } from '../runtime/store/postgres/store.ts';
import type { NodeRow } from '../runtime/store/store.ts';
import { startTestPostgres, type TestPostgres } from '../test/kit/postgres.ts';
import { SeededRandom } from '../test/kit/random.ts';
import { syncGeneration } from './database.ts';
import { migrations } from './schema.ts';

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

const node: NodeRow = {
  id: 'a',
  incarnation: 'a1',
  address: 'local',
  roles: 'all',
  version: '1',
  formats: '1',
};
const leaseMs = 60_000;
const unmarked = { has: async () => false, forget: async () => {} };
const script = readFileSync(new URL('../tools/lost-commits.sql', import.meta.url), 'utf8');

test('after the script every position belongs to another generation, and no epoch comes twice', async (t) => {
  const connection = await postgres.createDatabase();
  await migrate(connection, migrations);
  const store = await openPostgresStore({ connection });
  t.teardown(() => store.close());
  const generation = (seed: number) => syncGeneration(store, unmarked, new SeededRandom(seed));
  const first = await generation(1);
  await store.register(node, leaseMs);
  const before = await store.claim(node.id, node.incarnation, [1]);
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(() => client.end());
  await client.query(script);
  const second = await generation(2);
  t.not(second, first);
  t.is(await generation(3), second);
  t.regex(second, /^[\w-]{16}$/);
  const after = await store.claim(node.id, node.incarnation, [2]);
  t.true(after.epoch > before.epoch + 999_999);
  await client.query(script);
  t.not(await generation(4), second);
});
