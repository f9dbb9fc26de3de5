import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { startTestHost, type TestHostOptions } from '../../test/kit/host.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../../test/kit/model-store/model-store.ts';
import { command, type Finished, type JobRun, job } from '../command.ts';
import { contract, keyed } from '../contract.ts';
import { dependency, provide } from '../dependency.ts';
import { UnavailableError } from '../errors.ts';
import { kind } from '../kind.ts';
import { actorOperations } from '../operations.ts';
import { slice } from '../slice.ts';
import { StoreError } from '../store/store.ts';

const jobLeaseMs = 9_000;
const timeoutMs = 120_000;

/** A run in flight, in the hands of the test. */
interface Run {
  readonly run: JobRun;
  readonly text: string;
  finish(): Promise<Finished>;
  fail(error: Error): void;
}
const Desk = dependency<{ begin(run: JobRun, text: string): Promise<Finished> }>('the desk');

const sent = slice({ name: 'sent', format: 1, schema: z.array(z.string()), initial: [] });

const Mailer = contract({
  name: 'mailer',
  jobs: { deliver: z.string(), remove: z.string() },
  timers: { retry: z.string() },
});

const request = z.object({ text: z.string(), key: z.string().optional() });
const jobOf = (key: string | undefined) =>
  key === undefined ? Mailer.jobs.deliver : keyed(Mailer.jobs.deliver, key);

const mailer = kind({
  name: Mailer.name,
  uses: [Desk],
  slices: [sent],
  commands: {
    send: command(
      { request, reply: z.null() },
      {
        creates: true,
        turn: (turn, { text, key }) => {
          turn.start(jobOf(key), text);
          return null;
        },
      },
    ),
    discard: command(
      { request, reply: z.null() },
      {
        creates: true,
        turn: (turn, { text, key = '' }) => {
          turn.start(keyed(Mailer.jobs.remove, key), text);
          return null;
        },
      },
    ),
    recall: command({ request, reply: z.null() }, (turn, { key }) => {
      turn.stop(jobOf(key));
      return null;
    }),
    close: command({ request: z.null(), reply: z.null() }, (turn) => {
      turn.tombstone();
      return null;
    }),
    sent: command({ request: z.null(), reply: z.array(z.string()) }, (turn) => turn.get(sent)),
  },
  jobs: {
    deliver: job(Mailer.jobs.deliver, {
      timeoutMs,
      run: (run, text) => run.use(Desk).begin(run, text),
    }),
    remove: job(Mailer.jobs.remove, {
      timeoutMs,
      run: (run, text) => run.use(Desk).begin(run, text),
    }),
  },
});

function createDesk() {
  const runs: Run[] = [];
  const begin = (run: JobRun, text: string) =>
    new Promise<Finished>((resolve, reject) => {
      const finish = () => run.finish({ turn: (turn) => turn.set(sent, [...turn.get(sent), text]) });
      runs.push({
        run,
        text,
        finish() {
          const finished = finish();
          finished.then(resolve, reject);
          return finished;
        },
        fail: reject,
      });
    });
  return { runs, begin };
}

async function start(t: { teardown(end: () => void): void }, options: Partial<TestHostOptions> = {}) {
  const desk = createDesk();
  const first = await startTestHost({
    kinds: [mailer],
    provided: [provide(Desk, desk)],
    ...options,
    limits: { jobLeaseMs, sweepMs: 1_000, ...options.limits },
  });
  t.teardown(() => first.host.abandon());
  const ask = first.actors.get(mailer, 'a').ask;
  /** The run that began last. */
  const last = (): Run => {
    const run = desk.runs.at(-1);
    if (run === undefined) throw new Error('no run has begun');
    return run;
  };
  const rows = () => first.store.timers({ kind: 'mailer', id: 'a' });
  return { ...first, ask, runs: desk.runs, last, rows };
}

test('a job runs once its start is durable, and its row goes with its result', async (t) => {
  const { ask, runs, last, rows } = await start(t);
  await ask.send({ text: 'hello' });
  await drainPromises();
  t.is(runs.length, 1);
  t.is((await rows()).length, 1);
  await last().finish();
  t.deepEqual(await ask.sent(null), ['hello']);
  t.deepEqual(await rows(), []);
});

