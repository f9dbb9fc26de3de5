import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { addAnew, count, ledgerCommands } from '../../test/kit/ledger.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import { command, keys, type View } from '../command.ts';
import { RetryableError, TerminalError } from '../errors.ts';
import type { Ask } from '../handles.ts';
import type { Limits } from '../host/limits.ts';
import { kind } from '../kind.ts';
import { slice, sliceBytesMax } from '../slice.ts';
import { StoreError } from '../store/store.ts';
import { table } from '../table.ts';

const note = slice({ name: 'note', format: 1, schema: z.string(), initial: '' });
const slot = table({
  name: 'slot',
  columns: { owner: 'text', slot: 'int8', label: 'text' },
  key: ['owner', 'slot'],
  unique: [['label']],
});
const born = table({
  name: 'born',
  columns: { owner: 'text', name: 'text', generation: 'int8' },
  key: ['owner', 'name'],
  generation: 'generation',
});

const desk = kind({
  name: 'desk',
  slices: [count, note],
  tables: [slot, born],
  commands: {
    add: addAnew,
    peek: ledgerCommands.get,
    durable: ledgerCommands.peek,
    write: command({ request: z.string(), reply: z.number() }, (turn, text) => {
      turn.set(note, text);
      return turn.get(count);
    }),
    label: command(
      { request: z.object({ slot: z.number(), label: z.string() }), reply: z.string() },
      {
        creates: true,
        turn: (turn, { slot: number, label }) => {
          if (turn.conflicting(slot, { label }) !== undefined) return 'taken';
          turn.insert(slot, { owner: turn.self.id, slot: number, label });
          return 'labelled';
        },
      },
    ),
    /** A row more, once it is known that its slot is free. */
    append: command(
      { request: z.string(), reply: z.number() },
      {
        creates: true,
        reads: (view) => ({ next: keys(slot, [{ owner: view.self.id, slot: view.get(count) + 1 }]) }),
        turn: (turn, label, { next }) => {
          const key = { owner: turn.self.id, slot: turn.get(count) + 1 };
          if (next.get(key) !== undefined) throw new TerminalError('the slot is taken');
          turn.put(slot, { ...key, label });
          turn.set(count, key.slot);
          return key.slot;
        },
      },
    ),
    labels: command(
      { request: z.null(), reply: z.array(z.string()) },
      {
        reads: (view) => ({ rows: keys(slot, slotsOf(view)) }),
        turn: (turn, _request, { rows }) => slotsOf(turn).map((key) => rows.get(key)?.label ?? 'none'),
      },
    ),
    labelBeyond: command(
      { request: z.null(), reply: z.string() },
      {
        reads: (view) => ({ rows: keys(slot, slotsOf(view)) }),
        turn: (turn, _request, { rows }) =>
          rows.get({ owner: turn.self.id, slot: turn.get(count) + 1 })?.label ?? 'none',
      },
    ),
    forget: command({ request: z.string(), reply: z.string() }, (turn, name) => {
      turn.remove(born, { owner: turn.self.id, name });
      return 'forgotten';
    }),
    bear: command(
      { request: z.object({ name: z.string(), generation: z.number() }), reply: z.string() },
      {
        creates: true,
        turn: (turn, { name, generation }) => {
          if (turn.conflicting(born, { owner: turn.self.id, name }) !== undefined) return 'taken';
          turn.insert(born, { owner: turn.self.id, name, generation });
          return 'born';
        },
      },
    ),
  },
});

const slotsOf = (view: View) =>
  Array.from({ length: view.get(count) }, (_, index) => ({ owner: view.self.id, slot: index + 1 }));

function start(schedule: Schedule, limits: Partial<Limits> = {}) {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  return startTestHost({
    kinds: [desk],
    clock,
    database,
    store: new ModelStore(database, schedule),
    limits,
  });
}

