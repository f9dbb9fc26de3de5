/** Which saves touch the parts of large items (runtime/store/postgres/columns.ts), and that none of them outlasts its item. */
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import type { SavedItem } from '../../actors/collection/item-fields.ts';
import { migrations } from '../../process/schema.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { openPostgresStore, storeSql } from '../../runtime/store/postgres/store.ts';
import type { Commit } from '../../runtime/store/store.ts';
import { note } from '../kit/items.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { startServer } from '../kit/server.ts';

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

const large = `004:${'c'.repeat(700_000)}`;

/** Saves one note again and again. Each save tells whether its commit touched parts, and how many are left. */
async function editing(t: ExecutionContext) {
  const connection = await postgres.createDatabase();
  await migrate(connection, migrations);
  let touches = false;
  const batchCommit = (commits: readonly Commit[]) => {
    const batch = storeSql.batchCommit(commits);
    touches ||= batch.first.text.includes('item_part');
    return batch;
  };
  const store = await openPostgresStore({ connection, sql: { ...storeSql, batchCommit } });
  t.teardown(() => store.close());
  const server = await startServer(t, { host: { store } });
  const device = await server.device();
  const client = new pg.Client(connection);
  await client.connect();
  t.teardown(() => client.end());
  let saved: SavedItem | undefined;
  return async (content: string, more: object = {}) => {
    touches = false;
    const uuid = saved?.uuid ?? crypto.randomUUID();
    const version = { updated_at_timestamp: saved?.updated_at_timestamp ?? 0 };
    ({
      saved_items: [saved],
    } = await device.save(note({ uuid, content, content_type: 'Tag', ...version, ...more })));
    const { rows } = await client.query<{ parts: string }>('SELECT count(*) AS parts FROM item_part');
    return { touches, left: Number(rows[0]?.parts) };
  };
}

test('a small item over a small one touches no parts', async (t) => {
  const save = await editing(t);
  t.deepEqual(await save('004:one'), { touches: false, left: 0 });
  t.deepEqual(await save('004:two'), { touches: false, left: 0 });
  t.deepEqual(await save('004:three'), { touches: false, left: 0 });
});

test('a small item over a large one leaves none of its parts', async (t) => {
  const save = await editing(t);
  t.true((await save('004:small')).left === 0);
  t.true((await save(large)).left > 1);
  t.deepEqual(await save('004:small again'), { touches: true, left: 0 });
  t.deepEqual(await save('004:and again'), { touches: false, left: 0 });
  t.true((await save(large)).left > 1);
  t.deepEqual(await save('004:gone', { deleted: true }), { touches: true, left: 0 });
});
