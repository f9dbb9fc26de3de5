/** What one actor whose commits fail does to the others: nothing but a moment. */
import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { addAnew, count } from '../../test/kit/ledger.ts';
import { ModelDatabase, ModelStore } from '../../test/kit/model-store/model-store.ts';
import { sleep } from '../clock.ts';
import { command } from '../command.ts';
import { TerminalError, UnavailableError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import { kind } from '../kind.ts';
import { type Commit, StoreError, type StoreRead } from '../store/store.ts';
import { table } from '../table.ts';

const label = table({
  name: 'label',
  columns: { owner: 'text', number: 'int8', text: 'text', born: 'int8' },
  key: ['owner', 'number'],
  generation: 'born',
  unique: [['text']],
});

const till = kind({
  name: 'till',
  slices: [count],
  tables: [label],
  commands: {
    label: command(
      {
        request: z.object({ text: z.string(), number: z.number().default(0), freed: z.number().optional() }),
        reply: z.string(),
      },
      {
        creates: true,
        turn: (turn, { text, number = 0, freed }) => {
          if (freed !== undefined) turn.remove(label, { owner: turn.self.id, number: freed });
          else if (turn.conflicting(label, { text }) !== undefined) return 'taken';
          turn.set(count, turn.get(count) + 1);
          turn.insert(label, { owner: turn.self.id, number, text, born: turn.get(count) });
          return 'labelled';
        },
      },
    ),
    add: addAnew,
  },
});

/** Commits meet `before` first, which may wait or throw. */
class WatchedStore extends ModelStore {
  readonly batches: string[][] = [];
  reads = 0;
  before: (ids: readonly string[]) => Promise<void> = async () => {};

  override async commit(commits: readonly Commit[]): Promise<ReadonlySet<number>> {
    const ids = commits.map(({ address }) => address.id);
    this.batches.push(ids);
    await this.before(ids);
    return super.commit(commits);
  }

  override read(reads: readonly StoreRead[]) {
    this.reads += 1;
    return super.read(reads);
  }
}

const neighbours = Array.from({ length: 24 }, (_, index) => `n${index}`);

async function start(limits: Partial<Limits> = {}) {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const store = new WatchedStore(database);
  const host = await startTestHost({ kinds: [till], clock, database, store, limits });
  const add = (id: string) => host.actors.get(till, id).ask.add(1);
  const answersOf = (ids: readonly string[], ask: (id: string) => Promise<unknown>) => {
    const answers = new Map<string, unknown>();
    for (const id of ids) {
      ask(id).then(
        (value) => answers.set(id, value),
        (error) => answers.set(id, error),
      );
    }
    return answers;
  };
  const addAll = (ids: readonly string[]) => answersOf(ids, add);
  const labelIt = (id: string, text: string, more: { number?: number; freed?: number } = {}) =>
    host.actors.get(till, id).ask.label({ text, ...more });
  const labelAll = (texts: Readonly<Record<string, string>>) =>
    answersOf(Object.keys(texts), (id) => labelIt(id, texts[id] ?? ''));
  await Promise.all([...neighbours, 'a', 'b'].map(add));
  store.batches.length = 0;
  store.reads = 0;
  return { clock, database, store, add, addAll, labelIt, labelAll };
}

const addressOf = (id: string) => ({ kind: 'till', id });

test('actors whose rows are locked keep no other waiting, and fail in the end without effect', async (t) => {
  const { clock, database, addAll } = await start();
  for (const id of ['a', 'b']) database.lock(addressOf(id));
  const answers = addAll(['a', 'b', ...neighbours]);
  await clock.advance(1);
  t.deepEqual([...answers.keys()].sort(), [...neighbours].sort());
  await clock.advance(10_000);
  t.true(answers.get('a') instanceof UnavailableError);
  t.true(answers.get('b') instanceof UnavailableError);
  for (const id of ['a', 'b']) database.unlock(addressOf(id));
  const later = addAll(['a', 'b']);
  await clock.advance(1_000);
  t.deepEqual([...later.values()], [2, 2]);
});

test('a commit whose row was locked goes through once it is free', async (t) => {
  const { clock, database, addAll } = await start();
  database.lock(addressOf('a'));
  const answers = addAll(['a', 'n1']);
  await clock.advance(1_000);
  t.false(answers.has('a'));
  database.unlock(addressOf('a'));
  await clock.advance(1_000);
  t.is(answers.get('a'), 2);
});

test('an actor that was stuck goes alone until a commit of it has passed', async (t) => {
  const { clock, database, store, addAll } = await start();
  database.lock(addressOf('a'));
  addAll(['a', 'n1']);
  await clock.advance(10_000);
  store.batches.length = 0;
  const answers = addAll(['a', 'n1', 'n2']);
  await clock.advance(1_000);
  t.deepEqual(
    store.batches
      .slice(0, 2)
      .map((ids) => ids.join())
      .sort(),
    ['a', 'n1,n2'],
  );
  t.is(answers.get('n2'), 2);
  database.unlock(addressOf('a'));
  addAll(['a']);
  await clock.advance(1_000);
  store.batches.length = 0;
  addAll(['a', 'n1']);
  await drainPromises();
  t.deepEqual(store.batches, [['a', 'n1']]);
});

test('slots are free for commits that are not stuck, however many are', async (t) => {
  const { clock, database, store, addAll } = await start({ batchActorsMax: 1 });
  const stuck = neighbours.slice(0, 12);
  for (const id of stuck) database.lock(addressOf(id));
  addAll(stuck);
  await clock.advance(10_000);
  store.before = (ids) => (stuck.includes(ids[0] ?? '') ? new Promise(() => {}) : Promise.resolve());
  addAll(stuck);
  await clock.advance(1_000);
  const answers = addAll(['a', 'b']);
  await drainPromises();
  t.deepEqual([...answers.values()], [2, 2]);
});

test('commits that a look at the locks shows as innocent go again without the others, and as one', async (t) => {
  const { clock, database, store, addAll } = await start();
  database.lock(addressOf('a'));
  addAll(['a', 'b', ...neighbours]);
  await clock.advance(1);
  t.is(store.batches[0]?.length, neighbours.length + 2);
  t.is(store.batches[1]?.length, neighbours.length + 1);
});

test('where no lock is to be seen the one to blame is found by halves', async (t) => {
  const { clock, store, addAll } = await start();
  store.before = async (ids) => {
    if (ids.includes('a')) throw new StoreError('conflict', 'a row of it is locked');
  };
  const answers = addAll(['a', 'b', ...neighbours]);
  await clock.advance(1_000);
  t.deepEqual([...answers.keys()].sort(), ['b', ...neighbours].sort());
  await clock.advance(10_000);
  t.true(answers.get('a') instanceof UnavailableError);
  t.true(store.batches.length < 40, `${store.batches.length} statements`);
});

const ownTexts = Object.fromEntries(neighbours.map((id) => [id, id]));

test('those who collide with a taken key are found by one look, and the others go again as one', async (t) => {
  const { store, labelIt, labelAll } = await start();
  await labelIt('x', 'taken');
  store.batches.length = 0;
  const answers = labelAll({ ...ownTexts, a: 'taken', b: 'taken' });
  await drainPromises();
  t.deepEqual([answers.get('a'), answers.get('b')], ['taken', 'taken']);
  t.is([...answers.values()].filter((answer) => answer === 'labelled').length, neighbours.length);
  t.deepEqual(
    store.batches.map((ids) => ids.length),
    [neighbours.length + 2, neighbours.length],
  );
  t.is(store.reads, 1);
});

test('one of several commits that want one new key gets it, and no other commit notices', async (t) => {
  const { clock, store, labelAll } = await start();
  const answers = labelAll({ ...ownTexts, a: 'same', b: 'same' });
  await clock.advance(1_000);
  t.deepEqual([answers.get('a'), answers.get('b')], ['labelled', 'taken']);
  t.is([...answers.values()].filter((answer) => answer === 'labelled').length, neighbours.length + 1);
  t.true(store.batches.length < 6, `${store.batches.length} statements`);
});

test('a commit that frees a key and takes it again is not blamed for the collision of another', async (t) => {
  const { labelIt, store } = await start();
  await labelIt('x', 'taken');
  await labelIt('a', 'mine', { number: 1 });
  store.batches.length = 0;
  const answers = await Promise.all([
    labelIt('a', 'mine', { number: 2, freed: 1 }),
    labelIt('b', 'taken'),
    labelIt('n1', 'one'),
  ]);
  t.deepEqual(answers, ['labelled', 'taken', 'labelled']);
  t.deepEqual(store.batches, [
    ['a', 'b', 'n1'],
    ['a', 'n1'],
  ]);
});

test('where the look at the keys fails the one to blame is found by halves, and fails with nothing applied', async (t) => {
  const { store, labelIt, labelAll } = await start();
  await labelIt('x', 'taken');
  store.read = () => Promise.reject(new StoreError('unavailable', 'no connection'));
  const answers = labelAll({ ...ownTexts, a: 'taken' });
  await drainPromises();
  t.true(answers.get('a') instanceof UnavailableError);
  t.is([...answers.values()].filter((answer) => answer === 'labelled').length, neighbours.length);
});

const lostWith = (culprit: string, clock: FakeClock) => async (ids: readonly string[]) => {
  if (!ids.includes(culprit)) return;
  await sleep(clock, 10_000);
  throw new StoreError('unknown', '57014');
};

test('a commit that always times out takes others along once, goes alone, and fails before its caller gives up', async (t) => {
  const { clock, store, addAll } = await start();
  store.before = lostWith('a', clock);
  const first = addAll(['a', 'b', ...neighbours]);
  await clock.advance(10_100);
  t.deepEqual([...first.keys()].sort(), ['b', ...neighbours].sort());
  await clock.advance(10_100);
  t.true(first.get('a') instanceof TerminalError, `${first.get('a')}`);
  store.batches.length = 0;
  const second = addAll(['a', 'b', ...neighbours]);
  await drainPromises();
  t.is(second.size, neighbours.length + 1);
  await clock.advance(30_000);
  t.true(store.batches.filter((ids) => ids.includes('a')).every((ids) => ids.length === 1));
});

test('a commit that was lost once and then goes through is as any other', async (t) => {
  const { clock, store, addAll } = await start();
  let losses = 1;
  store.before = async (ids) => {
    if (!ids.includes('a') || losses === 0) return;
    losses -= 1;
    throw new StoreError('unknown', '57P01');
  };
  const answers = addAll(['a', 'b']);
  await clock.advance(100);
  t.deepEqual([...answers.values()], [2, 2]);
});
