import test, { type ExecutionContext } from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import type { Address } from '../address.ts';
import { OverloadedError } from '../errors.ts';
import { defaultLimits, type Limits } from '../host/limits.ts';
import { noMetrics } from '../host/runtime-metrics.ts';
import { StoreError, type StoreRead, type StoreRows } from '../store/store.ts';
import { table } from '../table.ts';
import { Reader } from './reader.ts';

const note = table({
  name: 'note',
  columns: { owner: 'text', number: 'int8' },
  key: ['owner', 'number'],
  order: 'number',
});

const member = table({ name: 'member', columns: { owner: 'text', who: 'text' }, key: ['owner', 'who'] });

const addressOf = (id: string): Address => ({ kind: 'user', id });
const byKey = (owner: string, count = 1): StoreRead => ({
  read: 'keys',
  table: note,
  keys: Array.from({ length: count }, (_, number) => ({ owner, number })),
});
const page = (owner: string, budgetBytes: number): StoreRead => ({
  read: 'range',
  table: note,
  owner,
  after: 0,
  through: 9,
  limit: 9,
  budgetBytes,
});
const crossOwnerRead = (reader: string, budgetBytes: number): StoreRead => ({
  read: 'crossOwner',
  table: note,
  membership: { table: member, member: reader },
  owners: [{ owner: 'vault', after: 0 }],
  limit: 9,
  budgetBytes,
});
function ownerOf(read: StoreRead): string {
  switch (read.read) {
    case 'keys':
      return String(read.keys[0]?.['owner']);
    case 'lookup':
      return String(read.values[0]?.['owner']);
    case 'range':
      return read.owner;
    case 'crossOwner':
      return read.membership.member;
  }
}

/** A reader over a store that answers when the test says so: each read with its owner. */
function setUp(t: ExecutionContext, limits: Partial<Limits> = {}) {
  const clock = new FakeClock();
  const overloaded: string[] = [];
  const statements: string[] = [];
  const open: { answer(): void; fail(error: Error): void }[] = [];
  const read = (reads: readonly StoreRead[]) => {
    statements.push(reads.map(ownerOf).join(' '));
    return new Promise<readonly StoreRows[]>((resolve, reject) =>
      open.push({
        answer: () => resolve(reads.map((each) => ({ rows: [{ owner: ownerOf(each) }], complete: true }))),
        fail: reject,
      }),
    );
  };
  const reader = new Reader({
    store: { read },
    clock,
    limits: { ...defaultLimits, ...limits },
    metrics: { ...noMetrics, overloaded: (what) => overloaded.push(what) },
  });
  const answered: string[] = [];
  const note = (owner: string, answer: Promise<readonly StoreRows[]>) =>
    answer.then(
      (found) => answered.push(`${owner}: ${found.map(({ rows }) => rows[0]?.['owner']).join(' ')}`),
      (error: Error) => answered.push(`${owner}: ${error.message}`),
    );
  const end = async (how: (batch: { answer(): void; fail(error: Error): void }) => void) => {
    const batch = open.shift();
    if (batch === undefined) return t.fail('nothing is in flight');
    how(batch);
    await drainPromises();
  };
  return {
    reader,
    clock,
    statements,
    answered,
    overloaded,
    want: (owner: string, ...reads: StoreRead[]) =>
      void note(owner, reader.read(addressOf(owner), reads.length === 0 ? [byKey(owner)] : reads)),
    share: (owner: string) => void note(owner, reader.share(addressOf(owner), [byKey(owner)])),
    answer: () => end((batch) => batch.answer()),
    fail: (error: Error) => end((batch) => batch.fail(error)),
    async answerAll() {
      while (open.length > 0) await end((batch) => batch.answer());
    },
  };
}

test('reads of one tick are asked for at once, and each caller gets its own', async (t) => {
  const { reader, want, statements, answered, answer } = setUp(t);
  want('ada', byKey('ada'), byKey('ada'));
  want('bob');
  await drainPromises();
  t.deepEqual(statements, ['ada ada bob']);
  t.false(reader.isIdle);
  await answer();
  t.deepEqual(answered, ['ada: ada ada', 'bob: bob']);
  t.true(reader.isIdle);
});

test('while every slot is busy reads pile up, and one of each actor goes before a second of any', async (t) => {
  const { want, statements, answer } = setUp(t, { readsInFlightMax: 1, readBatchRowsMax: 3 });
  want('zoe');
  await drainPromises();
  for (const owner of ['ada', 'ada', 'ada', 'bob', 'cyd']) want(owner);
  await answer();
  await answer();
  t.deepEqual(statements, ['zoe', 'ada bob cyd', 'ada ada']);
});

test('the reads of one actor leave a slot to the others', async (t) => {
  const { want, statements, answerAll, reader } = setUp(t, { readsInFlightMax: 3, readBatchRowsMax: 1 });
  for (let count = 0; count < 5; count += 1) want('ada');
  await drainPromises();
  t.deepEqual(statements, ['ada', 'ada']);
  want('bob');
  await drainPromises();
  t.deepEqual(statements, ['ada', 'ada', 'bob']);
  await answerAll();
  t.is(statements.length, 6);
  t.true(reader.isIdle);
});

