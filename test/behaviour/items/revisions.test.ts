/** The history of items over HTTP. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { revisionsPerItemMax } from '../../../actors/collection/revisions/slots.ts';
import { revision } from '../../../actors/collection/revisions/table.ts';
import { defaultItemSettings, type ItemSettings } from '../../../actors/collection/settings.ts';
import { tokensOf } from '../../kit/account.ts';
import { accepted, Device } from '../../kit/device.ts';
import { deletion, note, uuidNumber } from '../../kit/items.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const pauseMs = 300_000;
const first = uuidNumber(1);
const second = uuidNumber(2);

type History = { uuid: string; item_uuid: string; created_at: string }[];

const path = (itemUuid: string, id?: string) =>
  `/v2/items/${itemUuid}/revisions${id === undefined ? '' : `/${id}`}`;
const list = async (device: Device, itemUuid = first): Promise<History> =>
  accepted(await device.call('GET', path(itemUuid))).revisions;
const read = async (device: Device, itemUuid: string, id: string) =>
  accepted(await device.call('GET', path(itemUuid, id))).revision;
const contents = async (device: Device, itemUuid = first): Promise<string[]> => {
  const found = [];
  for (const { uuid } of await list(device, itemUuid))
    found.push((await read(device, itemUuid, uuid)).content);
  return found;
};

/** Stored rows, whether anybody sees them or not. */
const stored = async (server: TestServer, device: Device): Promise<number> =>
  (await sizes(server, device)).length;

async function sizes(server: TestServer, { account }: Device): Promise<number[]> {
  const all = { after: 0, through: 1e12, limit: 1e4 };
  const [answer] = await server.host.store.read([
    { read: 'range', table: revision, owner: account.userUuid, ...all },
  ]);
  return (answer?.rows ?? []).map(({ size }) => Number(size));
}

async function started(t: ExecutionContext, revisions: Partial<ItemSettings['revisions']> = {}) {
  const settings = { revisions: { ...defaultItemSettings.revisions, ...revisions } };
  const server = await startServer(t, { items: settings });
  const device = await server.device();
  const versions = new Map<unknown, number>();
  /** Saves over an existing item. */
  const save = async (...items: ClientItem[]) => {
    const sent = items.map((item) => ({ ...item, updated_at_timestamp: versions.get(item.uuid) ?? 0 }));
    const { saved_items: saved } = await device.sync({ items: sent });
    for (const { uuid, updated_at_timestamp } of saved) versions.set(uuid, updated_at_timestamp);
    return saved;
  };
  const later = (ms = pauseMs) => server.advance(ms);
  return { server, device, save, later };
}

test('a new note has a revision, and one more with every save that comes late enough', async (t) => {
  const { device, save, later } = await started(t);
  await save(note({ content: '004:a' }));
  await later(pauseMs - 1_000);
  await save(note({ content: '004:b' }));
  t.deepEqual(await contents(device), ['004:a']);
  await later(1_000);
  await save(note({ content: '004:c' }));
  t.deepEqual(await contents(device), ['004:c', '004:a']);
});

test('a user who writes without a pause gets revisions all the same', async (t) => {
  const { device, save, later } = await started(t);
  for (let n = 0; n <= 10; n += 1) {
    await save(note({ content: `004:${n}` }));
    await later(pauseMs / 5);
  }
  t.deepEqual(await contents(device), ['004:10', '004:5', '004:0']);
});

test('a list and a revision have the fields that clients read', async (t) => {
  const { server, device, save } = await started(t);
  const at = new Date(server.clock.nowMs()).toISOString();
  await save(note({ items_key_id: second, auth_hash: 'hash' }));
  const [entry] = await list(device);
  const { uuid } = entry ?? { uuid: '' };
  const { userUuid } = device.account;
  const both = {
    uuid,
    item_uuid: first,
    content_type: 'Note',
    created_at: at,
    updated_at: at,
    shared_vault_uuid: null,
    edited_by_uuid: userUuid,
  };
  t.deepEqual(entry as unknown, { ...both, required_role: '' });
  t.deepEqual(await read(device, first, uuid), {
    ...both,
    content: '004:ciphertext',
    items_key_id: second,
    enc_item_key: '004:key',
    auth_hash: 'hash',
    key_system_identifier: null,
    last_edited_by_uuid: null,
    user_uuid: userUuid,
  });
});

