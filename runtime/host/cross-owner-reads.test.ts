/** Cross-owner reads whose answers are remembered (runtime/read/unchanged-since.ts): never longer than they are true. */
import test from 'ava';
import fc from 'fast-check';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import { type CrossOwnerResult, command, crossOwner, sharedRead } from '../command.ts';
import { kind } from '../kind.ts';
import { slice } from '../slice.ts';
import { type Commit, StoreError, type StoreRead } from '../store/store.ts';
import { versionTable } from '../store/tables.ts';
import { table } from '../table.ts';

const position = slice({ name: 'position', format: 1, schema: z.number(), initial: 0 });
const page = table({
  name: 'page',
  columns: { house: 'text', name: 'text', position: 'int8' },
  key: ['house', 'name'],
  order: 'position',
});
const guest = table({
  name: 'guest',
  columns: { house: 'text', who: 'text' },
  key: ['house', 'who'],
});

const house = kind({
  name: 'house',
  slices: [position],
  tables: [page, guest],
  membershipTable: guest,
  commands: {
    write: command(
      { request: z.string(), reply: z.number() },
      {
        creates: true,
        turn: (turn, name) => {
          const next = turn.get(position) + 1;
          turn.set(position, next);
          turn.put(page, { house: turn.self.id, name, position: next });
          return next;
        },
      },
    ),
    admit: command(
      { request: z.boolean(), reply: z.null() },
      {
        creates: true,
        turn: (turn, isGuest) => {
          const row = { house: turn.self.id, who: 'me' };
          if (isGuest) turn.put(guest, row);
          else turn.remove(guest, row);
          return null;
        },
      },
    ),
  },
});

const shape = { request: z.record(z.string(), z.number()), reply: z.array(z.string()) };
const pagesOf = (after: Readonly<Record<string, number>>) => ({
  pages: crossOwner(page, {
    membership: { table: guest, member: 'me' },
    owners: Object.entries(after).map(([owner, position]) => ({ owner, after: position })),
    limit: 3,
  }),
});
const named = ({ owners }: CrossOwnerResult<typeof page>) =>
  owners.map(({ owner, rows, upTo }) => [owner, ...rows.map(({ name }) => name), upTo].join(' '));

const reader = kind({
  name: 'reader',
  commands: {
    begin: command({ request: z.null(), reply: z.null() }, { creates: true, turn: () => null }),
    call: sharedRead(shape, {
      reads: (_view, after) => pagesOf(after),
      answer: (_view, _after, { pages }) => named(pages),
    }),
    callInTurn: command(shape, {
      reads: (_view, after) => pagesOf(after),
      turn: (_turn, _after, { pages }) => named(pages),
    }),
  },
});

/** Notes which owners the database is asked for, and whose versions. */
class WatchedStore extends ModelStore {
  readonly readLog: string[] = [];
  readonly commits: Commit[] = [];

  override read(reads: readonly StoreRead[]) {
    for (const read of reads) {
      if (read.read === 'crossOwner') this.readLog.push(read.owners.map(({ owner }) => owner).join());
      if (read.table === versionTable && read.read === 'keys')
        this.readLog.push(`version of ${read.keys.map(({ id }) => id).join()}`);
    }
    return super.read(reads);
  }

  override commit(commits: readonly Commit[]) {
    this.commits.push(...commits);
    return super.commit(commits);
  }

  reads(): readonly string[] {
    return this.readLog.splice(0);
  }
}

const idleMs = 1_000;

/** How one commit goes wrong: it is applied at once, later, or never. */
type Loss = 'none' | 'held' | 'applied' | 'lost';

async function start() {
  let loss: Loss = 'none';
  let isNextAnswerHeld = false;
  const held: (() => void)[] = [];
  const schedule: Schedule = async (method, apply) => {
    await undefined;
    if (method === 'read' && isNextAnswerHeld) {
      isNextAnswerHeld = false;
      const answer = await apply();
      await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    }
    if (method !== 'commit' || loss === 'none') return apply();
    const how = loss;
    loss = 'none';
    if (how === 'held') await new Promise<void>((resolve) => held.push(resolve));
    if (how === 'applied') apply();
    if (how !== 'held') throw new StoreError('unknown', 'no answer came');
    return apply();
  };
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const store = new WatchedStore(database, schedule);
  const host = await startTestHost({ kinds: [house, reader], clock, database, store, limits: { idleMs } });
  const me = host.actors.get(reader, 'me').ask;
  await me.begin(null);
  const at = (id: string) => host.actors.get(house, id).ask;
  const lose = (how: Loss) => {
    loss = how;
  };
  const holdNextAnswer = () => {
    isNextAnswerHeld = true;
  };
  const release = () => {
    for (const each of held.splice(0)) each();
  };
  return { ...host, store, database, me, at, lose, holdNextAnswer, release };
}

async function furnished(...houses: readonly string[]) {
  const started = await start();
  for (const id of houses) {
    await started.at(id).admit(true);
    await started.at(id).write('first');
  }
  return started;
}

test('an owner with nothing new is not read again, however it is asked for', async (t) => {
  const { me, store } = await furnished('a', 'b');
  t.deepEqual(await me.call({ a: 0, b: 1 }), ['a first 1', 'b 1']);
  t.deepEqual(store.reads(), ['a,b']);
  t.deepEqual(await me.call({ a: 1, b: 1 }), ['a 1', 'b 1']);
  t.deepEqual(await me.callInTurn({ b: 1, a: 1 }), ['b 1', 'a 1']);
  t.deepEqual(store.reads(), []);
  t.deepEqual(await me.callInTurn({ a: 1, b: 0 }), ['a 1', 'b first 1']);
  t.deepEqual(store.reads(), ['b']);
});

