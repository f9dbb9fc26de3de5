/** An account that differs in as many items as possible, and asks for the differences. */
import test from 'ava';
import { mismatchesMax } from '../../actors/collection/integrity.ts';
import { note } from '../kit/items.ts';
import { startServer } from '../kit/server.ts';

const more = 7;

test('an integrity check answers a bounded part, and a client that fetches it gets the others by the next check', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  for (const count of [mismatchesMax, more]) {
    await device.sync({ items: Array.from({ length: count }, () => note({ uuid: crypto.randomUUID() })) });
  }
  const first = await device.checkIntegrity([]);
  t.is(first.length, mismatchesMax);
  const second = await device.checkIntegrity(first);
  t.is(second.length, more);
  t.deepEqual(await device.checkIntegrity([...first, ...second]), []);
});