test('notes and files have a history, and nothing else has', async (t) => {
  const { device, save } = await started(t);
  await save(note({ uuid: first, content_type: 'SN|File' }), note({ uuid: second, content_type: 'Tag' }));
  t.is((await list(device, first)).length, 1);
  t.is((await list(device, second)).length, 0);
});

test('a save that is a conflict or a repeat makes none', async (t) => {
  const { device, save, later } = await started(t, { pauseMs: 0 });
  await save(note());
  await later();
  t.is((await device.save(note())).saved_items.length, 1);
  t.is((await device.save(note({ content: '004:other' }))).conflicts.length, 1);
  t.deepEqual(await contents(device), ['004:ciphertext']);
});

test('large revisions come back whole', async (t) => {
  const { device, save } = await started(t);
  const content = `004:${'é'.repeat(700_000)}`;
  await save(note({ content }));
  t.deepEqual(await contents(device), [content]);
});

test('a revision is deleted alone, once and for all', async (t) => {
  const { device, save, later } = await started(t);
  await save(note({ content: '004:a' }));
  await later();
  await save(note({ content: '004:b' }));
  const [newest] = await list(device);
  const gone = path(first, newest?.uuid);
  for (const _ of ['first', 'again']) {
    t.is(typeof accepted(await device.call('DELETE', gone)).message, 'string');
  }
  t.deepEqual(await contents(device), ['004:a']);
  t.is((await device.call('GET', gone)).status, 404);
});

test('a deleted item has no history, and one that comes back begins a new one', async (t) => {
  const { device, save, later } = await started(t);
  await save(note({ content: '004:a' }));
  await later();
  await save(note({ content: '004:b' }));
  const [newest] = await list(device);
  await save(deletion(first, 0));
  t.deepEqual(await list(device), []);
  t.is((await device.call('GET', path(first, newest?.uuid))).status, 404);
  await save(note({ content: '004:c' }));
  t.deepEqual(await contents(device), ['004:c']);
});

test('so many deletions at once that their histories go later leave none', async (t) => {
  const { server, device, save, later } = await started(t, { pauseMs: 0 });
  const uuids = Array.from({ length: 12 }, (_, n) => uuidNumber(n + 1));
  const original = uuidNumber(99);
  // All slots of a duplicate are checked, because nobody knows how many were copied.
  await save(note({ uuid: original }), ...uuids.map((uuid) => note({ uuid, duplicate_of: original })));
  await later(10_000);
  for (const uuid of uuids) t.is((await list(device, uuid)).length, 2);
  await save(...uuids.map((uuid) => deletion(uuid, 0)));
  await later(10_000);
  t.is(await stored(server, device), 0);
  t.is((await list(device, original)).length, 1);
});

test('a duplicate has its own revision and a copy of each of the original, at their times', async (t) => {
  const { device, save, later } = await started(t);
  await save(note({ content: '004:a' }));
  await later();
  await save(note({ content: '004:b' }));
  await later();
  const originals = await list(device);
  await save(note({ uuid: second, content: '004:copy', duplicate_of: first }));
  await later(10_000);
  t.deepEqual(await contents(device, second), ['004:copy', '004:b', '004:a']);
  const copies = await list(device, second);
  t.deepEqual(
    copies.slice(1).map(({ created_at }) => created_at),
    originals.map(({ created_at }) => created_at),
  );
  t.is(new Set([...originals, ...copies].map(({ uuid }) => uuid)).size, 5);
  t.true(copies.every(({ item_uuid }) => item_uuid === second));
  await save(note({ uuid: uuidNumber(3), content: '004:third', duplicate_of: second }));
  await later(10_000);
  t.is((await list(device, uuidNumber(3))).length, 4);
});

