import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost, testNode } from '../../test/kit/host.ts';
import { addAnew, count, ledgerCommands } from '../../test/kit/ledger.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { sweepOf } from '../../test/store/actors.ts';
import {
  type CrossOwnerResult,
  command,
  crossOwner,
  keys,
  lookup,
  range,
  sharedRead,
  tell,
  timer,
  workflow,
} from '../command.ts';
import { contract } from '../contract.ts';
import {
  MovedError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../errors.ts';
import { kind } from '../kind.ts';
import { sliceMap } from '../slice.ts';
import { StoreError } from '../store/store.ts';
import { table } from '../table.ts';
import { InProcessTransport } from '../transport/in-process.ts';
import type { TransportHandler } from '../transport/transport.ts';
import { noMetrics } from './runtime-metrics.ts';

const labels = sliceMap({ family: 'label', format: 1, schema: z.string(), entriesMax: 3 });
const entry = table({
  name: 'entry',
  columns: { owner: 'text', name: 'text', position: 'int8', born: 'int8', text: 'text?' },
  key: ['owner', 'name'],
  generation: 'born',
  unique: [['name']],
  order: 'position',
});

const admission = table({
  name: 'admission',
  columns: { owner: 'text', who: 'text' },
  key: ['owner', 'who'],
});

const crossOwnerCall = { request: z.array(z.string()), reply: z.array(z.string()) };
const entriesOf = (member: string, owners: readonly string[]) => ({
  entries: crossOwner(entry, {
    membership: { table: admission, member },
    owners: owners.map((owner) => ({ owner, after: 0 })),
    limit: 10,
  }),
});
const namesOf = ({ owners }: CrossOwnerResult<typeof entry>) =>
  owners.flatMap(({ owner, rows, upTo }) => [
    ...rows.map(({ name }) => `${owner}:${name}`),
    `${owner}@${upTo}`,
  ]);

const Ledger = contract({
  name: 'ledger',
  timers: { increment: z.number(), fail: z.null() },
  tells: { receive: z.number() },
});

const ledger = kind({
  name: Ledger.name,
  slices: [count, labels],
  tables: [entry, admission],
  commands: {
    add: addAnew,
    addOnce: ledgerCommands.add,
    peek: ledgerCommands.get,
    durable: ledgerCommands.peek,
    explode: command({ request: z.null(), reply: z.null() }, (turn) => {
      turn.set(count, 1_000_000);
      throw new TerminalError('this turn fails');
    }),
    write: command(
      { request: z.string(), reply: z.string() },
      {
        creates: true,
        turn: (turn, name) => {
          const holder = turn.conflicting(entry, { name });
          if (holder !== undefined) return `taken by ${holder.owner}`;
          const position = turn.get(count) + 1;
          turn.set(count, position);
          turn.insert(entry, { owner: turn.self.id, name, position, born: position, text: null });
          return 'written';
        },
      },
    ),
    rewrite: command(
      { request: z.object({ name: z.string(), text: z.string() }), reply: z.boolean() },
      {
        reads: (view, { name }) => ({ found: keys(entry, [{ owner: view.self.id, name }]) }),
        turn: (turn, { name, text }, { found }) => {
          const row = found.get({ owner: turn.self.id, name });
          if (row === undefined) return false;
          const position = turn.get(count) + 1;
          turn.set(count, position);
          turn.put(entry, { ...row, text, position });
          return true;
        },
      },
    ),
    list: command(
      { request: z.number(), reply: z.array(z.string()) },
      {
        reads: (view, after) => ({ rows: range(entry, { after, through: view.get(count), limit: 100 }) }),
        turn: (_turn, _after, { rows }) => rows.rows.map((row) => `${row.name}=${row.text}`),
      },
    ),
    find: sharedRead(
      { request: z.string(), reply: z.array(z.string()) },
      {
        reads: (_view, name) => ({ found: lookup(entry, [{ name }]) }),
        answer: (_view, _name, { found }) => found.rows.map((row) => row.owner),
      },
    ),
    admit: command(
      { request: z.string(), reply: z.null() },
      {
        creates: true,
        turn: (turn, who) => {
          turn.put(admission, { owner: turn.self.id, who });
          return null;
        },
      },
    ),
    readShared: sharedRead(crossOwnerCall, {
      reads: ({ self }, owners) => entriesOf(self.id, owners),
      answer: (_view, _owners, { entries }) => namesOf(entries),
    }),
    readInTurn: command(crossOwnerCall, {
      creates: true,
      reads: ({ self }, owners) => entriesOf(self.id, owners),
      turn: (_turn, _owners, { entries }) => namesOf(entries),
    }),
    readInStep: workflow(crossOwnerCall, (steps, owners) =>
      steps.turn({
        reads: ({ self }) => entriesOf(self.id, owners),
        turn: (_turn, { entries }) => namesOf(entries),
      }),
    ),
    label: command(
      { request: z.string(), reply: z.array(z.string()) },
      {
        creates: true,
        turn: (turn, name) => {
          turn.setEntry(labels, name, name);
          return [...turn.entries(labels).keys()];
        },
      },
    ),
    later: command(
      { request: z.number(), reply: z.null() },
      {
        creates: true,
        turn: (turn, delayMs) => {
          turn.arm(Ledger.timers.increment, turn.nowMs + delayMs, 7);
          return null;
        },
      },
    ),
    failLater: command(
      { request: z.null(), reply: z.null() },
      {
        creates: true,
        turn: (turn) => {
          turn.arm(Ledger.timers.fail, turn.nowMs, null);
          return null;
        },
      },
    ),
    send: command(
      { request: z.object({ to: z.string(), amount: z.number() }), reply: z.null() },
      {
        creates: true,
        turn: (turn, { to, amount }) => {
          turn.set(count, turn.get(count) - amount);
          turn.tell(Ledger, to).receive(amount);
          return null;
        },
      },
    ),
    tombstone: command({ request: z.null(), reply: z.null() }, (turn) => {
      turn.tombstone();
      return null;
    }),
    addTwice: workflow(
      { request: z.number(), reply: z.null() },
      {
        creates: true,
        run: async (steps, by) => {
          const add = () => steps.turn({ turn: (turn) => turn.set(count, turn.get(count) + by) });
          await add();
          await add();
          return null;
        },
      },
    ),
    /** Without a turn. */
    nothing: workflow({ request: z.null(), reply: z.null() }, async () => null),
    twice: workflow(
      { request: z.number(), reply: z.number() },
      {
        creates: true,
        run: async (steps, by) => {
          await steps.turn({ turn: (turn) => turn.set(count, turn.get(count) + by) });
          return steps.turn({ turn: (turn) => turn.get(count) * 2 });
        },
      },
    ),
  },
  timers: {
    increment: timer(Ledger.timers.increment, (turn, by) => turn.set(count, turn.get(count) + by)),
    fail: timer(Ledger.timers.fail, () => {
      throw new Error('this timer fails');
    }),
  },
  tells: {
    receive: tell(Ledger.tells.receive, {
      creates: true,
      turn: (turn, amount) => turn.set(count, turn.get(count) + amount),
    }),
  },
});

function start(schedule?: Schedule) {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  return startTestHost({
    kinds: [ledger],
    clock,
    database,
    store: new ModelStore(database, schedule),
  });
}

/** A store whose calls of one method wait until the test lets them go, or fails them. */
function heldStore(method: string) {
  const held: { apply: () => unknown; resolve: (value: never) => void; reject: (error: Error) => void }[] =
    [];
  let holding = false;
  const schedule: Schedule = (name, apply) => {
    if (!holding || name !== method) return Promise.resolve().then(apply);
    return new Promise((resolve, reject) => held.push({ apply, resolve: resolve as never, reject }));
  };
  return {
    schedule,
    held,
    hold: () => {
      holding = true;
    },
    release: () => {
      holding = false;
      for (const { apply, resolve } of held.splice(0)) resolve(apply() as never);
    },
  };
}

test('a command that creates makes the actor, any other finds none', async (t) => {
  const { actors } = await start();
  await t.throwsAsync(actors.get(ledger, 'a').ask.peek(null), { instanceOf: NotFoundError });
  t.is(await actors.get(ledger, 'a').ask.add(2), 2);
  t.is(await actors.get(ledger, 'a').ask.peek(null), 2);
});

test('an acknowledged write is there after a crash', async (t) => {
  const before = await start();
  await before.actors.get(ledger, 'a').ask.add(5);
  await before.actors.get(ledger, 'a').ask.label('x');
  await before.actors.get(ledger, 'a').ask.write('n');
  const after = await before.restart();
  t.is(await after.actors.get(ledger, 'a').ask.peek(null), 6);
  t.deepEqual(await after.actors.get(ledger, 'a').ask.label('y'), ['x', 'y']);
  t.deepEqual(await after.actors.get(ledger, 'a').ask.list(0), ['n=null']);
});

test('a turn that throws leaves nothing', async (t) => {
  const { actors } = await start();
  await actors.get(ledger, 'a').ask.add(1);
  await t.throwsAsync(actors.get(ledger, 'a').ask.explode(null), { message: 'this turn fails' });
  t.is(await actors.get(ledger, 'a').ask.peek(null), 1);
});

test('no reply leaves before the commit it rests on, and shared reads see only what is durable', async (t) => {
  const store = heldStore('commit');
  const { actors } = await start(store.schedule);
  const a = actors.get(ledger, 'a').ask;
  await a.add(1);
  store.hold();
  const answered: string[] = [];
  const writing = a.add(10).then(() => answered.push('write'));
  const reading = a.peek(null).then((value) => answered.push(`read ${value}`));
  await drainPromises();
  t.is(await a.durable(null), 1);
  t.deepEqual(answered, []);
  store.release();
  await Promise.all([writing, reading]);
  t.deepEqual(answered, ['write', 'read 11']);
  t.is(await a.durable(null), 11);
});

test('turns taken while a commit is in flight merge into the next one', async (t) => {
  const store = heldStore('commit');
  const { actors } = await start(store.schedule);
  const a = actors.get(ledger, 'a').ask;
  await a.add(0);
  store.hold();
  const all = Promise.all([a.add(1), a.add(1), a.add(1), a.add(1)]);
  await drainPromises();
  t.is(store.held.length, 1);
  store.release();
  t.deepEqual(await all, [1, 2, 3, 4]);
});

test('a row written at the gate is seen by reads that were begun before', async (t) => {
  const store = heldStore('read');
  const { actors } = await start(store.schedule);
  const a = actors.get(ledger, 'a').ask;
  await a.write('n');
  store.hold();
  const first = a.rewrite({ name: 'n', text: 'one' });
  const second = a.list(0);
  await drainPromises();
  store.release();
  t.true(await first);
  t.deepEqual(await second, ['n=one']);
});

test('rows of other owners are read as far as they are committed and their owners authorize, however it is asked', async (t) => {
  const store = heldStore('commit');
  const { actors } = await start(store.schedule);
  const [a, b, me] = ['a', 'b', 'me'].map((id) => actors.get(ledger, id).ask);
  if (a === undefined || b === undefined || me === undefined) return t.fail();
  await Promise.all([me.add(1), a.write('n'), a.admit('me'), b.write('m'), b.admit('a')]);
  store.hold();
  const writing = a.write('at the gate');
  await drainPromises();
  const seen = ['a:n', 'a@1'];
  for (const call of ['readShared', 'readInTurn', 'readInStep'] as const) {
    t.deepEqual(await me[call](['b', 'a']), seen);
    t.deepEqual(await me[call]([]), []);
  }
  store.release();
  await writing;
  t.deepEqual(await me.readInTurn(['a']), ['a:n', 'a:at the gate', 'a@2']);
});

test('a key taken by another actor is that turn’s own affair', async (t) => {
  const { actors } = await start();
  t.is(await actors.get(ledger, 'a').ask.write('n'), 'written');
  const [refused, other] = await Promise.all([
    actors.get(ledger, 'b').ask.write('n'),
    actors.get(ledger, 'b').ask.write('m'),
  ]);
  t.is(refused, 'taken by a');
  t.is(other, 'written');
  t.deepEqual(await actors.get(ledger, 'b').ask.find('n'), ['a']);
});

test('an own row that was not read is not overwritten', async (t) => {
  const { actors } = await start();
  t.is(await actors.get(ledger, 'a').ask.write('n'), 'written');
  t.is(await actors.get(ledger, 'a').ask.write('n'), 'taken by a');
});

test('a recorded call takes effect once, before and after a crash', async (t) => {
  const before = await start();
  t.is(await before.actors.get(ledger, 'a').ask.addOnce(3, { callId: 'call' }), 3);
  t.is(await before.actors.get(ledger, 'a').ask.addOnce(3, { callId: 'call' }), 3);
  const after = await before.restart();
  t.is(await after.actors.get(ledger, 'a').ask.addOnce(3, { callId: 'call' }), 3);
  t.is(await after.actors.get(ledger, 'a').ask.peek(null), 3);
});

test('a commit whose answer was lost is settled by a barrier: committed when it was applied', async (t) => {
  let lose = false;
  const { actors } = await start(async (method, apply) => {
    const result = await Promise.resolve().then(apply);
    if (lose && method === 'commit') {
      lose = false;
      throw new StoreError('unknown', 'the connection was lost');
    }
    return result;
  });
  const a = actors.get(ledger, 'a').ask;
  await a.add(1);
  lose = true;
  t.is(await a.add(1), 2);
  t.is(await a.peek(null), 2);
});

test('a commit that was lost on its way runs again, and a late copy of it finds no row', async (t) => {
  let late: (() => unknown) | undefined;
  let lose = false;
  const { actors } = await start(async (method, apply) => {
    await undefined;
    if (lose && method === 'commit') {
      lose = false;
      late = apply;
      throw new StoreError('unknown', 'the connection was lost');
    }
    return apply();
  });
  const a = actors.get(ledger, 'a').ask;
  await a.add(1);
  lose = true;
  t.is(await a.add(1), 2);
  t.deepEqual(late?.(), new Set());
  t.is(await a.add(1), 3);
});

test('while the outcome is unknown the caller is told so at its deadline, and no turn runs', async (t) => {
  let down = false;
  const { actors, clock } = await start(async (method, apply) => {
    await undefined;
    if (down && (method === 'commit' || method === 'barrier')) throw new StoreError('unknown', 'lost');
    return apply();
  });
  const a = actors.get(ledger, 'a').ask;
  await a.add(1);
  down = true;
  const lost = t.throwsAsync(a.add(1, { deadlineMs: 2_000 }), { instanceOf: RetryableError });
  await drainPromises();
  const waiting = t.throwsAsync(a.peek(null, { deadlineMs: 2_000 }), { instanceOf: RetryableError });
  await clock.advance(3_000);
  t.is((await lost)?.outcome, 'unknown');
  t.is((await waiting)?.outcome, 'none');
  down = false;
  await clock.advance(3_000);
  t.true([1, 2].includes(await a.peek(null)));
});

test('a store that cannot serve fails the turn and keeps the state', async (t) => {
  let full = false;
  const { actors } = await start(async (method, apply) => {
    await undefined;
    if (full && method === 'commit') throw new StoreError('unavailable', 'disk full');
    return apply();
  });
  const a = actors.get(ledger, 'a').ask;
  await a.add(1);
  full = true;
  await t.throwsAsync(a.add(1), { instanceOf: UnavailableError });
  full = false;
  t.is(await a.add(1), 2);
});

test('a host whose lease has lapsed answers nothing', async (t) => {
  let down = false;
  const { actors, clock } = await start(async (method, apply) => {
    await undefined;
    if (down && method === 'renew') throw new StoreError('unavailable', 'down');
    return apply();
  });
  const a = actors.get(ledger, 'a').ask;
  await a.add(1);
  down = true;
  await clock.advance(9_000);
  await t.throwsAsync(a.peek(null), { instanceOf: UnavailableError });
  await t.throwsAsync(a.durable(null), { instanceOf: UnavailableError });
  await t.throwsAsync(a.nothing(null), { instanceOf: UnavailableError });
  down = false;
  await clock.advance(4_000);
  t.is(await a.peek(null), 1);
  clock.jumpWall(60_000);
  await t.throwsAsync(a.durable(null), { instanceOf: UnavailableError });
});

test('a second incarnation fences the first', async (t) => {
  const first = await start();
  const a = first.actors.get(ledger, 'a').ask;
  await a.add(1);
  const second = await startTestHost({
    kinds: [ledger],
    clock: first.clock,
    database: first.database,
    random: first.random,
  });
  t.is(await second.actors.get(ledger, 'a').ask.add(1), 2);
  const rejected = t.throwsAsync(a.add(1));
  await first.clock.advance(30_000);
  await rejected;
  t.is(await second.actors.get(ledger, 'a').ask.peek(null), 2);
});

test('shards whose claim was not answered are claimed again', async (t) => {
  let lose = false;
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const other = testNode(new SeededRandom(9), 'other');
  database.register(other, database.nextStart(), 5_000);
  database.claim(other.id, other.incarnation, [...Array(16).keys()]);
  const store = new ModelStore(database, async (method, apply) => {
    const result = await Promise.resolve().then(apply);
    if (method !== 'claim' || !lose) return result;
    lose = false;
    throw new StoreError('unknown', 'the connection was lost');
  });
  const { host, actors } = await startTestHost({ kinds: [ledger], clock, database, store });
  t.false(host.isReady);
  lose = true;
  await clock.advance(20_000);
  t.true(host.isReady);
  t.is(await actors.get(ledger, 'a').ask.add(1), 1);
});

test('where the predecessor may live, nothing is served until its lease is over', async (t) => {
  let isCutOff = false;
  const first = await start(async (method, apply) => {
    await undefined;
    if (isCutOff && method === 'renew') throw new StoreError('unavailable', 'cut off');
    return apply();
  });
  const { clock, database, random } = first;
  await first.actors.get(ledger, 'a').ask.add(1);
  isCutOff = true;
  const starting = startTestHost({ kinds: [ledger], clock, database, random, isPredecessorDead: false });
  await clock.advance(2_000);
  // It still answers from memory, and rightly so: nobody can have changed anything.
  t.is(await first.actors.get(ledger, 'a').ask.durable(null), 1);
  await clock.advance(7_000);
  await t.throwsAsync(first.actors.get(ledger, 'a').ask.durable(null), { instanceOf: UnavailableError });
  await clock.advance(2_000);
  t.is(await (await starting).actors.get(ledger, 'a').ask.add(1), 2);
});

test('a timer fires at its time, once, also after a crash', async (t) => {
  const before = await start();
  await before.actors.get(ledger, 'a').ask.later(60_000);
  await before.clock.advance(59_000);
  t.is(await before.actors.get(ledger, 'a').ask.peek(null), 0);
  const after = await before.restart();
  await after.clock.advance(10_000);
  t.is(await after.actors.get(ledger, 'a').ask.peek(null), 7);
  await after.clock.advance(600_000);
  t.is(await after.actors.get(ledger, 'a').ask.peek(null), 7);
});

test('a timer that keeps failing is dead in the end and blocks nobody', async (t) => {
  const { actors, clock, store } = await start();
  await actors.get(ledger, 'a').ask.failLater(null);
  await actors.get(ledger, 'a').ask.later(1_000);
  await clock.advance(10 * 3_600_000);
  t.is(await actors.get(ledger, 'a').ask.peek(null), 7);
  const [timer] = await store.timers({ kind: 'ledger', id: 'a' });
  t.true(timer?.dead);
  t.is(timer?.attempts, 10);
});

test('a tell takes effect once, also when its sender crashed after the commit', async (t) => {
  const before = await start();
  await before.actors.get(ledger, 'a').ask.send({ to: 'b', amount: 4 });
  const after = await before.restart();
  await after.clock.advance(10_000);
  t.is(await after.actors.get(ledger, 'b').ask.peek(null), 4);
  t.is(await after.actors.get(ledger, 'a').ask.peek(null), -4);
});

test('a tombstone is not found, and consumes tells without effect', async (t) => {
  const { actors, clock, store } = await start();
  await actors.get(ledger, 'b').ask.add(1);
  await actors.get(ledger, 'b').ask.tombstone(null);
  await t.throwsAsync(actors.get(ledger, 'b').ask.peek(null), { instanceOf: NotFoundError });
  await t.throwsAsync(actors.get(ledger, 'b').ask.add(1), { instanceOf: NotFoundError });
  await actors.get(ledger, 'a').ask.send({ to: 'b', amount: 4 });
  await clock.advance(10_000);
  t.deepEqual(await store.pendingTells(sweepOf([...Array(16).keys()], 0, clock.nowMs() + 1e9, 10)), []);
});

test('a tombstone that may come back does so by a tell that may make an actor, once', async (t) => {
  const { actors, clock, store } = await startTestHost({ kinds: [{ ...ledger, revivable: true }] });
  await actors.get(ledger, 'b').ask.add(1);
  await actors.get(ledger, 'b').ask.tombstone(null);
  await actors.get(ledger, 'a').ask.send({ to: 'b', amount: 4 });
  await clock.advance(10_000);
  t.is(await actors.get(ledger, 'b').ask.peek(null), 4);
  t.deepEqual(await store.pendingTells(sweepOf([...Array(16).keys()], 0, clock.nowMs() + 1e9, 10)), []);
});

test('an idle actor leaves memory and comes back as it was', async (t) => {
  const { actors, host, clock } = await start();
  await actors.get(ledger, 'a').ask.add(1);
  t.is(host.actorCount, 1);
  await clock.advance(400_000);
  t.is(host.actorCount, 0);
  t.is(await actors.get(ledger, 'a').ask.peek(null), 1);
});

test('when actors hold too much memory the one idle longest leaves', async (t) => {
  const { actors, host, clock } = await startTestHost({ kinds: [ledger], limits: { actorBytesMax: 15_000 } });
  for (const id of ['a', 'b', 'c']) {
    await actors.get(ledger, id).ask.add(1);
    await clock.advance(10);
  }
  t.is(host.actorCount, 3);
  await clock.advance(300);
  t.is(host.actorCount, 2);
  t.is(await actors.get(ledger, 'a').ask.peek(null), 1);
});

test('a full mailbox answers overloaded', async (t) => {
  const store = heldStore('commit');
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const { actors } = await startTestHost({
    kinds: [ledger],
    clock,
    store: new ModelStore(database, store.schedule),
    limits: { mailboxMax: 2, pendingBytesMax: 1 },
  });
  const a = actors.get(ledger, 'a').ask;
  await a.add(0);
  store.hold();
  const pending = Array.from({ length: 6 }, () => a.add(1));
  const outcomes = Promise.allSettled(pending);
  await drainPromises();
  store.release();
  await drainPromises();
  const classes = (await outcomes).map((outcome) =>
    outcome.status === 'rejected' ? outcome.reason.class : 'ok',
  );
  t.true(classes.includes('overloaded'));
  t.is(await a.peek(null), classes.filter((c) => c === 'ok').length);
});

test('the steps of a workflow are turns, each durable before the next', async (t) => {
  const { actors } = await start();
  t.is(await actors.get(ledger, 'a').ask.twice(3), 6);
});

test('a workflow that fails after its first step does not say that nothing took effect', async (t) => {
  let commits = 0;
  const { actors, host, clock } = await start(async (method, apply) => {
    await undefined;
    if (method !== 'commit') return apply();
    commits += 1;
    if (commits === 2) throw new StoreError('unavailable', 'disk full');
    return apply();
  });
  const address = { kind: 'ledger', id: 'a' };
  const deadlineMs = clock.monotonicMs() + 10_000;
  const call = { address, command: 'addTwice', request: 3, callId: 'call', deadlineMs };
  const error = await t.throwsAsync(host.ask(call), { instanceOf: RetryableError });
  t.is(error?.outcome, 'unknown');
  t.is(await actors.get(ledger, 'a').ask.peek(null), 3);
});

test('a drained host has answered everything and holds nothing', async (t) => {
  const { actors, host, clock, database } = await start();
  const pending = Promise.all([1, 2, 3].map((n) => actors.get(ledger, `d${n}`).ask.add(n)));
  const drained = host.drain(5_000);
  await clock.advance(100);
  await drained;
  t.deepEqual(await pending, [1, 2, 3]);
  t.is(database.nodes()[0]?.incarnation, null);
  await t.throwsAsync(actors.get(ledger, 'a').ask.add(1), { instanceOf: UnavailableError });
});

/** A transport that gives away what answers the calls of other processes. */
function watchedTransport() {
  const watched: { handler?: TransportHandler } = {};
  class WatchedTransport extends InProcessTransport {
    override serve(served: TransportHandler): void {
      watched.handler = served;
      super.serve(served);
    }
  }
  return { watched, transport: new WatchedTransport() };
}

const remoteCall = {
  address: { kind: 'ledger', id: 'a' },
  command: 'add',
  callId: 'call',
  deadlineMs: Number.POSITIVE_INFINITY,
};

test('a host that may have lost the actor meanwhile sends the caller on, rather than to refuse for good', async (t) => {
  const schedule: Schedule = async (method, apply) => {
    await undefined;
    if (method === 'renew') throw new StoreError('unavailable', 'away');
    if (method === 'activate') await new Promise(() => {});
    return apply();
  };
  const database = new ModelDatabase(new FakeClock());
  const { watched, transport } = watchedTransport();
  const store = new ModelStore(database, schedule);
  const { clock, host } = await startTestHost({
    kinds: [ledger],
    transport,
    database,
    store,
    limits: { mailboxMax: 1 },
  });
  const ask = async () => watched.handler?.askFromRemote({ ...remoteCall, request: 1 });
  const first = ask();
  await t.throwsAsync(ask(), { instanceOf: OverloadedError });
  await clock.advance(10_000);
  await t.throwsAsync(ask(), { instanceOf: MovedError });
  host.abandon();
  await t.throwsAsync(first, { instanceOf: MovedError });
});

test('an owner runs no call that is for another owner, and tells the epoch of its own claim', async (t) => {
  const { watched, transport } = watchedTransport();
  await startTestHost({ kinds: [ledger], transport });
  const ask = async (epoch: number) => watched.handler?.askFromRemote({ ...remoteCall, request: 3, epoch });
  const refusals = [0, 2].map((epoch) => t.throwsAsync(ask(epoch), { instanceOf: MovedError }));
  for (const refusal of await Promise.all(refusals)) t.is(refusal?.epoch, 1);
  t.is(await ask(1), 3, 'the others have added nothing');
});

test('a call of another process is run only if its request fits', async (t) => {
  const { watched, transport } = watchedTransport();
  const { host } = await startTestHost({ kinds: [ledger], transport });
  const { handler } = watched;
  const call = remoteCall;
  t.is(await handler?.askFromRemote({ ...call, request: 3 }), 3);
  await t.throwsAsync(async () => handler?.askFromRemote({ ...call, request: { by: 3 } }), {
    instanceOf: TerminalError,
    message: 'the request of ledger.add does not fit',
  });
  await t.throwsAsync(async () => handler?.askFromRemote({ ...call, command: 'subtract', request: 1 }), {
    instanceOf: TerminalError,
    message: 'unknown command ledger.subtract',
  });
  t.is(host.actorCount, 1);
});

test('a commit whose answer was lost counts as fenced where a newer owner was faster', async (t) => {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const address = { kind: 'ledger', id: 'a' };
  let isLost = false;
  const store = new ModelStore(database, async (method, apply) => {
    await undefined;
    if (method !== 'commit' || !isLost) return apply();
    database.activate(address, 1_000, false);
    throw new StoreError('unknown', 'the connection was lost');
  });
  const commits: string[] = [];
  const metrics = { ...noMetrics, commit: (outcome: string) => void commits.push(outcome) };
  const { host } = await startTestHost({ kinds: [ledger], clock, database, store, metrics });
  const call = { address, command: 'add', request: 1, deadlineMs: clock.monotonicMs() + 10_000 };
  await host.ask({ ...call, callId: 'first' });
  isLost = true;
  await t.throwsAsync(host.ask({ ...call, callId: 'second' }));
  t.deepEqual(commits, ['committed', 'unknown', 'fenced']);
});