test('a run does not begin before the commit of its start is durable', async (t) => {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const schedule: Schedule = async (name, apply) => {
    const result = apply();
    if (name === 'commit') await gate;
    return result;
  };
  const { ask, runs } = await start(t, { clock, database, store: new ModelStore(database, schedule) });
  const pending = ask.send({ text: 'hello' });
  await drainPromises();
  t.is(runs.length, 0);
  open();
  await pending;
  await drainPromises();
  t.is(runs.length, 1);
});

test('nothing runs where the commit of the start was not applied', async (t) => {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  const schedule: Schedule = async (name, apply) => {
    if (name === 'commit') throw new StoreError('unavailable', 'disk full');
    return apply();
  };
  const { ask, runs, rows } = await start(t, { clock, database, store: new ModelStore(database, schedule) });
  await t.throwsAsync(ask.send({ text: 'hello' }));
  await clock.advance(3 * jobLeaseMs);
  t.is(runs.length, 0);
  t.deepEqual(await rows(), []);
});

test('a job whose host has died runs again when its lease lapses, and not before', async (t) => {
  const before = await start(t);
  await before.ask.send({ text: 'hello' });
  await drainPromises();
  const { host } = await before.restart();
  t.teardown(() => host.abandon());
  await before.clock.advance(jobLeaseMs - 2_000);
  t.is(before.runs.length, 1);
  await before.clock.advance(4_000);
  t.is(before.runs.length, 2);
  await before.last().finish();
  t.deepEqual(await before.ask.sent(null), ['hello']);
});

test('a run of a host that is no more changes nothing', async (t) => {
  const before = await start(t);
  await before.ask.send({ text: 'hello' });
  await drainPromises();
  const old = before.last();
  const { host } = await before.restart();
  t.teardown(() => host.abandon());
  await before.clock.advance(2 * jobLeaseMs);
  await t.throwsAsync(old.finish());
  await before.last().finish();
  t.true(old.run.signal.aborted);
  t.deepEqual(await before.ask.sent(null), ['hello']);
});

test('a turn of a run whose lease is no longer its own is rejected before it begins', async (t) => {
  const { ask, runs, last } = await start(t);
  await ask.send({ text: 'old' });
  await drainPromises();
  const old = last();
  await ask.recall({ text: '' });
  await ask.send({ text: 'new' });
  await drainPromises();
  t.is(runs.length, 2);
  t.true(old.run.signal.aborted);
  let began = false;
  const turn = old.run.turn({
    turn: () => {
      began = true;
    },
  });
  await t.throwsAsync(turn);
  await t.throwsAsync(old.finish());
  t.false(began);
  t.deepEqual(await ask.sent(null), []);
  await last().finish();
  t.deepEqual(await ask.sent(null), ['new']);
});

test('a run that takes long keeps its lease', async (t) => {
  const { ask, clock, runs, last } = await start(t);
  await ask.send({ text: 'hello' });
  await clock.advance(5 * jobLeaseMs);
  t.is(runs.length, 1);
  await last().finish();
  await clock.advance(2 * jobLeaseMs);
  t.is(runs.length, 1);
  t.deepEqual(await ask.sent(null), ['hello']);
});

test('a start during a run is one more run after it, with the newest payload', async (t) => {
  const { ask, clock, runs, last } = await start(t);
  for (const text of ['first', 'second', 'third']) await ask.send({ text });
  await drainPromises();
  t.deepEqual(
    runs.map(({ text }) => text),
    ['first'],
  );
  await last().finish();
  await drainPromises();
  t.deepEqual(
    runs.map(({ text }) => text),
    ['first', 'third'],
  );
  t.not(runs[0]?.run.id, runs[1]?.run.id);
  await last().finish();
  await clock.advance(2 * jobLeaseMs);
  t.is(runs.length, 2);
  t.deepEqual(await ask.sent(null), ['first', 'third']);
});

test('a job that was started during a failing run takes that run’s place', async (t) => {
  const { ask, clock, last, runs } = await start(t);
  await ask.send({ text: 'first' });
  await ask.send({ text: 'second' });
  await drainPromises();
  last().fail(new Error('no'));
  await clock.advance(jobLeaseMs);
  t.is(runs.length, 2);
  t.is(last().text, 'second');
});

test('jobs of different keys run beside each other', async (t) => {
  const { ask, runs } = await start(t);
  for (const key of ['x', 'y']) await ask.send({ text: key, key });
  await drainPromises();
  t.deepEqual(runs.map(({ text }) => text).sort(), ['x', 'y']);
});

