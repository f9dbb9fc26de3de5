/** Uploads of a few bytes for each item that make the server load whole accounts into memory. */
import test from 'ava';
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import type { Device } from '../kit/device.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { startServer, type TestServer } from '../kit/server.ts';

/** Much more than the rest of an item. */
const contentBytes = 10_000;
const count = 20;
/** Capacity for three of them. */
const items = { storedBytesMax: 25_000 };
const fits = 3;

const uuids = Array.from({ length: count }, (_, n) => uuidNumber(n + 1));

async function filled(server: TestServer, more: ClientItem = {}): Promise<Device> {
  const device = await server.device();
  await device.sync({
    items: uuids.map((uuid) => note({ uuid, content: 'x'.repeat(contentBytes), ...more })),
  });
  return device;
}

async function answered(device: Device, sent: readonly ClientItem[]) {
  const { saved_items: saved, conflicts } = await device.sync({ items: sent });
  return { saved: saved.length, conflicts: conflicts.length, conflicting: conflicts };
}

for (const [what, version] of [
  ['that are out of date', 5],
  ['that pass for new', 0],
] as const) {
  test(`an answer about items ${what} gives a bounded amount of ciphertext, and the others when they are sent again`, async (t) => {
    const device = await filled(await startServer(t, { items }));
    let left = uuids;
    for (let rounds = 0; left.length > 0; rounds += 1) {
      t.true(rounds <= count / fits);
      const sent = left.map((uuid) => note({ uuid, content: 'y', updated_at_timestamp: version }));
      const { saved, conflicts, conflicting } = await answered(device, sent);
      t.deepEqual([saved, conflicts], [0, Math.min(fits, left.length)]);
      const received = conflicting.map(({ server_item: item }) => item);
      t.true(received.every((item) => item?.content?.length === contentBytes));
      const known = new Set(received.map((item) => item?.uuid));
      left = left.filter((uuid) => !known.has(uuid));
    }
  });
}

test('one item is given once, however often and in however many spellings it is sent', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const uuid = 'abcdefab-cdef-4abc-8def-abcdefabcdef';
  await device.save(note({ uuid, content: 'x'.repeat(100_000) }));
  const stale = (spelled: string) => note({ uuid: spelled, content: 'y', updated_at_timestamp: 5 });
  const spellings = [...uuid].map((_, at) => uuid.slice(0, at) + uuid.slice(at).toUpperCase());
  for (const sent of [Array(200).fill(uuid), spellings]) {
    const { conflicting } = await answered(device, sent.map(stale));
    t.is(conflicting.length, 1);
    t.is(conflicting[0]?.server_item?.uuid, sent[0]);
  }
});

test('the turns of one upload share the room', async (t) => {
  const turnLimits = { items: 5, bytes: 1_000_000 };
  const device = await filled(await startServer(t, { items: { ...items, turnLimits } }));
  const sent = uuids.map((uuid) => note({ uuid, content: 'y', updated_at_timestamp: 5 }));
  t.is((await answered(device, sent)).conflicts, fits);
});

test('an item that brings its own ciphertext needs no room, and one that keeps the stored ciphertext loses nothing of it', async (t) => {
  // So small that the ciphertexts fetched are fewer than the capacity allows.
  const bytes = 1_000;
  const tag = { content_type: 'Tag', content: 'x'.repeat(bytes) };
  const device = await filled(await startServer(t, { items: { storedBytesMax: 2_500 } }), tag);
  const { retrieved_items: stored } = await device.sync({ sync_token: null });
  const own = stored.map(({ uuid, updated_at_timestamp: version }) =>
    note({ uuid, ...tag, content: 'z'.repeat(bytes), updated_at_timestamp: version }),
  );
  const saved = (await device.sync({ items: own })).saved_items;
  t.is(saved.length, count);
  const without = saved.map(({ uuid, updated_at_timestamp: version }) => ({
    uuid,
    content_type: 'SN|Theme',
    updated_at_timestamp: version,
  }));
  const withinLimit = await answered(device, without);
  t.deepEqual([withinLimit.saved, withinLimit.conflicts], [fits, 0]);
  const after = (await device.sync({ sync_token: null })).retrieved_items;
  t.deepEqual(new Set(after.map(({ content }) => content)), new Set(['z'.repeat(bytes)]));
  t.is(after.filter(({ content_type: type }) => type === 'SN|Theme').length, fits);
});

test('history that a save writes needs room, and is whole once the other items were sent again', async (t) => {
  const device = await filled(await startServer(t, { items }));
  let { retrieved_items: left } = await device.sync({ sync_token: null });
  for (let rounds = 0; left.length > 0; rounds += 1) {
    t.true(rounds <= count / fits);
    const sent = left.map(({ uuid, updated_at_timestamp: version }) =>
      note({ uuid, content: 'y', updated_at_timestamp: version }),
    );
    const saved = new Set((await device.sync({ items: sent })).saved_items.map(({ uuid }) => uuid));
    t.is(saved.size, Math.min(fits, left.length));
    left = left.filter(({ uuid }) => !saved.has(uuid));
  }
  for (const uuid of uuids) {
    const path = `/v2/items/${uuid}/revisions`;
    const [only, ...none] = (await device.call('GET', path)).body.revisions;
    t.deepEqual(none, []);
    const { content } = (await device.call('GET', `${path}/${only.uuid}`)).body.revision;
    t.is(content, 'x'.repeat(contentBytes));
  }
});
