import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import { command, tell, timer } from '../command.ts';
import { contract, keyed } from '../contract.ts';
import type { Limits } from '../host/limits.ts';
import { kind } from '../kind.ts';
import { slice } from '../slice.ts';
import { encode } from '../store/encoding.ts';
import type { TellRow, TimerRow, Write } from '../store/store.ts';
import { outboxTable, timerTable } from '../store/tables.ts';
import { attemptsAfterFailure } from './delivery.ts';

const seen = slice({ name: 'seen', format: 1, schema: z.array(z.string()), initial: [] });

const Diary = contract({
  name: 'diary',
  timers: { remind: z.string(), unreadable: z.string() },
  tells: { note: z.string() },
});

const diary = kind({
  name: Diary.name,
  slices: [seen],
  commands: {
    read: command({ request: z.null(), reply: z.array(z.string()) }, (turn) => turn.get(seen)),
    remind: command(
      {
        request: z.object({
          atMs: z.number(),
          text: z.string(),
          timer: z.enum(['remind', 'unreadable']).default('remind'),
          key: z.string().optional(),
        }),
        reply: z.null(),
      },
      {
        creates: true,
        turn: (turn, { atMs, text, timer: name = 'remind', key }) => {
          const timer = Diary.timers[name];
          turn.arm(key === undefined ? timer : keyed(timer, key), atMs, text);
          return null;
        },
      },
    ),
    send: command(
      { request: z.object({ to: z.string(), text: z.string() }), reply: z.null() },
      {
        creates: true,
        turn: (turn, { to, text }) => {
          turn.tell(Diary, to).note(text);
          return null;
        },
      },
    ),
  },
  timers: {
    remind: timer(Diary.timers.remind, (turn, text) => turn.set(seen, [...turn.get(seen), text])),
    unreadable: timer(Diary.timers.unreadable, {
      reads: (): Record<never, never> => {
        throw new Error('this plan fails');
      },
      turn: () => {},
    }),
  },
  tells: {
    note: tell(Diary.tells.note, {
      creates: true,
      turn: (turn, text) => turn.set(seen, [...turn.get(seen), text]),
    }),
  },
});

function start(schedule?: Schedule, clock = new FakeClock(), limits: Partial<Limits> = {}) {
  const database = new ModelDatabase(clock);
  return startTestHost({
    kinds: [diary],
    clock,
    database,
    store: new ModelStore(database, schedule),
    limits,
  });
}

/** Puts rows into the database that no actor of this host will ever take. */
function plant(database: ModelDatabase, writes: readonly Write[]): void {
  const address = { kind: 'forgotten', id: 'x' };
  database.activate(address, 1, true);
  const commitId = '00000000-0000-4000-8000-000000000000';
  database.commit([{ address, epoch: 1, version: 0, commitId, writes }]);
}

const forgotten = Array.from({ length: 300 }, (_, index) => index);

function forgottenTimer(index: number): TimerRow {
  const payload = encode(1, null);
  const name = `t${String(index).padStart(3, '0')}`;
  return { kind: 'forgotten', id: 'x', name, shard: 1, due_at: 1, payload, attempts: 0, dead: false };
}

function forgottenTell(index: number): TellRow {
  return {
    tell_id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    target_kind: 'aforgotten',
    target_id: 'x',
    target_shard: 1,
    name: 'note',
    payload: encode(1, null),
    sender_kind: 'diary',
    sender_id: 'x',
    sender_version: 1,
    attempts: 0,
    retry_at: 0,
    dead: false,
  };
}

function counting(method: string): { schedule: Schedule; calls: number } {
  const counter = {
    calls: 0,
    schedule: (async (name, apply) => {
      await undefined;
      if (name === method) counter.calls += 1;
      return apply();
    }) as Schedule,
  };
  return counter;
}

