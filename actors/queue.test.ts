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

test('work that does not fit the queue is refused at once', async (t) => {
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

test('a waiting call that is aborted never runs, and keeps no place', async (t) => {
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

test('keys take turns, however full one of them is', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 9 }, 'full');
  const { begun, work, end } = createWork();
  for (const name of ['a1', 'a2', 'a3']) void inTurn(work(name), undefined, ['a']);
  for (const name of ['b1', 'b2']) void inTurn(work(name), undefined, ['b']);
  for (let n = 0; n < 5; n += 1) {
    await drainPromises();
    end(begun.at(-1) ?? '');
  }
  t.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('a key has its own bound, and others have room beside it', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 4, waitingPerKey: 2 }, 'full');
  const { work } = createWork();
  for (const name of ['a1', 'a2', 'a3']) void inTurn(work(name), undefined, ['a']);
  await t.throwsAsync(inTurn(work('a4'), undefined, ['a']), { instanceOf: OverloadedError });
  void inTurn(work('b1'), undefined, ['b']);
});

test('where nobody more may wait, the fullest key makes room for one that has less', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 3 }, 'full');
  const { begun, work, end } = createWork();
  void inTurn(work('a1'), undefined, ['a']);
  const [second, third, fourth] = ['a2', 'a3', 'a4'].map((name) => inTurn(work(name), undefined, ['a']));
  const other = inTurn(work('b1'), undefined, ['b']);
  await t.throwsAsync(async () => fourth, { instanceOf: OverloadedError });
  await t.throwsAsync(inTurn(work('b2'), undefined, ['b']), { instanceOf: OverloadedError });
  for (let n = 0; n < 4; n += 1) {
    await drainPromises();
    end(begun.at(-1) ?? '');
  }
  t.deepEqual(await Promise.all([second, third, other]), ['a2', 'a3', 'b1']);
});

/** Ends what runs and lets the next begin, until nothing waits. */
async function drain({ begun, end }: ReturnType<typeof createWork>, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await drainPromises();
    end(begun.at(-1) ?? '');
  }
}

test('keys within one another take turns within the turns of the widest', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 9 }, 'full');
  const work = createWork();
  const keys = {
    running: ['a', '0'],
    a1: ['a', '1'],
    a2: ['a', '2'],
    a2b: ['a', '2'],
    a3: ['a', '3'],
    b: ['b', '1'],
  };
  for (const [name, key] of Object.entries(keys)) void inTurn(work.work(name), undefined, key);
  await drain(work, 6);
  t.deepEqual(work.begun, ['running', 'a1', 'b', 'a2', 'a3', 'a2b']);
});

test('a caller with a thousand keys in a wide key gives way to a caller of another', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 256, waitingPerKey: 64 }, 'full');
  const work = createWork();
  const crowd = Array.from({ length: 1000 }, (_, n) =>
    inTurn(work.work(`${n}`), undefined, ['crowd', `${n}`]),
  );
  const refused = Promise.allSettled(crowd);
  const owner = inTurn(work.work('owner'), undefined, ['home', 'home']);
  await drain(work, 257);
  t.is(await owner, 'owner');
  t.deepEqual(work.begun.slice(0, 3), ['0', '1', 'owner']);
  t.is((await refused).filter(({ status }) => status === 'rejected').length, 744);
});

test('where the fullest of the widest keys is the newcomer’s own, room is made within it', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 3 }, 'full');
  const work = createWork();
  void inTurn(work.work('running'), undefined, ['a', '1']);
  const [first, second, third] = ['1', '1b', '1c'].map((name) =>
    inTurn(work.work(name), undefined, ['a', '1']),
  );
  const neighbour = inTurn(work.work('2'), undefined, ['a', '2']);
  await t.throwsAsync(async () => third, { instanceOf: OverloadedError });
  const another = inTurn(work.work('3'), undefined, ['a', '3']);
  await t.throwsAsync(async () => second, { instanceOf: OverloadedError });
  await t.throwsAsync(inTurn(work.work('4'), undefined, ['a', '4']), { instanceOf: OverloadedError });
  await drain(work, 4);
  t.deepEqual(await Promise.all([first, neighbour, another]), ['1', '2', '3']);
});

test('an aborted call leaves every key around its own', async (t) => {
  const inTurn = createQueue({ concurrent: 1, waiting: 2 }, 'full');
  const work = createWork();
  void inTurn(work.work('running'), undefined, ['a', '1']);
  const abort = new AbortController();
  const aborted = ['1', '2'].map((n) => inTurn(work.work(`a${n}`), abort.signal, ['a', n]));
  abort.abort(new Error('enough'));
  for (const { status } of await Promise.allSettled(aborted)) t.is(status, 'rejected');
  const [first, second] = ['b1', 'b2'].map((name) => inTurn(work.work(name), undefined, ['b']));
  const newcomer = inTurn(work.work('a3'), undefined, ['a', '3']);
  await t.throwsAsync(async () => second, { instanceOf: OverloadedError });
  await drain(work, 3);
  t.deepEqual(await Promise.all([first, newcomer]), ['b1', 'a3']);
});