test('a run that throws is repeated after a growing pause, and is dead at last until it is revived', async (t) => {
  const { ask, actors, clock, runs, last, rows, store } = await start(t, { limits: { attemptsMax: 3 } });
  await ask.send({ text: 'hello' });
  await drainPromises();
  const ids = new Set<string>();
  for (const pauseMs of [2_000, 4_000]) {
    ids.add(last().run.id);
    last().fail(new Error('no'));
    const before = runs.length;
    await clock.advance(pauseMs - 100);
    t.is(runs.length, before);
    await clock.advance(1_500);
    t.is(runs.length, before + 1);
  }
  ids.add(last().run.id);
  t.is(ids.size, 1, 'a repeat is known by its id');
  last().fail(new Error('no'));
  await clock.advance(600_000);
  t.is(runs.length, 3);
  t.deepEqual(
    (await store.deadTimers(9)).map(({ name, attempts }) => ({ name, attempts })),
    [{ name: '$job.deliver', attempts: 3 }],
  );
  const revived = await actorOperations(actors, { kind: 'mailer', id: 'a' }).$reviveTimer({
    name: '$job.deliver',
  });
  t.true(revived);
  await clock.advance(1_500);
  t.is(runs.length, 4);
  await last().finish();
  t.deepEqual(await rows(), []);
});

test('a start begins again what was dead', async (t) => {
  const { ask, clock, last, runs, store } = await start(t, { limits: { attemptsMax: 1 } });
  await ask.send({ text: 'hello' });
  await drainPromises();
  last().fail(new Error('no'));
  await clock.advance(jobLeaseMs);
  t.is((await store.deadTimers(9)).length, 1);
  await ask.send({ text: 'again' });
  await drainPromises();
  t.is(runs.length, 2);
  t.is((await store.deadTimers(9)).length, 0);
});

test('a job that others cannot serve now is tried again, which does not count against it', async (t) => {
  const { ask, clock, last, runs, store } = await start(t, { limits: { attemptsMax: 1 } });
  await ask.send({ text: 'hello' });
  await drainPromises();
  last().fail(new UnavailableError('later'));
  await clock.advance(6_000);
  t.is(runs.length, 2);
  t.is((await store.deadTimers(9)).length, 0);
});

test('a run that does not finish in its time has failed, and what it still does counts for nothing', async (t) => {
  const { ask, clock, runs, last } = await start(t);
  await ask.send({ text: 'hello' });
  await drainPromises();
  const slow = last();
  await clock.advance(timeoutMs + 4_000);
  t.true(slow.run.signal.aborted);
  t.is(runs.length, 2);
  await t.throwsAsync(slow.finish());
  t.deepEqual(await ask.sent(null), []);
  await last().finish();
  t.deepEqual(await ask.sent(null), ['hello']);
});

test('a job without capacity waits with its lease, and any more come when theirs lapses', async (t) => {
  const { ask, clock, runs, last, host } = await start(t, { limits: { jobsMax: 1, jobsWaitingMax: 1 } });
  for (const key of ['x', 'y', 'z']) await ask.send({ text: key, key });
  await clock.advance(3 * jobLeaseMs);
  t.deepEqual(
    runs.map(({ text }) => text),
    ['x'],
  );
  t.is(host.jobCount, 2);
  await last().finish();
  await drainPromises();
  t.deepEqual(
    runs.map(({ text }) => text),
    ['x', 'y'],
  );
  await clock.advance(2 * jobLeaseMs);
  await last().finish();
  await clock.advance(2 * jobLeaseMs);
  await last().finish();
  t.deepEqual(await ask.sent(null), ['x', 'y', 'z']);
  await drainPromises();
  t.is(host.jobCount, 0);
});

test('runs that hang leave room for every other job, here and when leases lapse', async (t) => {
  const { ask, clock, runs, last } = await start(t, { limits: { jobsMax: 2, jobsWaitingMax: 1 } });
  for (const key of ['a', 'b', 'c', 'd', 'e']) await ask.discard({ text: `hangs ${key}`, key });
  await clock.advance(3 * jobLeaseMs);
  t.is(runs.length, 2);
  await ask.send({ text: 'a code' });
  await drainPromises();
  t.is(runs.length, 3);
  await last().finish();
  t.deepEqual(await ask.sent(null), ['a code']);
  t.is(runs.length, 3);
});