test('a change is found by the next read, and so is its end of admission', async (t) => {
  const { me, at, store } = await furnished('a', 'b');
  await me.call({ a: 1, b: 1 });
  await at('a').write('second');
  store.reads();
  t.deepEqual(await me.call({ a: 1, b: 1 }), ['a second 2', 'b 1']);
  t.deepEqual(store.reads(), ['a']);
  await at('b').admit(false);
  t.deepEqual(await me.call({ a: 2, b: 1 }), ['a 2']);
  await at('b').admit(true);
  t.deepEqual(await me.call({ a: 2, b: 1 }), ['a 2', 'b 1']);
});

test('while a commit is on its way the database is asked whether it has come', async (t) => {
  const { me, at, store, lose, release } = await furnished('a');
  await me.call({ a: 1 });
  store.reads();
  lose('held');
  const writing = at('a').write('second');
  await drainPromises();
  t.deepEqual(await me.call({ a: 1 }), ['a 1']);
  t.deepEqual(await me.call({ a: 1 }), ['a 1']);
  t.deepEqual(store.reads(), ['version of a', 'a', 'version of a']);
  release();
  await writing;
  t.deepEqual(await me.call({ a: 1 }), ['a second 2']);
});

test('an answer that comes after a commit is of before it, and is not remembered', async (t) => {
  const { me, at, holdNextAnswer, release } = await furnished('a');
  holdNextAnswer();
  const asking = me.call({ a: 1 });
  await drainPromises();
  await at('a').write('second');
  release();
  t.deepEqual(await asking, ['a 1']);
  t.deepEqual(await me.call({ a: 1 }), ['a second 2']);
});

test('a commit whose answer was lost is found once its outcome is known', async (t) => {
  const { me, at, lose, clock } = await furnished('a');
  for (const how of ['applied', 'lost'] as const) {
    const [before] = await me.call({ a: 0 });
    lose(how);
    const writing = at('a').write(how);
    for (let rounds = 0; rounds < 20; rounds += 1) {
      await me.call({ a: rounds % 3 });
      await clock.advance(50);
    }
    const written = await writing;
    t.deepEqual(await me.call({ a: written - 1 }), [`a ${how} ${written}`], before);
  }
});

test('an actor that has left memory is known as before', async (t) => {
  const { me, at, store, clock } = await furnished('a');
  await me.call({ a: 1 });
  store.reads();
  await clock.advance(2 * idleMs);
  await me.begin(null);
  await me.call({ a: 1 });
  await me.call({ a: 1 });
  // The reader had left memory as well.
  t.deepEqual(store.reads(), ['a']);
  await at('a').write('second');
  t.deepEqual(await me.call({ a: 1 }), ['a second 2']);
});

test('a late commit of an earlier owner is found until the actor is activated here', async (t) => {
  const { restart, database, store } = await furnished('a');
  const last = store.commits.filter(({ address }) => address.id === 'a').at(-1);
  if (last === undefined) return t.fail();
  const { actors } = await restart();
  const me = actors.get(reader, 'me').ask;
  t.deepEqual(await me.call({ a: 1 }), ['a 1']);
  const late = { house: 'a', name: 'late', position: 2 };
  const writes = [{ table: page, put: late, isNew: true }];
  // Its fence still lets it pass, as nobody has raised it since.
  const passed = database.commit([{ ...last, version: last.version + 1, commitId: 'late', writes }]);
  t.true(passed.has(0));
  t.deepEqual(await me.call({ a: 1 }), ['a late 2']);
});

const id = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: id, name: fc.constantFrom('x', 'y') }) },
  { weight: 1, arbitrary: fc.record({ admit: id, isGuest: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ lose: fc.constantFrom<Loss>('held', 'applied', 'lost') }) },
  { weight: 1, arbitrary: fc.record({ idleMs: fc.constantFrom(10, 2 * idleMs) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      call: fc.constantFrom('call' as const, 'callInTurn' as const),
      after: fc.dictionary(id, fc.integer({ min: 0, max: 6 })),
    }),
  },
);

test('a reader with a cache gets what a reader without one gets, through any commits and losses', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { me, actors, at, lose, release, clock } = await furnished('a', 'b', 'c');
      const finish = async () => {
        release();
        for (let waits = 0; waits < 5; waits += 1) await clock.advance(500);
      };
      for (const each of steps) {
        if ('write' in each)
          void at(each.write)
            .write(each.name)
            .catch(() => undefined);
        else if ('admit' in each)
          void at(each.admit)
            .admit(each.isGuest)
            .catch(() => undefined);
        else if ('lose' in each) lose(each.lose);
        else if ('idleMs' in each) await clock.advance(each.idleMs);
        else if (Object.keys(each.after).length > 0) {
          // Also beside what is on its way.
          await me[each.call](each.after);
          await finish();
          const remembered = await me[each.call](each.after);
          const other = actors.get(reader, `other ${steps.indexOf(each)}`).ask;
          await other.begin(null);
          t.deepEqual(remembered, await other.call(each.after));
        }
      }
      await finish();
    }),
    { seed: 11, numRuns: 150 },
  );
});
