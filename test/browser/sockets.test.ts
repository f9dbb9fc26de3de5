/**
 * The client's own socket: it gets a token and dials by itself, and hears of another device's saves. The published
 * library does not sync on that frame yet, as later ones do, so the test looks at the frame itself.
 */
import test from 'ava';
import type { Device } from './device.ts';
import { World } from './world.ts';

const account = { email: 'sockets@example.org', password: 'correct horse battery' };
const style = { pageOrigin: 'other', apiVersion: '20240226' } as const;
/** Well below the thirty seconds after which a client without a socket asks by itself. */
const limitMs = 5_000;

test('a save of one device reaches the client of another through its socket', async (t) => {
  const world = await World.open();
  t.teardown(() => world.close());
  const [a, b] = [await world.device('a', style), await world.device('b', style)];
  await a.client.register(account);
  t.is(await b.client.signIn(account), undefined);
  await a.client.openSocket();
  await b.client.openSocket();

  await a.client.createNote({ title: 'from a', text: 'pushed' });
  t.true(await a.client.sync());
  t.is(await nextFrame(b), 'ITEMS_CHANGED_ON_SERVER');
  t.true(await b.client.sync());
  t.deepEqual(
    (await b.client.notes()).map(({ title }) => title),
    ['from a'],
  );
  t.deepEqual(a.frames, []);
  t.true(a.hasOpenSocket && b.hasOpenSocket);
  t.deepEqual(world.serverFailures, []);
});

async function nextFrame({ frames }: Device): Promise<string> {
  const untilMs = performance.now() + limitMs;
  while (frames.length === 0) {
    if (performance.now() > untilMs) throw new Error('No frame came.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return JSON.parse(frames[0] ?? '').type;
}