test('a batch of reads is bounded by rows and by bytes; a read that exceeds them is sent alone', async (t) => {
  const { want, statements, answerAll } = setUp(t, {
    readsInFlightMax: 1,
    readBatchRowsMax: 20,
    readBatchBytesMax: 100,
  });
  want('ada', byKey('ada', 50));
  want('bob', page('bob', 60));
  want('cyd', page('cyd', 60));
  want('dan');
  await answerAll();
  await drainPromises();
  await answerAll();
  t.deepEqual(statements, ['ada', 'bob', 'dan', 'cyd']);
});

test('more shared reads of one actor than it may have are overloaded, and those of others are not', async (t) => {
  const { share, want, answered, overloaded, answerAll, reader } = setUp(t, { sharedReadsOfActorMax: 2 });
  for (let count = 0; count < 3; count += 1) share('ada');
  share('bob');
  want('ada');
  await drainPromises();
  t.deepEqual(answered, ['ada: too many reads of this actor wait for the database']);
  t.deepEqual(overloaded, ['read']);
  await answerAll();
  t.is(answered.length, 5);
  t.true(reader.isIdle);
  share('ada');
  await drainPromises();
  t.false(reader.isIdle);
});

test('more reads than may wait on a host are overloaded', async (t) => {
  const { reader } = setUp(t, { readsInFlightMax: 1, readsWaitingMax: 1 });
  void reader.read(addressOf('ada'), [byKey('ada')]);
  await t.throwsAsync(reader.read(addressOf('bob'), [byKey('bob')]), { instanceOf: OverloadedError });
});

test('reads that the database gave up are asked for again, as often as a commit is', async (t) => {
  const { reader, want, statements, answered, answer, fail } = setUp(t);
  const conflict = new StoreError('conflict', 'restart transaction');
  want('ada');
  want('bob');
  await drainPromises();
  for (let times = 0; times < 12; times += 1) await fail(conflict);
  t.deepEqual(answered, []);
  await answer();
  t.deepEqual(answered, ['ada: ada', 'bob: bob']);
  t.deepEqual(statements, Array(13).fill('ada bob'));
  want('cyd');
  await drainPromises();
  for (let times = 0; times < 13; times += 1) await fail(conflict);
  t.is(answered.at(-1), 'cyd: restart transaction');
  t.true(reader.isIdle);
});

test('reads that the database gives up slowly are not asked for again once others have waited long enough', async (t) => {
  const { reader, want, statements, answered, fail, clock } = setUp(t);
  want('ada');
  await drainPromises();
  for (let times = 0; times < 3; times += 1) {
    await clock.advance(2_000);
    await fail(new StoreError('conflict', 'restart transaction'));
  }
  t.deepEqual(answered, ['ada: restart transaction']);
  t.is(statements.length, 3);
  t.true(reader.isIdle);
});

test('only the defective one of several simultaneous reads fails', async (t) => {
  const { want, statements, answered, answer, fail, reader } = setUp(t);
  const defect = new StoreError('defect', 'no such column');
  for (const owner of ['ada', 'bob', 'cyd']) want(owner);
  await drainPromises();
  await fail(defect);
  await fail(defect);
  await answer();
  await fail(defect);
  await answer();
  t.deepEqual(statements, ['ada bob cyd', 'ada bob', 'ada', 'bob', 'cyd']);
  t.deepEqual(answered, ['ada: ada', 'bob: no such column', 'cyd: cyd']);
  t.true(reader.isIdle);
});

test('when the database fails, reads that have waited too long fail with the others', async (t) => {
  const { want, clock, answered, fail, reader, answerAll } = setUp(t, {
    readsInFlightMax: 1,
    readWaitMaxMs: 1_000,
  });
  want('ada');
  await drainPromises();
  want('bob');
  await clock.advance(1_000);
  want('cyd');
  await fail(new StoreError('unavailable', 'no connection'));
  t.deepEqual(answered, ['ada: no connection', 'bob: a read waited too long']);
  await answerAll();
  t.deepEqual(answered.at(-1), 'cyd: cyd');
  t.true(reader.isIdle);
});

test('a range that fails fails no other read of its batch, and does not delay it', async (t) => {
  const { reader, want, statements, answered, answer, fail } = setUp(t);
  want('ada', page('ada', 10));
  want('bob');
  want('cyd');
  await drainPromises();
  t.deepEqual(statements, ['bob cyd', 'ada']);
  await answer();
  t.deepEqual(answered, ['bob: bob', 'cyd: cyd']);
  await fail(new StoreError('unavailable', 'too slow'));
  t.deepEqual(answered.slice(2), ['ada: too slow']);
  t.true(reader.isIdle);
});

test('a cross-owner read counts by its limit, its owners and its budget, and goes by itself', async (t) => {
  const { want, statements, answerAll } = setUp(t, {
    readsInFlightMax: 1,
    readBatchRowsMax: 20,
    readBatchBytesMax: 100,
  });
  want('ada', byKey('ada', 10));
  want('bob', crossOwnerRead('bob', 60));
  want('cyd');
  await answerAll();
  await drainPromises();
  await answerAll();
  t.deepEqual(statements, ['ada', 'bob', 'cyd']);
});
