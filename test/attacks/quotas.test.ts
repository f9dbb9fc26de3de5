/** Accounts that try to fill the disk. */
import test from 'ava';
import { defaultItemSettings } from '../../actors/collection/settings.ts';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import type { Device } from '../kit/device.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const content = 'x'.repeat(1_000);
const notes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => note({ uuid: uuidNumber(from + n), content }));

const held = async (server: TestServer, { account }: Device) => {
  const { items, itemBytes } = await server.host.actors
    .get(UserAdministration, account.userUuid)
    .ask.operatorShow({});
  return { items, itemBytes };
};

const sizeOfNote = 640 + 1_000 + Buffer.byteLength(String(note({}).enc_item_key ?? ''));

test('a sync beyond the limit is refused whole, with a message, and leaves nothing behind', async (t) => {
  const server = await startServer(t, { items: { quota: { items: 3, bytes: 0 } } });
  const device = await server.device();
  await device.sync({ items: notes(1, 2) });
  const before = await held(server, device);
  const refused = await device.send({ items: notes(3, 4) });
  t.is(refused.status, 413);
  t.regex(refused.body.error.message, /^This account holds as much as this server allows\./);
  t.deepEqual(await held(server, device), before);
  t.is((await device.getItem(uuidNumber(3))).status, 404);
  t.is((await device.sync({ items: notes(3, 3) })).saved_items.length, 1);
  t.is((await device.send({ items: notes(4, 4) })).status, 413);
});

test('a full account can be read, overwritten and emptied as before', async (t) => {
  const bytes = 2 * sizeOfNote;
  const server = await startServer(t, { items: { quota: { items: 0, bytes } } });
  const device = await server.device();
  const [first] = (await device.sync({ items: notes(1, 2) })).saved_items;
  t.is((await held(server, device)).itemBytes, bytes);
  t.is((await device.send({ items: notes(3, 3) })).status, 413);
  t.is((await (await device.another()).syncAll()).flatMap((page) => page.retrieved_items).length, 2);
  const changed = note({
    uuid: uuidNumber(1),
    content: 'y'.repeat(1_000),
    updated_at_timestamp: first?.updated_at_timestamp,
  });
  const [saved] = (await device.sync({ items: [changed] })).saved_items;
  const longer = {
    ...changed,
    content: 'y'.repeat(1_001),
    updated_at_timestamp: saved?.updated_at_timestamp,
  };
  t.is((await device.send({ items: [longer] })).status, 413);
  await device.sync({ items: [{ ...longer, deleted: true }] });
  t.is((await device.sync({ items: notes(3, 3) })).saved_items.length, 1);
});

test('an account beyond a lowered limit may shrink, but not grow', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const { saved_items: saved } = await device.sync({ items: notes(1, 3) });
  await server.restart({ items: { quota: { items: 0, bytes: 1 } } });
  t.is((await device.send({ items: notes(4, 4) })).status, 413);
  const [first] = saved;
  const gone = note({
    uuid: uuidNumber(1),
    deleted: true,
    updated_at_timestamp: first?.updated_at_timestamp,
  });
  t.is((await device.sync({ items: [gone] })).saved_items.length, 1);
});

test('an upload of several turns is refused where the room ends, and what it saved is not saved twice', async (t) => {
  const quota = { items: 5, bytes: 0 };
  const server = await startServer(t, { items: { quota, turnLimits: { items: 2, bytes: 1_000_000 } } });
  const device = await server.device();
  t.is((await device.send({ items: notes(1, 7) })).status, 413);
  t.is((await held(server, device)).items, 4);
  const { saved_items: saved, conflicts } = await device.sync({ items: notes(1, 5) });
  t.deepEqual([saved.length, conflicts.length], [5, 0]);
  t.is((await held(server, device)).items, 5);
});

test('by default there is room for all a person writes, but not without end', (t) => {
  t.deepEqual(defaultItemSettings.quota, { items: 1_000_000, bytes: 10 * 1_024 ** 3 });
});