test('nobody gets copies of what is another’s', async (t) => {
  const { server, save, later } = await started(t);
  await save(note());
  const mallory = await server.device('mallory@example.com');
  await mallory.save(note({ uuid: second, duplicate_of: first }));
  await later(10_000);
  t.is((await list(mallory, second)).length, 1);
});

test("another user's revision is as if it were absent, and an invalid uuid is a 400", async (t) => {
  const { server, device, save } = await started(t);
  await save(note());
  const [entry] = await list(device);
  const id = entry?.uuid ?? '';
  const mallory = await server.device('mallory@example.com');
  t.deepEqual(await list(mallory), []);
  t.is((await mallory.call('GET', path(first, id))).status, 404);
  t.is((await mallory.call('DELETE', path(first, id))).status, 200);
  t.is((await list(device)).length, 1);
  t.is((await device.call('GET', path(second, id))).status, 404);
  const ofSameSlot = crypto.randomUUID().slice(0, -2) + id.slice(-2);
  t.is((await device.call('GET', path(first, ofSameSlot))).status, 404);
  for (const [method, wrong] of [
    ['GET', path('x')],
    ['GET', path(first, 'x')],
    ['GET', path('x', id)],
    ['DELETE', path(first, 'x')],
    ['DELETE', path('x', id)],
  ] as const) {
    t.is((await device.call(method, wrong)).status, 400, `${method} ${wrong}`);
  }
});

test('uuids are found in either case, and a slash at the end is tolerated', async (t) => {
  const { device, save } = await started(t);
  const uuid = 'abcdefab-cdef-4bcd-8fab-cdefabcdefab';
  await save(note({ uuid }));
  const spelled = uuid.toUpperCase();
  const [entry] = await list(device, spelled);
  t.is(entry?.item_uuid, spelled);
  const { status } = await device.call('GET', `${path(spelled, entry?.uuid.toUpperCase())}/`);
  t.is(status, 200);
});

test('an item keeps no more than its number of revisions, the newest', async (t) => {
  const { server, device, save, later } = await started(t, { pauseMs: 0 });
  for (let n = 0; n < revisionsPerItemMax + 2; n += 1) {
    await save(note({ content: `004:${n}` }));
    await later(1_000);
  }
  const contentsNow = await contents(device);
  t.is(contentsNow.length, revisionsPerItemMax);
  t.deepEqual([contentsNow[0], contentsNow.at(-1)], [`004:${revisionsPerItemMax + 1}`, '004:2']);
  t.is(await stored(server, device), revisionsPerItemMax);
});

test('a lower number shows fewer', async (t) => {
  const { device, save, later } = await started(t, { pauseMs: 0, perItemMax: 2 });
  for (const content of ['004:a', '004:b', '004:c']) {
    await save(note({ content }));
    await later(1_000);
  }
  t.deepEqual(await contents(device), ['004:c', '004:b']);
});

test('a revision that was replaced too long ago is neither listed nor kept', async (t) => {
  const dayMs = 86_400_000;
  const { server, device, save, later } = await started(t, { ageMs: 10 * dayMs });
  await save(note({ content: '004:a' }));
  await later(20 * dayMs);
  await save(note({ content: '004:b' }));
  await later(6 * dayMs);
  await save(note({ content: '004:c' }));
  t.deepEqual(await contents(await device.another()), ['004:c', '004:b', '004:a']);
  await later(4 * dayMs + 1_000);
  t.deepEqual(await contents(await device.another()), ['004:c', '004:b']);
  t.is(await stored(server, device), 1);
});