/** A gate before one method of the store: closed, its calls wait. */
function gateBefore(method: string) {
  const waiting: (() => void)[] = [];
  let closed = false;
  return {
    calls: 0,
    close() {
      closed = true;
    },
    open() {
      closed = false;
      for (const go of waiting.splice(0)) go();
    },
    async pass(name: string): Promise<void> {
      await undefined;
      if (name !== method) return;
      this.calls += 1;
      if (closed) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

/** An actor whose count is 1. The answer to its next commit is lost, and the commit is not settled before the barrier opens. */
async function withNextCommitLost() {
  const barrier = gateBefore('barrier');
  let lose = false;
  const { actors } = await start(async (method, apply) => {
    await barrier.pass(method);
    const result = apply();
    if (!lose || method !== 'commit') return result;
    lose = false;
    throw new StoreError('unknown', 'the connection was lost');
  });
  const a = actors.get(desk, 'a').ask;
  await a.add(1);
  lose = true;
  barrier.close();
  return { a, barrier };
}

test('a call that comes while a lost commit is settled is answered once that commit proves applied', async (t) => {
  const { a, barrier } = await withNextCommitLost();
  const answers: number[] = [];
  void a.add(1).then((value) => answers.push(value));
  await drainPromises();
  void a.peek(null).then((value) => answers.push(value));
  void a.add(1).then((value) => answers.push(value));
  await drainPromises();
  t.deepEqual(answers, []);
  barrier.open();
  await drainPromises();
  t.deepEqual(answers, [2, 2, 3]);
});

/** Keeps a rejection that repeats itself without end from hanging the test. */
function atMostCommits(most: number): Schedule {
  let commits = 0;
  return async (method, apply) => {
    await undefined;
    if (method === 'commit') commits += 1;
    if (commits > most) await new Promise(() => {});
    return apply();
  };
}

test('two turns of one actor that take the same key under different ones are separated', async (t) => {
  const { actors } = await start(atMostCommits(20));
  const a = actors.get(desk, 'a').ask;
  const replies: string[] = [];
  for (const slot of [1, 2]) void a.label({ slot, label: 'x' }).then((reply) => replies.push(reply));
  await drainPromises();
  t.deepEqual(replies, ['labelled', 'taken']);
});

test('a key that is taken in a table whose own key alone is unique is found', async (t) => {
  const before = await start(atMostCommits(20));
  t.is(await before.actors.get(desk, 'a').ask.bear({ name: 'n', generation: 1 }), 'born');
  const { actors } = await before.restart();
  const a = actors.get(desk, 'a').ask;
  const replies: string[] = [];
  void a.bear({ name: 'n', generation: 2 }).then((reply) => replies.push(reply));
  await drainPromises();
  t.deepEqual(replies, ['taken']);
});

type AskDesk = Ask<(typeof desk)['commands']>;

/** What becomes of two adds, a turn that cannot be stored, a reading and an add, all merged into one commit. */
async function mergedWith(bad: (a: AskDesk) => Promise<unknown>): Promise<readonly unknown[]> {
  const commit = gateBefore('commit');
  const { actors } = await start(async (method, apply) => {
    await commit.pass(method);
    return apply();
  });
  const a = actors.get(desk, 'a').ask;
  await a.add(1);
  commit.close();
  const outcomes = Promise.allSettled([a.add(1), a.add(1), bad(a), a.peek(null), a.add(1)]);
  await drainPromises();
  commit.open();
  return (await outcomes).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : outcome.reason.class,
  );
}

test('a turn that wrote what cannot be written fails alone', async (t) => {
  const replies = await mergedWith((a) => a.write('x'.repeat(sliceBytesMax + 1)));
  t.deepEqual(replies, [2, 3, 'terminal', 3, 4]);
});

test('a turn that wrote what cannot be written fails alone, too, after a commit whose answer was lost', async (t) => {
  const { a, barrier } = await withNextCommitLost();
  const lost = a.add(1);
  await drainPromises();
  const later = Promise.allSettled([a.add(1), a.write('x'.repeat(sliceBytesMax + 1)), a.add(1)]);
  await drainPromises();
  barrier.open();
  t.is(await lost, 2);
  const outcomes = await later;
  t.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.class)),
    [3, 'terminal', 4],
  );
  t.is(await a.add(1), 5);
});

