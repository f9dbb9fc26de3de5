/** Attacks on the history of items: duplicates that make the server write much more than the client sent. */
import test from 'ava';
import { revision } from '../../actors/collection/revisions/table.ts';
import type { Device } from '../kit/device.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const dayMs = 86_400_000;
const largeBytes = 1_048_576;
const original = uuidNumber(1_000);
const duplicates = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => note({ uuid: uuidNumber(from + at), duplicate_of: original }));

async function largeRevisions(server: TestServer, { account }: Device): Promise<number> {
  const [answer] = await server.host.store.read([
    { read: 'range', table: revision, owner: account.userUuid, after: 0, through: 1e12, limit: 1e4 },
  ]);
  return (answer?.rows ?? []).filter(({ size }) => Number(size) > largeBytes).length;
}

test('small duplicates of a large note have a bounded part of its history copied, and all are saved', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  await device.save(note({ uuid: original, content: 'x'.repeat(largeBytes) }));
  const soon = () => server.advance(10_000);

  await device.save(duplicates(1, 1)[0]);
  await soon();
  t.is(await largeRevisions(server, device), 1, 'an ordinary duplicate has all of it');

  const { saved_items: saved } = await device.sync({ items: duplicates(100, 40) });
  t.is(saved.length, 40);
  await soon();
  const atOnce = await largeRevisions(server, device);
  t.true(atOnce > 10 && atOnce <= 1 + 8 + 16, `${atOnce}`);

  t.is((await device.sync({ items: duplicates(200, 40) })).saved_items.length, 40);
  await soon();
  t.true((await largeRevisions(server, device)) <= atOnce + 1, 'the next sync has no allowance of its own');

  await server.advance(dayMs);
  t.is((await device.sync({ items: duplicates(300, 40) })).saved_items.length, 40);
  await soon();
  const nextDay = await largeRevisions(server, device);
  t.true(nextDay > atOnce + 10 && nextDay <= atOnce + 17, `${nextDay} after ${atOnce}`);
});
