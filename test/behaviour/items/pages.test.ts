import test from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { encodeToken } from '../../../actors/collection/token.ts';
import { bob } from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import { deletion, note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';

const notes = (count: number, from = 1, overrides: ClientItem = {}) =>
  Array.from({ length: count }, (_, n) => note({ uuid: uuidNumber(from + n), ...overrides }));
const uuids = (items: readonly { uuid: string }[]) => items.map(({ uuid }) => uuid);

test('a first sync comes in pages, each with a sync token, the last without a cursor', async (t) => {
  const server = await startServer(t);
  await (await server.device()).sync({ items: notes(400) });
  const pages = await (await server.device()).syncAll();
  t.deepEqual(
    pages.map((page) => page.retrieved_items.length),
    [150, 150, 100],
  );
  t.deepEqual(
    pages.map((page) => page.cursor_token !== undefined),
    [true, true, false],
  );
  t.true(pages.every((page) => page.sync_token !== ''));
  t.deepEqual(uuids(pages.flatMap((page) => page.retrieved_items)), uuids(notes(400) as never));
});

test('a limit above the cap gives the cap', async (t) => {
  const server = await startServer(t);
  await (await server.device()).sync({ items: notes(400) });
  const page = await (await server.device()).sync({ limit: 10_000 });
  t.is(page.retrieved_items.length, 300);
});

test('keys, preferences and themes stand at the front of the first page only', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.sync({ items: notes(200) });
  await phone.sync({
    items: [
      note({ uuid: uuidNumber(501), content_type: 'SN|ItemsKey' }),
      note({ uuid: uuidNumber(502), content_type: 'SN|Theme' }),
      note({ uuid: uuidNumber(503), content_type: 'SN|Theme', deleted: true }),
    ],
  });
  const [first, last] = await (await server.device()).syncAll();
  t.deepEqual(uuids(first?.retrieved_items ?? []).slice(0, 3), [501, 502, 1].map(uuidNumber));
  t.is(first?.retrieved_items.length, 152);
  t.deepEqual(uuids(last?.retrieved_items ?? []).slice(-3), [501, 502, 503].map(uuidNumber));
});

test('all keys come on the first page, whatever its limits', async (t) => {
  const server = await startServer(t, { items: { transferLimitBytes: 1_000 } });
  const phone = await server.device();
  await phone.sync({ items: notes(3) });
  await phone.sync({ items: notes(5, 501, { content_type: 'SN|ItemsKey' }) });
  const first = await (await server.device()).sync({ limit: 2 });
  t.deepEqual(
    uuids(first.retrieved_items).filter((uuid) => uuid > uuidNumber(500)),
    uuids(notes(5, 501) as never),
  );
  t.truthy(first.cursor_token);
});

test('a page ends with the item that reaches the byte limit', async (t) => {
  const server = await startServer(t, { items: { transferLimitBytes: 20_000 } });
  const content = 'x'.repeat(8_000);
  await (await server.device()).sync({ items: notes(7, 1, { content }) });
  const pages = await (await server.device()).syncAll();
  t.deepEqual(
    pages.map((page) => page.retrieved_items.length),
    [3, 3, 1],
  );
});

test('items larger than the byte limit come one by one', async (t) => {
  const server = await startServer(t, { items: { transferLimitBytes: 10 } });
  await (await server.device()).sync({ items: notes(3) });
  const pages = await (await server.device()).syncAll();
  t.deepEqual(
    pages.map((page) => page.retrieved_items.length),
    [1, 1, 1],
  );
});

test('items saved between two pages are not missed', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  const { saved_items: saved } = await phone.sync({ items: notes(6) });
  const first = await laptop.sync({ limit: 4 });
  await phone.sync({
    items: [
      note({ content: 'edited', updated_at_timestamp: saved[0]?.updated_at_timestamp }),
      ...notes(1, 7),
    ],
  });
  const second = await laptop.sync({ limit: 4, cursor_token: first.cursor_token });
  t.deepEqual(uuids(second.retrieved_items), [5, 6, 1, 7].map(uuidNumber));
  t.is(second.retrieved_items[2]?.content, 'edited');
  t.deepEqual((await laptop.sync()).retrieved_items, []);
});

