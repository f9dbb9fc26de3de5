import test from 'ava';
import { alice, bob } from '../../kit/account.ts';
import { deletion, note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';

const contents = (items: readonly { content: string | null }[]) => items.map(({ content }) => content);

test('an item that one device saves is given to the other, once', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await laptop.sync();
  const { saved_items: saved } = await phone.sync({ items: [note({ content: 'hello' })] });
  t.is(saved.length, 1);
  const { retrieved_items: got } = await laptop.sync();
  t.deepEqual(contents(got), ['hello']);
  t.is(got[0]?.updated_at_timestamp, saved[0]?.updated_at_timestamp);
  t.deepEqual((await laptop.sync()).retrieved_items, []);
  t.deepEqual((await phone.sync()).retrieved_items, []);
});

test('a device that has everything is answered like any other: only while its session lives', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: [note()] });
  const { sync_token } = await laptop.sync();
  const idle = await laptop.sync();
  t.deepEqual(idle, {
    retrieved_items: [],
    saved_items: [],
    conflicts: [],
    sync_token,
    messages: [],
    shared_vaults: [],
    shared_vault_invites: [],
    notifications: [],
  });
  t.is((await phone.call('DELETE', '/v1/sessions')).status, 204);
  t.is((await laptop.send({ sync_token })).status, 401);
  t.is((await phone.sync()).sync_token, sync_token);
});

test('a device that was away for years learns what was deleted meanwhile', async (t) => {
  const server = await startServer(t, { accounts: { accessTokenAgeMs: 1e12, refreshTokenAgeMs: 1e12 } });
  const [phone, laptop] = [await server.device(), await server.device()];
  const { saved_items: saved } = await phone.sync({ items: [note()] });
  await laptop.sync();
  await phone.sync({ items: [deletion(uuidNumber(1), saved[0]?.updated_at_timestamp ?? 0)] });
  await server.advance(5 * 365 * 86_400_000);
  await server.restart();
  const { retrieved_items: got } = await laptop.sync();
  t.like(got, [{ uuid: uuidNumber(1), deleted: true, content: null, enc_item_key: null }]);
});

test('an edit is based on the exact version, and the other device gets it', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  const first = await phone.sync({ items: [note()] });
  const version = first.saved_items[0]?.updated_at_timestamp ?? 0;
  await laptop.sync();
  const wrong = await laptop.sync({ items: [note({ content: 'b', updated_at_timestamp: version - 1 })] });
  t.like(wrong.conflicts[0], { type: 'sync_conflict', server_item: { content: '004:ciphertext' } });
  const right = await laptop.sync({ items: [note({ content: 'b', updated_at_timestamp: version })] });
  t.true((right.saved_items[0]?.updated_at_timestamp ?? 0) > version);
  t.deepEqual(contents((await phone.sync()).retrieved_items), ['b']);
});

test('a deleted item reaches devices that have a position, and not new ones', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  const { saved_items: saved } = await phone.sync({ items: [note()] });
  await laptop.sync();
  await phone.sync({ items: [deletion(uuidNumber(1), saved[0]?.updated_at_timestamp ?? 0)] });
  const { retrieved_items: got } = await laptop.sync();
  t.like(got[0], { deleted: true, content: null, enc_item_key: null, items_key_id: null });
  t.deepEqual((await (await server.device()).sync()).retrieved_items, []);
});

test('a new item whose uuid was stored long ago is a sync_conflict with the stored item', async (t) => {
  const server = await startServer(t, { host: { limits: { cachedRowBytesMax: 0 } } });
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: [note({ content: 'first' })] });
  await server.restart();
  const items = [note({ content: 'second' }), note({ uuid: uuidNumber(2), content: 'other' })];
  const { saved_items: saved, conflicts } = await laptop.sync({ items });
  t.deepEqual(
    saved.map(({ uuid }) => uuid),
    [uuidNumber(2)],
  );
  t.like(conflicts[0], { type: 'sync_conflict', server_item: { content: 'first' } });
});

test("another user's uuid is a uuid_conflict that shows nothing of their item", async (t) => {
  const server = await startServer(t);
  const [mine, other] = [await server.device(), await server.device(bob.email)];
  await other.sync({ items: [note({ content: 'secret' })] });
  for (const updated_at_timestamp of [0, 5]) {
    const reply = await mine.sync({ items: [note({ content: 'mine', updated_at_timestamp })] });
    t.is(reply.conflicts.length, 1);
    t.is(reply.conflicts[0]?.type, 'uuid_conflict');
    t.is(reply.conflicts[0]?.unsaved_item?.content, 'mine');
    t.false(JSON.stringify(reply).includes('secret'));
  }
  t.deepEqual((await mine.sync({ sync_token: null })).retrieved_items, []);
});

test('a save whose reply was lost is a success when it is sent again', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lost = await phone.sync({ items: [note()] });
  await server.restart();
  const again = await phone.sync({ items: [note()], sync_token: null });
  t.deepEqual(again.saved_items, lost.saved_items);
  t.deepEqual(again.conflicts, []);
  const version = lost.saved_items[0]?.updated_at_timestamp;
  const edit = note({ content: 'edit', updated_at_timestamp: version });
  const first = await phone.sync({ items: [edit] });
  t.deepEqual((await phone.sync({ items: [edit] })).saved_items, first.saved_items);
});

test('a read-only session saves nothing and can read', async (t) => {
  const server = await startServer(t);
  const writer = await server.device();
  const { saved_items: saved } = await writer.sync({ items: [note()] });
  await server.restart({ accounts: { readonlyUsers: new Set([alice.email]) } });
  const reader = await server.device();
  const version = saved[0]?.updated_at_timestamp;
  const reply = await reader.sync({ items: [note({ content: 'x', updated_at_timestamp: version })] });
  t.like(reply.conflicts[0], { type: 'readonly_error', server_item: { content: '004:ciphertext' } });
  t.deepEqual(contents(reply.retrieved_items), ['004:ciphertext']);
});

test('integrity names what differs and every item named can be fetched', async (t) => {
  const server = await startServer(t);
  const [phone, other] = [await server.device(), await server.device(bob.email)];
  await other.sync({ items: [note({ uuid: uuidNumber(9) })] });
  const { saved_items: saved } = await phone.sync({
    items: [1, 2, 3].map((n) =>
      note({ uuid: uuidNumber(n), content_type: n === 3 ? 'SN|ItemsKey' : 'Note' }),
    ),
  });
  const [one, two] = saved.map(({ uuid, updated_at_timestamp }) => ({ uuid, updated_at_timestamp }));
  if (one === undefined || two === undefined) return t.fail();
  t.deepEqual(await phone.checkIntegrity([one, two]), []);
  t.deepEqual(await phone.checkIntegrity([one, { ...two, updated_at_timestamp: 1 }]), [two]);
  t.deepEqual(await phone.checkIntegrity([{ uuid: uuidNumber(9), updated_at_timestamp: 1 }]), [one, two]);
  t.like((await phone.getItem(two.uuid)).body.item, { uuid: two.uuid, content: '004:ciphertext' });
});

test('one item is found by its owner only, tombstones included', async (t) => {
  const server = await startServer(t);
  const [mine, other] = [await server.device(), await server.device(bob.email)];
  await mine.sync({ items: [note({ deleted: true })] });
  t.like((await mine.getItem(uuidNumber(1))).body.item, { deleted: true, content: null });
  for (const uuid of [uuidNumber(2), 'x', ' ']) t.is((await mine.getItem(uuid)).status, 404);
  t.is((await other.getItem(uuidNumber(1))).status, 404);
});