test('timers that can never be delivered keep no other from its time, and the host from no rest', async (t) => {
  const sweeps = counting('dueTimers');
  const { actors, clock, database } = await start(sweeps.schedule);
  const writes = forgotten.map((index) => ({
    table: timerTable,
    put: { ...forgottenTimer(index) },
    isNew: true,
  }));
  plant(database, writes);
  await actors.get(diary, 'a').ask.remind({ atMs: clock.nowMs() + 1_000, text: 'hello' });
  await clock.advance(30_000);
  t.deepEqual(await actors.get(diary, 'a').ask.read(null), ['hello']);
  t.true(sweeps.calls < 30, `${sweeps.calls} sweeps`);
});

test('tells that can never be delivered keep no other from its target, and the host from no rest', async (t) => {
  const sweeps = counting('pendingTells');
  const before = await start(sweeps.schedule);
  const writes = forgotten.map((index) => ({
    table: outboxTable,
    put: { ...forgottenTell(index) },
    isNew: true,
  }));
  plant(before.database, writes);
  await before.actors.get(diary, 'a').ask.send({ to: 'b', text: 'hello' });
  const { actors, clock } = await before.restart();
  await clock.advance(30_000);
  t.deepEqual(await actors.get(diary, 'b').ask.read(null), ['hello']);
  t.true(sweeps.calls < 30, `${sweeps.calls} sweeps`);
});

const many = Array.from({ length: 40 }, (_, index) => index);

test('timers of an actor that is stuck leave room for those of others, and come once it is free', async (t) => {
  const limits = { deliveriesMax: 8, deliveriesOfActorMax: 2 };
  const { actors, clock, database } = await start(undefined, undefined, limits);
  await clock.advance(1);
  const atMs = clock.nowMs() + 1_000;
  await Promise.all(
    many.map((index) => actors.get(diary, 'a').ask.remind({ atMs, text: `${index}`, key: `${index}` })),
  );
  await actors.get(diary, 'b').ask.remind({ atMs: atMs + 1, text: 'hello' });
  database.lock({ kind: 'diary', id: 'a' });
  await clock.advance(1_100);
  t.deepEqual(await actors.get(diary, 'b').ask.read(null), ['hello']);
  database.unlock({ kind: 'diary', id: 'a' });
  await clock.advance(10_000);
  t.is((await actors.get(diary, 'a').ask.read(null)).length, many.length);
});

test('tells to one actor come one after another without a sweep for each', async (t) => {
  const sweeps = counting('pendingTells');
  const limits = { deliveriesMax: 8, deliveriesOfActorMax: 1 };
  const before = await start(sweeps.schedule, undefined, limits);
  before.database.lock({ kind: 'diary', id: 'b' });
  await Promise.all(
    many.map((index) => before.actors.get(diary, 'a').ask.send({ to: 'b', text: `${index}` })),
  );
  before.database.unlock({ kind: 'diary', id: 'b' });
  const { actors, clock } = await before.restart();
  await clock.advance(30_000);
  t.is((await actors.get(diary, 'b').ask.read(null)).length, many.length);
  t.true(sweeps.calls < 30, `${sweeps.calls} sweeps`);
});

test('tells to many actors come one after another, though most shards have none of them', async (t) => {
  const sweeps = counting('pendingTells');
  const before = await start(sweeps.schedule, undefined, { deliveriesMax: 1 });
  const targets = many.map((index) => `target-${index}`);
  for (const id of targets) before.database.lock({ kind: 'diary', id });
  await Promise.all(targets.map((to) => before.actors.get(diary, 'a').ask.send({ to, text: 'hello' })));
  for (const id of targets) before.database.unlock({ kind: 'diary', id });
  const { database, clock } = await before.restart();
  sweeps.calls = 0;
  await clock.advance(10_000);
  t.is(database.sizes.get('outbox') ?? 0, 0);
  t.true(sweeps.calls < 500, `${sweeps.calls} sweeps`);
});

test('a timer whose reads cannot be planned is dead in the end', async (t) => {
  const { actors, clock, store } = await start();
  await actors.get(diary, 'a').ask.remind({ atMs: 1, text: '', timer: 'unreadable' });
  await clock.advance(10 * 3_600_000);
  const [row] = await store.timers({ kind: 'diary', id: 'a' });
  t.true(row?.dead);
  t.is(row?.attempts, 10);
});