test('a client that lost its cursor goes on with its sync token', async (t) => {
  const server = await startServer(t);
  await (await server.device()).sync({ items: notes(6) });
  const laptop = await server.device();
  await laptop.sync({ limit: 4 });
  t.deepEqual(uuids((await laptop.sync()).retrieved_items), [5, 6].map(uuidNumber));
});

test('any token but ours is followed by everything, tombstones included', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { saved_items: saved } = await phone.sync({ items: notes(2) });
  await phone.sync({ items: [deletion(uuidNumber(1), saved[0]?.updated_at_timestamp ?? 0)] });
  const strangers = [
    'garbage',
    Buffer.from('2:1616164633.241312').toString('base64'),
    Buffer.from('1:2021-03-19T14:37:13.241Z').toString('base64'),
    encodeToken([{ collection: phone.account.userUuid, generation: 'another', position: 3 }]),
    encodeToken([
      { collection: (await server.device(bob.email)).account.userUuid, generation: '', position: 0 },
    ]),
    'x'.repeat(100_000),
  ];
  for (const sync_token of strangers) {
    const { retrieved_items: got } = await (await server.device()).sync({ sync_token });
    t.deepEqual(uuids(got), [2, 1].map(uuidNumber));
    t.true(got[1]?.deleted);
  }
  t.deepEqual(uuids((await (await server.device()).sync()).retrieved_items), [uuidNumber(2)]);
});

test('after a restore a device reads everything again, and does not skip what has its old positions', async (t) => {
  const server = await startServer(t, { items: { generation: 'before' } });
  const phone = await server.device();
  await phone.sync({ items: notes(3) });
  const lost = phone.syncToken;
  // The backup knew only the first two positions; another device then saves an item that gets the third position
  // again.
  const backup = await startServer(t, { items: { generation: 'before' } });
  const laptop = await backup.device();
  await laptop.sync({ items: notes(2) });
  await backup.restart({ items: { generation: 'after' } });
  await laptop.sync({ items: [note({ uuid: uuidNumber(9) })] });
  const tokenOf = (generation: string) =>
    encodeToken([{ collection: laptop.account.userUuid, generation, position: 3 }]);
  t.is(lost, encodeToken([{ collection: phone.account.userUuid, generation: 'before', position: 3 }]));
  const { retrieved_items: got } = await (await backup.device()).sync({ sync_token: tokenOf('before') });
  t.deepEqual(uuids(got), [1, 2, 9].map(uuidNumber));
  t.deepEqual((await (await backup.device()).sync({ sync_token: tokenOf('after') })).retrieved_items, []);
});

test('a cursor stands by itself, and wins over a sync token', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.sync({ items: notes(2) });
  const early = phone.syncToken;
  await phone.sync({ items: notes(4, 3) });
  const laptop = await server.device();
  const { cursor_token } = await laptop.sync({ limit: 4 });
  for (const sync_token of [null, early, 'garbage']) {
    const { retrieved_items: got } = await laptop.sync({ sync_token, cursor_token });
    t.deepEqual(uuids(got), [5, 6].map(uuidNumber));
  }
});

test('a token from before the first save is followed by everything', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  t.deepEqual((await laptop.sync()).retrieved_items, []);
  await phone.sync({ items: notes(1) });
  t.deepEqual(uuids((await laptop.sync()).retrieved_items), [uuidNumber(1)]);
});

test('tokens hold across a restart of the server', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.sync({ items: notes(3) });
  await server.restart();
  t.deepEqual((await phone.sync()).retrieved_items, []);
  await phone.sync({ items: notes(1, 4) });
  t.deepEqual((await phone.sync()).retrieved_items, []);
});

