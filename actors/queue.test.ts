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

test('lanes take turns, however full one of them is', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 9 }, 'full');
  const { begun, work, end } = createWork();
  for (const name of ['a1', 'a2', 'a3']) void inTurn(work(name), undefined, 'a');
  for (const name of ['b1', 'b2']) void inTurn(work(name), undefined, 'b');
  for (let n = 0; n < 5; n += 1) {
    await drainPromises();
    end(begun.at(-1) ?? '');
  }
  t.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('a lane has its own bound, and others have room beside it', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 4, waitingPerLane: 2 }, 'full');
  const { work } = createWork();
  for (const name of ['a1', 'a2', 'a3']) void inTurn(work(name), undefined, 'a');
  await t.throwsAsync(inTurn(work('a4'), undefined, 'a'), { instanceOf: OverloadedError });
  void inTurn(work('b1'), undefined, 'b');
});

test('where nobody more may wait, the fullest lane makes room for one that has less', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 3 }, 'full');
  const { begun, work, end } = createWork();
  void inTurn(work('a1'), undefined, 'a');
  const [second, third, fourth] = ['a2', 'a3', 'a4'].map((name) => inTurn(work(name), undefined, 'a'));
  const other = inTurn(work('b1'), undefined, 'b');
  await t.throwsAsync(async () => fourth, { instanceOf: OverloadedError });
  await t.throwsAsync(inTurn(work('b2'), undefined, 'b'), { instanceOf: OverloadedError });
  for (let n = 0; n < 4; n += 1) {
    await drainPromises();
    end(begun.at(-1) ?? '');
  }
  t.deepEqual(await Promise.all([second, third, other]), ['a2', 'a3', 'b1']);
});
