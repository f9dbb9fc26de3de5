/** Concurrent operations on items. */
import test, { type ExecutionContext } from 'ava';
import { defaultItemSettings } from '../../actors/collection/settings.ts';
import { bob } from '../kit/account.ts';
import { note, uuidNumber } from '../kit/items.ts';
import type { Schedule } from '../kit/model-store/model-store.ts';
import { startServer } from '../kit/server.ts';

const notes = (count: number, from = 1) =>
  Array.from({ length: count }, (_, n) => note({ uuid: uuidNumber(from + n) }));
const uuids = (items: readonly { uuid: string }[]) => items.map(({ uuid }) => uuid);

/**
 * A server whose next commit a test can hold until a call has reached its actor, so that it comes between two turns.
 */
async function startHeldServer(t: ExecutionContext) {
  let onCommit = async () => {};
  const schedule: Schedule = async (method, apply) => {
    const done = apply();
    if (method === 'commit') await onCommit();
    return done;
  };
  const server = await startServer(t, { host: { schedule } });
  const heldUntil = (command: string) =>
    new Promise<void>((resolve) => {
      onCommit = async () => {
        onCommit = async () => {};
        const pending = server.transport.nextAskOf(command);
        resolve();
        await pending;
      };
    });
  return { server, heldUntil };
}

test('exactly one of several savers of the same version wins, and the others get the winner', async (t) => {
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
  // While another commit is in flight, the racing saves gather in the next one together.
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
  const sent: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      devices.map((_, n) => {
        if (round % 3 === n) return take(n, []);
        const uuid = uuidNumber(sent.length + 1);
        sent.push(uuid);
        return take(n, [note({ uuid })]);
      }),
    );
  }
  await Promise.all(devices.map((_, n) => take(n, [])));
  const all = (await (await server.device()).syncAll()).flatMap((page) => page.retrieved_items);
  t.true(sent.length > 50);
  t.deepEqual(uuids(all).sort(), sent);
  for (const seen of known) t.deepEqual([...seen].sort(), sent);
});

test('a save of another device between the turns of an upload is not missed', async (t) => {
  const { server, heldUntil } = await startHeldServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  const firstTurnIsOver = heldUntil('sync');
  const upload = phone.sync({ items: notes(2_500) });
  await firstTurnIsOver;
  const { saved_items: saved } = await laptop.sync({ items: notes(1, 9_001) });
  const { saved_items: uploaded } = await upload;
  const versions = [uploaded[0], saved[0], uploaded.at(-1)].map((item) => item?.updated_at_timestamp ?? 0);
  t.deepEqual(versions.toSorted(), versions);
  const known = await phone.syncAll();
  t.true(uuids(known.flatMap((page) => page.retrieved_items)).includes(uuidNumber(9_001)));
});

test('an upload whose session ends between its turns is refused, and saves no more', async (t) => {
  const { server, heldUntil } = await startHeldServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  const firstTurnIsOver = heldUntil('logout');
  const upload = phone.send({ items: notes(2_500) });
  await firstTurnIsOver;
  t.is((await server.call('POST', '/v1/logout', { bearer: phone.account.access })).status, 204);
  const { status, body } = await upload;
  t.deepEqual([status, body.error?.tag], [401, 'invalid-auth']);
  const saved = (await laptop.syncAll()).flatMap((page) => page.retrieved_items);
  t.is(saved.length, defaultItemSettings.turnLimits.items);
});