test('an edit saved while its old version was due gives that version back too', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { saved_items: saved } = await phone.sync({ items: [note({ content: 'old' })] });
  const version = saved[0]?.updated_at_timestamp;
  const items = [note({ content: 'new', updated_at_timestamp: version })];
  const reply = await phone.sync({ sync_token: null, items });
  t.like(reply.retrieved_items, [{ content: 'old', updated_at_timestamp: version }]);
  t.is(reply.saved_items.length, 1);
  t.deepEqual((await phone.sync()).retrieved_items, []);
});

test('the other side of a sync conflict does not come twice', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: notes(2) });
  const reply = await laptop.sync({ items: [note({ content: 'mine' })] });
  t.is(reply.conflicts[0]?.server_item?.uuid, uuidNumber(1));
  t.deepEqual(uuids(reply.retrieved_items), [uuidNumber(2)]);
});

test('a page left empty carries no cursor, and its token goes on', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: notes(2) });
  const reply = await laptop.sync({ limit: 1, items: [note({ content: 'mine' })] });
  t.deepEqual(reply.retrieved_items, []);
  t.false('cursor_token' in reply);
  t.deepEqual(uuids((await laptop.sync()).retrieved_items), [uuidNumber(2)]);
});

test('an upload larger than a turn is saved whole and in order, and nothing of it comes back', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { saved_items: saved, conflicts } = await phone.sync({ items: notes(2_500) });
  t.deepEqual(uuids(saved), uuids(notes(2_500) as never));
  t.deepEqual(conflicts, []);
  t.deepEqual((await phone.sync()).retrieved_items, []);
});

test('a note of the largest size is kept whole, and a larger one refused alone', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const largest = 'a'.repeat(16 * 1024 * 1024);
  const { saved_items: saved, conflicts } = await phone.sync({
    items: [
      note({ content: `${largest}b` }),
      note({ uuid: uuidNumber(2), content: largest }),
      note({ uuid: uuidNumber(3) }),
    ],
  });
  t.deepEqual(uuids(saved), [2, 3].map(uuidNumber));
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['content_error'],
  );
  await server.restart();
  const [page] = await (await server.device()).syncAll();
  t.true(page?.retrieved_items[0]?.content === largest);
});

test('a sync for vaults alone gives nothing, saves what it brings, and leaves the position', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.sync({ items: notes(1) });
  const laptop = await server.device();
  const reply = await laptop.sync({ shared_vault_uuids: [uuidNumber(99)], items: notes(1, 2) });
  t.deepEqual(reply.retrieved_items, []);
  t.is(reply.saved_items.length, 1);
  t.deepEqual(uuids((await laptop.sync()).retrieved_items), [1, 2].map(uuidNumber));
});

test('the content type filter gives only that type', async (t) => {
  const server = await startServer(t);
  await (await server.device()).sync({
    items: [...notes(1), ...notes(1, 2, { content_type: 'Tag' })],
  });
  const reply = await (await server.device()).sync({ content_type: 'Tag' });
  t.deepEqual(uuids(reply.retrieved_items), [uuidNumber(2)]);
});

test('a malformed vault uuid fails the whole request and saves nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const items = [...notes(1), note({ uuid: uuidNumber(2), shared_vault_uuid: 'x' })];
  t.is((await phone.send({ items })).status, 400);
  t.deepEqual((await phone.sync()).retrieved_items, []);
});

test('without a living session nothing is read or saved', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.sync({ items: notes(1) });
  const access = phone.account.access.replace(/:[^:]+$/, `:${'x'.repeat(43)}`);
  const stranger = new Device(server, { ...phone.account, access });
  for (const items of [[], notes(1, 2), notes(1_001, 2)]) {
    const reply = await stranger.send({ items });
    t.is(reply.status, 401);
    t.deepEqual(Object.keys(reply.body), ['error']);
  }
});
