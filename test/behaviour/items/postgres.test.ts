/** Item sync over a real PostgreSQL: large texts, subsets, columns and refusals, which the model cannot show. */
import test, { type ExecutionContext } from 'ava';
import { migrations } from '../../../process/schema.ts';
import { migrate } from '../../../runtime/store/postgres/migrate.ts';
import { openPostgresStore } from '../../../runtime/store/postgres/store.ts';
import { bob } from '../../kit/account.ts';
import { deletion, note, uuidNumber } from '../../kit/items.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

async function startDurableServer(t: ExecutionContext): Promise<TestServer> {
  const connection = await server.createDatabase();
  await migrate(connection, migrations);
  const store = await openPostgresStore({ connection });
  t.teardown(() => store.close());
  // Nothing is in memory: every answer has been through the database.
  return startServer(t, { host: { store, limits: { cachedRowBytesMax: 0 } } });
}

const uuids = (items: readonly { uuid: string }[]) => items.map(({ uuid }) => uuid);

test('every field comes back as it was saved', async (t) => {
  const server = await startDurableServer(t);
  const sent = note({
    content: 'ü'.repeat(1_000),
    auth_hash: 'hash',
    duplicate_of: uuidNumber(7),
    key_system_identifier: 'key system',
    created_at_timestamp: -1,
  });
  const phone = await server.device();
  const { saved_items: saved } = await phone.sync({ items: [sent] });
  const { retrieved_items: got } = await (await server.device()).sync();
  const { updated_at: _, updated_at_timestamp: __, ...fields } = sent;
  t.like(got[0], { ...fields, created_at: '1969-12-31T23:59:59.999999Z', user_uuid: phone.account.userUuid });
  t.like(got[0], saved[0] as object);
});

test('large notes come back whole, also when edited and made small', async (t) => {
  const server = await startDurableServer(t);
  const phone = await server.device();
  const large = 'a'.repeat(16 * 1024 * 1024);
  let version: number | undefined = 0;
  for (const content of ['small', large, `b${'🙂'.repeat(400_000)}`, 'small again']) {
    const items = [note({ content, updated_at_timestamp: version })];
    const { saved_items: saved } = await phone.sync({ items });
    version = saved[0]?.updated_at_timestamp;
    const { retrieved_items: got } = await (await server.device()).sync();
    t.true(got[0]?.content === content);
    t.is(got[0]?.updated_at_timestamp, version);
  }
});

test('pages, tombstones and what stands in front are as over the model', async (t) => {
  const server = await startDurableServer(t);
  const phone = await server.device();
  const items = Array.from({ length: 200 }, (_, n) => note({ uuid: uuidNumber(n + 1) }));
  const { saved_items: saved } = await phone.sync({ items });
  await phone.sync({ items: [deletion(uuidNumber(1), saved[0]?.updated_at_timestamp ?? 0)] });
  await phone.sync({ items: [note({ uuid: uuidNumber(300), content_type: 'SN|ItemsKey' })] });
  const [first, last, ...more] = await (await server.device()).syncAll();
  t.deepEqual(uuids(first?.retrieved_items ?? []).slice(0, 2), [300, 2].map(uuidNumber));
  t.is(first?.retrieved_items.length, 151);
  // Pages after the first have a position, and so the tombstone too.
  t.is(last?.retrieved_items.length, 49 + 1 + 1);
  t.deepEqual(more, []);
});

test('new items whose uuids are taken are conflicts, and the others are saved', async (t) => {
  const server = await startDurableServer(t);
  const [mine, other] = [await server.device(), await server.device(bob.email)];
  await mine.sync({ items: [note({ content: 'stored' })] });
  await other.sync({ items: [note({ uuid: uuidNumber(2), content: 'secret' })] });
  const reply = await mine.sync({
    items: [
      note({ content: 'again' }),
      note({ uuid: uuidNumber(2) }),
      note({ uuid: uuidNumber(3) }),
      note({ content: 'stored' }),
    ],
  });
  t.deepEqual(
    reply.conflicts.map(({ type }) => type),
    ['sync_conflict', 'uuid_conflict'],
  );
  t.deepEqual(uuids(reply.saved_items), [3, 1].map(uuidNumber));
  t.false(JSON.stringify(reply).includes('secret'));
});

test('an upload of several turns is saved whole, and integrity finds nothing amiss', async (t) => {
  const server = await startDurableServer(t);
  const phone = await server.device();
  const items = Array.from({ length: 2_500 }, (_, n) => note({ uuid: uuidNumber(n + 1) }));
  const { saved_items: saved } = await phone.sync({ items });
  t.is(saved.length, 2_500);
  t.deepEqual(await phone.checkIntegrity(saved), []);
  t.is((await phone.checkIntegrity(saved.slice(1))).length, 1);
});
