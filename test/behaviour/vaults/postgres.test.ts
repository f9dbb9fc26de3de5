/** Items of vaults over a real PostgreSQL: moves by its unique keys, pages, and the rows that its indexes find. */
import test, { type ExecutionContext } from 'ava';
import { item } from '../../../actors/collection/item.ts';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { migrations } from '../../../process/schema.ts';
import { migrate } from '../../../runtime/store/postgres/migrate.ts';
import { openPostgresStore } from '../../../runtime/store/postgres/store.ts';
import type { Device } from '../../kit/device.ts';
import { deletion, inVault, note, uuidNumber } from '../../kit/items.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import type { TestServer } from '../../kit/server.ts';
import { join, makeVault, startSharedVault, vaults } from '../../kit/vaults.ts';

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

async function started(t: ExecutionContext) {
  const connection = await postgres.createDatabase();
  await migrate(connection, migrations);
  const store = await openPostgresStore({ connection });
  t.teardown(() => store.close());
  // Nothing is in memory: every answer has been through the database.
  const { server, alice, bob, vault } = await startSharedVault(t, {
    server: { host: { store, limits: { cachedRowBytesMax: 0 } } },
  });
  return { server, alice, bob, vault };
}

const uuidsOf = (items: readonly { readonly uuid: string }[]) => items.map(({ uuid }) => uuid);
const everything = async (device: Device) => (await device.sync({ sync_token: null })).retrieved_items;

/** The saved version, which is the only one and in no conflict. */
async function saved(t: ExecutionContext, device: Device, items: ClientItem) {
  const { saved_items: received, conflicts } = await device.save(items);
  t.deepEqual(conflicts, []);
  t.is(received.length, 1);
  return received[0] ?? t.fail();
}

/** The rows of one uuid: in which collection, at which hop, and whether it keeps the uuid taken. */
async function rowsOf({ host }: TestServer, collections: readonly string[], uuid: string) {
  const keys = collections.map((collection) => ({ collection, uuid }));
  const [found] = await host.store.read([{ read: 'keys', table: item, keys }]);
  return (found?.rows ?? []).map((row) => ({
    at: collections.indexOf(String(row['collection'])),
    hop: row['hop'],
    born: row['born'],
    isForwarding: row['moved_to'] !== null,
  }));
}

test('an item moves in, on, out and in again, and its uuid stays taken', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const other = await makeVault(alice);
  const places = [alice.account.userUuid, vault, other];
  let { updated_at_timestamp: version } = await saved(t, alice, note());
  const uuid = uuidNumber(1);
  for (const [round, place] of [1, 2, 0, 1, 0, 2, 1].entries()) {
    const content = `${round}`;
    const sent = { content, updated_at_timestamp: version };
    const to = places[place] ?? t.fail();
    const moved = await saved(t, alice, place === 0 ? note(sent) : inVault(to, sent));
    version = moved.updated_at_timestamp;
    const rows = await rowsOf(server, places, uuid);
    t.deepEqual(
      rows.filter(({ isForwarding }) => !isForwarding).map(({ at, hop }) => [at, hop]),
      [[place, round + 1]],
    );
    t.deepEqual(
      rows.filter(({ born }) => born).map(({ at }) => at),
      [0],
    );
    t.deepEqual(
      (await everything(alice)).map((each) => [each.uuid, each.content]),
      [[uuid, content]],
    );
    t.deepEqual(uuidsOf(await everything(bob)), place === 1 ? [uuid] : []);
    const { conflicts } = await bob.save(note());
    t.deepEqual(
      conflicts.map(({ type }) => type),
      ['uuid_conflict'],
    );
  }
});

test('an item that is not where the client thinks is found by its uuid', async (t) => {
  const { alice, bob, vault } = await started(t);
  const mine = await saved(t, alice, note());
  const added = await saved(t, alice, inVault(vault, { updated_at_timestamp: mine.updated_at_timestamp }));
  await alice.sync();
  await bob.sync();
  // The request names no vault: the item must come back, and only its uuid shows from where.
  const version = added.updated_at_timestamp;
  const answer = await bob.sync({ items: [note({ updated_at_timestamp: version })] });
  t.deepEqual(
    answer.conflicts.map(({ type }) => type),
    ['shared_vault_insufficient_permissions_error'],
  );
  const edited = await saved(t, bob, inVault(vault, { content: 'b', updated_at_timestamp: version }));
  const stale = await alice.sync({ items: [note({ updated_at_timestamp: version })] });
  t.deepEqual(
    stale.conflicts.map(({ type, server_item: server }) => [type, server?.content]),
    [['sync_conflict', 'b']],
  );
  const back = await alice.sync({ items: [note({ updated_at_timestamp: edited.updated_at_timestamp })] });
  t.deepEqual(back.conflicts, []);
  t.is(back.saved_items[0]?.shared_vault_uuid, null);
});

test('many items that move at once come page by page, each once', async (t) => {
  const { alice, bob, vault } = await started(t);
  const all = Array.from({ length: 60 }, (_, n) => uuidNumber(n + 1));
  const { saved_items: first } = await alice.sync({ items: all.map((uuid) => note({ uuid })) });
  const items = first.map(({ uuid, updated_at_timestamp }) => inVault(vault, { uuid, updated_at_timestamp }));
  const moved = await alice.sync({ items });
  t.deepEqual(moved.conflicts, []);
  t.deepEqual(uuidsOf(moved.saved_items).sort(), all);
  await bob.sync({ items: [inVault(vault, { uuid: uuidNumber(100) }), note({ uuid: uuidNumber(101) })] });
  const version = moved.saved_items[0]?.updated_at_timestamp ?? t.fail();
  const uuid = moved.saved_items[0]?.uuid ?? t.fail();
  await saved(t, alice, { ...inVault(vault), ...deletion(uuid, version) });
  const phone = await bob.another();
  const pages = await phone.syncAll({ limit: 25 });
  // Pages after the first have a position, and so the tombstone comes too.
  const live = pages.flatMap(({ retrieved_items: each }) => each.filter(({ deleted }) => !deleted));
  t.deepEqual(uuidsOf(live).sort(), [
    ...all.filter((each) => each !== uuid),
    uuidNumber(100),
    uuidNumber(101),
  ]);
  t.deepEqual((await phone.sync()).retrieved_items, []);
});

test('a removed member is given nothing, and what is saved after that is not theirs', async (t) => {
  const { alice, bob, vault } = await started(t);
  const own = await saved(t, alice, inVault(vault));
  t.deepEqual(uuidsOf((await bob.sync()).retrieved_items), [own.uuid]);
  const path = `${vaults}/${vault}/users/${bob.account.userUuid}`;
  t.is((await alice.call('DELETE', path)).status, 200);
  await saved(t, alice, inVault(vault, { content: 'b', updated_at_timestamp: own.updated_at_timestamp }));
  t.deepEqual((await bob.sync()).retrieved_items, []);
  t.deepEqual(await everything(bob), []);
  await join(alice, vault, bob);
  t.deepEqual(
    (await bob.sync()).retrieved_items.map(({ content }) => content),
    ['b'],
  );
});