test('a revision is kept as a row once its item is overwritten, and not before', async (t) => {
  const { server, device, save, later } = await started(t);
  await save(note({ content: '004:a' }));
  t.is(await stored(server, device), 0);
  const [before] = await list(device);
  await save(note({ content: '004:b' }));
  t.is(await stored(server, device), 1);
  t.deepEqual(await list(device), [before as History[number]]);
  await save(note({ content: '004:c' }));
  t.is(await stored(server, device), 1, 'a save within the pause has made none');
  await later();
  await save(note({ content: '004:d' }));
  t.is(await stored(server, device), 1);
  t.deepEqual(await contents(device), ['004:d', '004:a']);
});

test('a revision that its item still holds is deleted alone, and does not come back when the item is saved', async (t) => {
  const { server, device, save, later } = await started(t);
  await save(note({ content: '004:a' }));
  const [held] = await list(device);
  const gone = path(first, held?.uuid);
  t.is((await device.call('DELETE', gone)).status, 200);
  t.deepEqual(await list(device), []);
  t.is((await device.call('GET', gone)).status, 404);
  // The version is the same, so a save that was under way succeeds.
  await save(note({ content: '004:b' }));
  t.deepEqual(await list(device), []);
  t.is(await stored(server, device), 0);
  await later();
  await save(note({ content: '004:c' }));
  t.deepEqual(await contents(device), ['004:c']);
});

test('where an account has as many bytes of revisions as it may, the oldest make room', async (t) => {
  const { device, save, later } = await started(t, { bytesMax: 40_000 });
  for (let n = 1; n <= 10; n += 1) {
    await save(note({ uuid: uuidNumber(n), content: 'c'.repeat(5_000) }));
    await save(note({ uuid: uuidNumber(n), content: '004:after' }));
    await later(5_000);
  }
  t.deepEqual(await list(device, uuidNumber(1)), []);
  t.is((await list(device, uuidNumber(10))).length, 1);
});

test('the revisions of an account never exceed their bytes, through any saves and deletions', async (t) => {
  const bytesMax = 40_000;
  const step = fc.record({
    item: fc.integer({ min: 1, max: 3 }),
    bytes: fc.integer({ min: 1, max: 9_000 }),
    act: fc.constantFrom('save', 'save', 'save', 'delete', 'wait'),
  });
  const holds = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
    const { server, device, save, later } = await started(t, { pauseMs: 0, bytesMax });
    for (const { item, bytes, act } of steps) {
      const uuid = uuidNumber(item);
      if (act === 'wait') await later(5_000);
      else await save(act === 'delete' ? deletion(uuid, 0) : note({ uuid, content: 'c'.repeat(bytes) }));
      const storedBytes = (await sizes(server, device)).reduce((sum, size) => sum + size, 0);
      t.true(storedBytes <= bytesMax, `${storedBytes} bytes`);
    }
    await later(10_000);
    // There is capacity again, so what is overwritten next is kept.
    await save(note({ uuid: uuidNumber(9), content: '004:before' }));
    await save(note({ uuid: uuidNumber(9), content: '004:after' }));
    t.deepEqual(await contents(device, uuidNumber(9)), ['004:after', '004:before']);
  });
  await fc.assert(holds, { numRuns: 8 });
});

test('a read-only session and a bridge read the history and delete nothing', async (t) => {
  const { server, device, save } = await started(t);
  await save(note());
  const [entry] = await list(device);
  const keys = { wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  for (const scope of ['read', 'write']) {
    const made = await device.call('POST', '/v1/mcp-tokens', { body: { label: 'b', scope, ...keys } });
    const { token } = accepted(made);
    const opened = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
    const bridge = new Device(server, { ...device.account, ...tokensOf(opened) });
    t.deepEqual(await list(bridge), [entry as History[number]]);
    t.is((await bridge.call('DELETE', path(first, entry?.uuid))).status, 403);
  }
  t.is((await list(device)).length, 1);
});