test('a drain lets a run finish and gives back what waits for room', async (t) => {
  const before = await start(t, { limits: { jobsMax: 1 } });
  const { ask, clock, runs } = before;
  for (const key of ['x', 'y']) await ask.send({ text: key, key });
  await drainPromises();
  const drained = before.host.drain(4_000);
  await drainPromises();
  await before.last().finish();
  await clock.advance(100);
  await drained;
  const after = await before.restart();
  t.teardown(() => after.host.abandon());
  await clock.advance(1_500);
  t.deepEqual(
    runs.map(({ text }) => text),
    ['x', 'y'],
  );
  t.deepEqual(await after.actors.get(mailer, 'a').ask.sent(null), ['x']);
});

test('a drain gives back what does not finish, so that nobody waits for its lease', async (t) => {
  const before = await start(t);
  const { ask, clock, runs } = before;
  await ask.send({ text: 'hello' });
  await drainPromises();
  const drained = before.host.drain(2_000);
  await clock.advance(2_100);
  await drained;
  t.true(before.last().run.signal.aborted);
  const after = await before.restart();
  t.teardown(() => after.host.abandon());
  await clock.advance(1_500);
  t.is(runs.length, 2);
});

test('a release that does not know the job keeps it for one that does', async (t) => {
  const before = await start(t);
  await before.ask.send({ text: 'hello' });
  await drainPromises();
  const older = await before.restart({ kinds: [{ ...mailer, jobs: {} }] });
  await before.clock.advance(2 * jobLeaseMs);
  t.is(before.runs.length, 1);
  const { host } = await older.restart({ kinds: [mailer] });
  t.teardown(() => host.abandon());
  await before.clock.advance(30_000);
  t.is(before.runs.length, 2);
  await before.last().finish();
  t.deepEqual(await before.ask.sent(null), ['hello']);
});

test('what releases tried that did not know a job counts for nothing where it is known', async (t) => {
  const before = await start(t, { limits: { attemptsMax: 3 } });
  await before.ask.send({ text: 'hello' });
  await drainPromises();
  const older = await before.restart({ kinds: [{ ...mailer, jobs: {} }] });
  await before.clock.advance(7 * 3_600_000);
  const [waiting] = await before.rows();
  t.true((waiting?.attempts ?? 0) >= 50, `${waiting?.attempts} attempts`);
  const { host } = await older.restart({ kinds: [mailer] });
  t.teardown(() => host.abandon());
  for (let seconds = 0; before.runs.length < 2 && seconds < 600; seconds += 1) {
    await before.clock.advance(1_000);
  }
  before.last().fail(new Error('no'));
  await drainPromises();
  t.like((await before.rows())[0], { attempts: 1, dead: false });
});

test('with its actor a job is no more', async (t) => {
  const { ask, clock, runs, last, rows } = await start(t);
  await ask.send({ text: 'hello' });
  await drainPromises();
  await ask.close(null);
  t.true(last().run.signal.aborted);
  await t.throwsAsync(last().finish());
  await clock.advance(3 * jobLeaseMs);
  t.is(runs.length, 1);
  t.deepEqual(await rows(), []);
});

test('a finish whose commit fails is repeated with the run', async (t) => {
  const clock = new FakeClock();
  const database = new ModelDatabase(clock);
  let rejects = false;
  const schedule: Schedule = async (name, apply) => {
    if (rejects && name === 'commit') throw new StoreError('unavailable', 'disk full');
    return apply();
  };
  const { ask, runs, last } = await start(t, { clock, database, store: new ModelStore(database, schedule) });
  await ask.send({ text: 'hello' });
  await drainPromises();
  rejects = true;
  await t.throwsAsync(last().finish());
  rejects = false;
  await clock.advance(2 * jobLeaseMs);
  t.is(runs.length, 2);
  await last().finish();
  t.deepEqual(await ask.sent(null), ['hello']);
});

test('a job is no timer, and a timer no job', (t) => {
  kind({
    name: 'wrong',
    commands: {
      wrong: command({ request: z.null(), reply: z.null() }, (turn) => {
        // @ts-expect-error a job is started
        turn.arm(Mailer.jobs.deliver, 1, 'text');
        // @ts-expect-error a timer is armed
        turn.start(Mailer.timers.retry, 'text');
        // @ts-expect-error its payload is a text
        turn.start(keyed(Mailer.jobs.deliver, 'x'), 1);
        return null;
      }),
    },
  });
  t.pass();
});
