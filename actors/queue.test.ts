import test from 'ava';
import { OverloadedError } from '../runtime/errors.ts';
import { drainPromises } from '../test/kit/clock.ts';
import { createQueue } from './queue.ts';

/** Work that ends when the test says so, and the order in which it began. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  return { begun, work, end: (name: string) => ends.get(name)?.() };
}

test('so many run at once, and the others in the order they came', async (t) => {
  const inTurn = createQueue({ concurrent: 2, waiting: 9 }, 'full');
  const { begun, work, end } = createWork();
  const all = ['a', 'b', 'c', 'd'].map((name) => inTurn(work(name)));
  await drainPromises();
  t.deepEqual(begun, ['a', 'b']);
  end('b');
  await drainPromises();
  t.deepEqual(begun, ['a', 'b', 'c']);
  for (const name of ['a', 'c']) end(name);
  await drainPromises();
  end('d');
  t.deepEqual(await Promise.all(all), ['a', 'b', 'c', 'd']);
});

test('what does not fit is refused at once', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 1 }, 'full');
  const { work } = createWork();
  for (const name of ['a', 'b']) void inTurn(work(name));
  await t.throwsAsync(inTurn(work('c')), { instanceOf: OverloadedError, message: 'full' });
});

test('work that throws gives its place to the next', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 1 }, 'full');
  const first = inTurn(() => Promise.reject(new Error('no')));
  const second = inTurn(async () => 'done');
  await t.throwsAsync(first, { message: 'no' });
  t.is(await second, 'done');
});

test('who is aborted while waiting never runs, and keeps no place', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 1 }, 'full');
  const { begun, work, end } = createWork();
  const abort = new AbortController();
  const first = inTurn(work('a'));
  const aborted = inTurn(work('b'), abort.signal);
  await drainPromises();
  abort.abort(new Error('enough'));
  await t.throwsAsync(aborted, { message: 'enough' });
  const third = inTurn(work('c'));
  await drainPromises();
  end('a');
  await drainPromises();
  end('c');
  t.deepEqual(await Promise.all([first, third]), ['a', 'c']);
  t.deepEqual(begun, ['a', 'c']);
});