test('a turn whose commit the database calls a defect fails alone', async (t) => {
  const replies = await mergedWith((a) => a.label({ slot: 1, label: 'nul \u0000' }));
  t.deepEqual(replies, [2, 3, 'terminal', 3, 4]);
});

test('a shared read waits for an activation no longer than to its deadline', async (t) => {
  const activate = gateBefore('activate');
  const { actors, clock } = await start(async (method, apply) => {
    await activate.pass(method);
    return apply();
  });
  activate.close();
  let failure: unknown;
  actors
    .get(desk, 'a')
    .ask.durable(null, { deadlineMs: 2_000 })
    .catch((error) => {
      failure = error;
    });
  await clock.advance(3_000);
  t.true(failure instanceof RetryableError && failure.outcome === 'none');
});

test('no more shared reads wait for an activation than a mailbox holds', async (t) => {
  const activate = gateBefore('activate');
  const { actors } = await start(
    async (method, apply) => {
      await activate.pass(method);
      return apply();
    },
    { mailboxMax: 2 },
  );
  activate.close();
  const outcomes = Promise.allSettled([1, 2, 3].map(() => actors.get(desk, 'a').ask.durable(null)));
  await drainPromises();
  activate.open();
  t.deepEqual(
    (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.class),
    ['not-found', 'not-found', 'overloaded'],
  );
});

test('outcomes at the gate count towards the limit of an actor', async (t) => {
  const commit = gateBefore('commit');
  const { actors } = await start(
    async (method, apply) => {
      await commit.pass(method);
      return apply();
    },
    { mailboxMax: 3 },
  );
  const a = actors.get(desk, 'a').ask;
  await a.add(1);
  commit.close();
  const outcomes = Promise.allSettled([a.add(1), a.peek(null), a.peek(null), a.peek(null)]);
  await drainPromises();
  commit.open();
  t.deepEqual(
    (await outcomes).map((outcome) => (outcome.status === 'rejected' ? outcome.reason.class : outcome.value)),
    [2, 2, 2, 'overloaded'],
  );
});

test('an actor that a host dropped before its turn to activate came is not activated', async (t) => {
  const activate = gateBefore('activate');
  const { actors, host } = await start(
    async (method, apply) => {
      await activate.pass(method);
      return apply();
    },
    { activationsMax: 1 },
  );
  activate.close();
  const outcomes = Promise.allSettled(['a', 'b', 'c'].map((id) => actors.get(desk, id).ask.add(1)));
  await drainPromises();
  host.abandon();
  activate.open();
  await drainPromises();
  t.is(activate.calls, 1);
  t.true((await outcomes).every((outcome) => outcome.status === 'rejected'));
});

test('a key that was freed in the same commit may be taken as new again', async (t) => {
  const before = await start(atMostCommits(20));
  t.is(await before.actors.get(desk, 'a').ask.bear({ name: 'n', generation: 1 }), 'born');
  const { actors } = await before.restart();
  const a = actors.get(desk, 'a').ask;
  const replies: string[] = [];
  void a.forget('n').then((reply) => replies.push(reply));
  void a.bear({ name: 'n', generation: 2 }).then((reply) => replies.push(reply));
  await drainPromises();
  t.deepEqual(replies, ['forgotten', 'born']);
});

test('a turn that needs rows which the turns before it have written is planned again', async (t) => {
  const reads = gateBefore('read');
  const { actors } = await start(async (method, apply) => {
    await reads.pass(method);
    return apply();
  });
  const a = actors.get(desk, 'a').ask;
  await a.append('first');
  reads.close();
  const answers = Promise.all([a.append('second'), a.append('third'), a.labels(null)]);
  await drainPromises();
  reads.open();
  t.deepEqual(await answers, [2, 3, ['first', 'second', 'third']]);
});

test('a turn that never plans what it asks for fails', async (t) => {
  const { actors } = await start(atMostCommits(20));
  const a = actors.get(desk, 'a').ask;
  const answers = await Promise.allSettled([a.append('first'), a.append('second'), a.labelBeyond(null)]);
  t.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
});
