import test from 'ava';
import { FakeClock } from '../test/kit/clock.ts';
import { systemClock } from './clock.ts';
import { createReadiness } from './readiness.ts';

test('however many ask, checks run once, and what it finds is kept a second', async (t) => {
  const clock = new FakeClock();
  let runs = 0;
  let isUp = true;
  const database = async () => {
    runs += 1;
    return isUp;
  };
  const readiness = createReadiness({ database }, clock);
  const reports = await Promise.all(Array.from({ length: 1_100 }, () => readiness.report()));
  t.true(reports.every(({ ready }) => ready));
  isUp = false;
  await clock.advance(999);
  t.true((await readiness.report()).ready);
  t.is(runs, 1);
  await clock.advance(1);
  t.false((await readiness.report()).ready);
  t.is(runs, 2);
});

test('a check that nobody waits for any more is not joined by another', async (t) => {
  const clock = new FakeClock();
  let runs = 0;
  let answer: (isUp: boolean) => void = () => {};
  const database = () => {
    runs += 1;
    return new Promise<boolean>((resolve) => {
      answer = resolve;
    });
  };
  const readiness = createReadiness({ database }, clock);
  for (let second = 0; second < 5; second += 1) {
    const report = readiness.report();
    await clock.advance(2_000);
    t.is((await report).checks['database'], 'failed');
    await clock.advance(1_000);
  }
  t.is(runs, 1);
  const report = readiness.report();
  answer(true);
  t.true((await report).ready);
});

test('a shutdown is told at once', async (t) => {
  const readiness = createReadiness({ database: () => true }, new FakeClock());
  t.true((await readiness.report()).ready);
  readiness.startDraining();
  t.deepEqual(await readiness.report(), { ready: false, checks: { database: 'ok', serving: 'failed' } });
});

test('a check that is tolerated is told and keeps nobody away, any other does', async (t) => {
  const failing = { transport: () => false, host: () => Promise.reject(new Error('no')) };
  const ofAll = createReadiness(failing, systemClock, ['transport', 'host']);
  t.deepEqual(await ofAll.report(), {
    ready: true,
    checks: { transport: 'degraded', host: 'degraded', serving: 'ok' },
  });
  const ofOne = createReadiness(failing, systemClock, ['transport']);
  t.like(await ofOne.report(), { ready: false, checks: { transport: 'degraded', host: 'failed' } });
  ofAll.startDraining();
  t.like(await ofAll.report(), { ready: false, checks: { serving: 'failed' } });
});