/** The same kind in a release that knows neither the timers nor the tells. */
const earlierRelease = { ...diary, timers: {}, tells: {} };
const hourMs = 3_600_000;

/** A timer and a tell, with a host of the earlier release alone for this time. */
async function leftToEarlierRelease(forMs: number) {
  const { actors, clock, database, restart } = await start(undefined, undefined, { attemptsMax: 3 });
  const target = { kind: 'diary', id: 'b' };
  database.lock(target);
  await actors.get(diary, 'a').ask.remind({ atMs: clock.nowMs() + 1_000, text: 'a timer' });
  await actors.get(diary, 'a').ask.send({ to: target.id, text: 'a tell' });
  database.unlock(target);
  const earlier = await restart({ kinds: [earlierRelease] });
  await clock.advance(forMs);
  return earlier;
}

test('a timer and a tell outlast a day with hosts that do not know them', async (t) => {
  const earlier = await leftToEarlierRelease(24 * hourMs);
  const { actors, clock } = await earlier.restart({ kinds: [diary] });
  await clock.advance(0.25 * hourMs);
  t.deepEqual(await actors.get(diary, 'a').ask.read(null), ['a timer']);
  t.deepEqual(await actors.get(diary, 'b').ask.read(null), ['a tell']);
});

test('a timer and a tell that no host has known for three days are dead', async (t) => {
  const { store } = await leftToEarlierRelease(72 * hourMs);
  t.is((await store.deadTimers(10)).length, 1);
  t.is((await store.deadTells(10)).length, 1);
});

test('what hosts tried that did not know a row counts for nothing where it is known', (t) => {
  const first = attemptsAfterFailure(0, false, 10);
  t.deepEqual(attemptsAfterFailure(first.attempts, true, 10), { attempts: 1, dead: false, pauseMs: 2_000 });
  t.deepEqual(attemptsAfterFailure(200, true, 10), { attempts: 1, dead: false, pauseMs: 2_000 });
  t.like(attemptsAfterFailure(9, true, 10), { attempts: 10, dead: true });
});

test('hosts that do not know a row try it again soon at first', (t) => {
  const first = attemptsAfterFailure(9, false, 10);
  t.deepEqual(first, { attempts: 11, dead: false, pauseMs: 2_000 });
  t.like(attemptsAfterFailure(first.attempts, false, 10), { pauseMs: 4_000 });
});

test('a timer that is armed anew for the same time fires with what it was armed with last', async (t) => {
  let holding = false;
  let release = () => {};
  const { actors, clock } = await start(async (method, apply) => {
    await undefined;
    const result = apply();
    if (holding && method === 'dueTimers')
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    return result;
  });
  const a = actors.get(diary, 'a').ask;
  const atMs = clock.nowMs() + 10_000;
  await a.remind({ atMs, text: 'first' });
  await clock.advance(11_900);
  holding = true;
  await clock.advance(200);
  await a.remind({ atMs, text: 'second' });
  holding = false;
  release();
  await drainPromises();
  await clock.advance(10_000);
  t.deepEqual(await a.read(null), ['second']);
});

test('a timer of the far future asks nothing of the clock', async (t) => {
  const delays: number[] = [];
  class ListeningClock extends FakeClock {
    override schedule(delayMs: number, fire: () => void): () => void {
      delays.push(delayMs);
      return super.schedule(delayMs, fire);
    }
  }
  const clock = new ListeningClock();
  let during: (() => Promise<unknown>) | undefined;
  const { actors } = await start(async (method, apply) => {
    await undefined;
    const result = apply();
    if (method === 'dueTimers') await during?.();
    return result;
  }, clock);
  during = () => actors.get(diary, 'a').ask.remind({ atMs: clock.nowMs() + 1e10, text: 'later' });
  await clock.advance(5_000);
  t.true(Math.max(...delays) < 2 ** 31);
});
