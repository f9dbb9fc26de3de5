import test from 'ava';
import { alice, bob } from '../../kit/account.ts';
import { deletion, note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';

const contents = (items: readonly { content: string | null }[]) => items.map(({ content }) => content);

test('what one device saves the other gets, and gets once', async (t) => {
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

test('of savers of the same version exactly one wins, and the others get the winner', async (t) => {
  const server = await startServer(t);
  const devices = await Promise.all([1, 2, 3, 4, 5].map(() => server.device()));
  const { saved_items: saved } = await (devices[0] ?? t.fail()).sync({ items: [note()] });
  const version = saved[0]?.updated_at_timestamp;
  const replies = await Promise.all(
    devices.map((device, n) =>
      device.sync({ items: [note({ content: `edit ${n}`, updated_at_timestamp: version })] }),
    ),
  );
  const winners = replies.filter((reply) => reply.saved_items.length === 1);
  t.is(winners.length, 1);
  const stored = (await (await server.device()).sync()).retrieved_items[0];
  for (const { conflicts } of replies.filter((reply) => !winners.includes(reply))) {
    t.is(conflicts.length, 1);
    t.is(conflicts[0]?.type, 'sync_conflict');
    t.deepEqual(conflicts[0]?.server_item, stored);
  }
});

test('the same new uuid from two devices at once is saved once, and the other gets the winner', async (t) => {
  const server = await startServer(t);
  const devices = await Promise.all([1, 2, 3].map(() => server.device()));
  // While another commit is under way, the saves that meet gather in the next one together.
  const busy = (devices[0] ?? t.fail()).sync({ items: [note({ uuid: uuidNumber(2), content_type: 'Tag' })] });
  const replies = await Promise.all(
    devices.map((device, n) => device.sync({ items: [note({ content: `new ${n}` })] })),
  );
  await busy;
  t.is(replies.filter((reply) => reply.saved_items.length === 1).length, 1);
  const all = (await (await server.device()).sync()).retrieved_items;
  const stored = all.filter(({ content_type: type }) => type === 'Note');
  t.is(stored.length, 1);
  for (const { saved_items: saved, conflicts } of replies) {
    if (saved.length === 1) t.is(saved[0]?.updated_at_timestamp, stored[0]?.updated_at_timestamp);
    else t.like(conflicts[0], { type: 'sync_conflict', server_item: stored[0] });
  }
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

test("another user's uuid is a uuid_conflict that shows nothing of his item", async (t) => {
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

test("several devices that meet another user's uuids at once are each told of theirs", async (t) => {
  const server = await startServer(t);
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  const devices = await Promise.all(numbers.map(() => server.device()));
  const other = await server.device(bob.email);
  await other.sync({ items: numbers.map((n) => note({ uuid: uuidNumber(n) })) });
  const replies = await Promise.all(
    devices.map((device, index) => {
      const n = index + 1;
      return device.sync({ items: [note({ uuid: uuidNumber(n) }), note({ uuid: uuidNumber(100 + n) })] });
    }),
  );
  for (const [index, { saved_items: saved, conflicts }] of replies.entries()) {
    t.deepEqual(
      conflicts.map(({ type, unsaved_item: item }) => [type, item?.uuid]),
      [['uuid_conflict', uuidNumber(index + 1)]],
    );
    t.deepEqual(
      saved.map(({ uuid }) => uuid),
      [uuidNumber(101 + index)],
    );
  }
});

test('devices that sync at the same moment never miss an item of each other', async (t) => {
  const server = await startServer(t);
  const devices = await Promise.all([1, 2, 3, 4].map(() => server.device()));
  const known = devices.map(() => new Set<string>());
  const take = async (n: number, items: ReturnType<typeof note>[]) => {
    const reply = await (devices[n] ?? t.fail()).sync({ items });
    for (const { uuid } of [...reply.retrieved_items, ...reply.saved_items]) known[n]?.add(uuid);
  };
  let next = 0;
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      devices.flatMap((_, n) => {
        next += 1;
        return [take(n, round % 3 === n ? [] : [note({ uuid: uuidNumber(next) })])];
      }),
    );
  }
  await Promise.all(devices.map((_, n) => take(n, [])));
  const all = (await (await server.device()).syncAll()).flatMap((page) => page.retrieved_items);
  const expected = all.map(({ uuid }) => uuid).sort();
  t.true(expected.length > 50);
  for (const seen of known) t.deepEqual([...seen].sort(), expected);
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
