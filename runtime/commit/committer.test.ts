/** What one actor whose commits fail does to the others: nothing but a moment. */
import test from 'ava';
import { z } from 'zod';
import { FakeClock, settled } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { command } from '../command.ts';
import { UnavailableError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import { kind } from '../kind.ts';
import { noMetrics } from '../ports.ts';
import { slice } from '../slice.ts';
import { ModelDatabase, ModelStore } from '../store/model.ts';
import { type Commit, StoreError } from '../store/store.ts';

const count = slice({ name: 'count', format: 1, schema: z.number(), initial: 0 });

const till = kind({
  name: 'till',
  slices: [count],
  commands: {
    add: command({
      request: z.number(),
      reply: z.number(),
      creates: true,
      turn: (turn, by) => {
        turn.set(count, turn.get(count) + by);
        return turn.get(count);
      },
    }),
  },
});

/** Commits meet `before` first, which may wait or throw. */
class WatchedStore extends ModelStore {
  readonly batches: string[][] = [];
  before: (ids: readonly string[]) => Promise<void> = async () => {};

  override async commit(commits: readonly Commit[]): Promise<ReadonlySet<number>> {
    const ids = commits.map(({ address }) => address.id);
    this.batches.push(ids);
    await this.before(ids);
    return super.commit(commits);
  }
}

const neighbours = Array.from({ length: 24 }, (_, index) => `n${index}`);

async function start(limits: Partial<Limits> = {}) {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const store = new WatchedStore(database);
  const outcomes: string[] = [];
  const metrics = { ...noMetrics, commit: (outcome: string) => void outcomes.push(outcome) };
  const host = await startTestHost({ kinds: [till], clock, database, store, limits, metrics });
  const add = (id: string) => host.actors.get(till, id).ask.add(1);
  const addAll = (ids: readonly string[]) => {
    const answers = new Map<string, unknown>();
    for (const id of ids) {
      add(id).then(
        (value) => answers.set(id, value),
        (error) => answers.set(id, error),
      );
    }
    return answers;
  };
  await Promise.all([...neighbours, 'a', 'b'].map(add));
  store.batches.length = 0;
  return { clock, database, store, outcomes, add, addAll };
}

const addressOf = (id: string) => ({ kind: 'till', id });

test('actors whose rows are locked keep no other waiting, and are told in the end that nothing took effect', async (t) => {
  const { clock, database, add, addAll } = await start();
  for (const id of ['a', 'b']) database.lock(addressOf(id));
  const answers = addAll(['a', 'b', ...neighbours]);
  await clock.advance(1);
  t.deepEqual([...answers.keys()].sort(), [...neighbours].sort());
  await clock.advance(10_000);
  t.true(answers.get('a') instanceof UnavailableError);
  t.true(answers.get('b') instanceof UnavailableError);
  for (const id of ['a', 'b']) database.unlock(addressOf(id));
  t.is(await add('a'), 2);
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
  const { clock, database, store, add, addAll } = await start();
  database.lock(addressOf('a'));
  addAll(['a', 'n1']);
  await clock.advance(10_000);
  store.batches.length = 0;
  const answers = addAll(['a', 'n1', 'n2']);
  await settled();
  t.deepEqual(
    store.batches
      .slice(0, 2)
      .map((ids) => ids.join())
      .sort(),
    ['a', 'n1,n2'],
  );
  t.is(answers.get('n2'), 2);
  database.unlock(addressOf('a'));
  await add('a');
  store.batches.length = 0;
  addAll(['a', 'n1']);
  await settled();
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
  await settled();
  const answers = addAll(['a', 'b']);
  await settled();
  t.deepEqual([...answers.values()], [2, 2]);
});

test('whom a look at the locks shows as innocent goes again without the others, and as one', async (t) => {
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
