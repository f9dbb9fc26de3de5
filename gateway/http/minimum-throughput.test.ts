import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { ThroughputWatch } from './minimum-throughput.ts';

const least = { bytes: 100, windowMs: 10_000 };

test('a sender below the minimum in a window is too slow, and each window counts by itself', async (t) => {
  const clock = new FakeClock();
  const throughput = new ThroughputWatch(least, clock);
  throughput.wait();
  throughput.moved(99);
  await clock.advance(9_999);
  t.false(throughput.isTooSlow(clock.monotonicMs()));
  throughput.moved(1);
  await clock.advance(1);
  t.false(throughput.isTooSlow(clock.monotonicMs()));
  await clock.advance(10_000);
  t.true(throughput.isTooSlow(clock.monotonicMs()));
});

test('only the time of waiting counts, and waiting on does not start again', async (t) => {
  const clock = new FakeClock();
  const throughput = new ThroughputWatch(least, clock);
  await clock.advance(60_000);
  t.false(throughput.isTooSlow(clock.monotonicMs()));
  throughput.wait();
  await clock.advance(6_000);
  throughput.wait();
  await clock.advance(4_000);
  t.true(throughput.isTooSlow(clock.monotonicMs()));
  throughput.rest();
  t.false(throughput.isTooSlow(clock.monotonicMs()));
  throughput.wait();
  t.false(throughput.isTooSlow(clock.monotonicMs()));
});
