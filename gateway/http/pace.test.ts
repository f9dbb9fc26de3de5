import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { Pace } from './pace.ts';

const least = { bytes: 100, windowMs: 10_000 };

test('a sender below the minimum in a window is too slow, and each window counts by itself', async (t) => {
  const clock = new FakeClock();
  const pace = new Pace(least, clock);
  pace.wait();
  pace.moved(99);
  await clock.advance(9_999);
  t.false(pace.isTooSlow(clock.monotonicMs()));
  pace.moved(1);
  await clock.advance(1);
  t.false(pace.isTooSlow(clock.monotonicMs()));
  await clock.advance(10_000);
  t.true(pace.isTooSlow(clock.monotonicMs()));
});

test('only the time of waiting counts, and waiting on does not start again', async (t) => {
  const clock = new FakeClock();
  const pace = new Pace(least, clock);
  await clock.advance(60_000);
  t.false(pace.isTooSlow(clock.monotonicMs()));
  pace.wait();
  await clock.advance(6_000);
  pace.wait();
  await clock.advance(4_000);
  t.true(pace.isTooSlow(clock.monotonicMs()));
  pace.rest();
  t.false(pace.isTooSlow(clock.monotonicMs()));
  pace.wait();
  t.false(pace.isTooSlow(clock.monotonicMs()));
});
