import test from 'ava';
import { FakeClock } from '../test/kit/clock.ts';
import { SampledLog } from './sampled-log.ts';

test('many of one cause are one line a second, which says how many', async (t) => {
  const clock = new FakeClock();
  const log = new SampledLog(clock);
  t.is(log.times('full'), 1);
  for (let count = 0; count < 500; count += 1) t.is(log.times('full'), undefined);
  t.is(log.times('away'), 1);
  await clock.advance(999);
  t.is(log.times('full'), undefined);
  await clock.advance(1);
  t.is(log.times('full'), 502);
  t.is(log.times('full'), undefined);
});

test('causes without end are no lines without end', async (t) => {
  const clock = new FakeClock();
  const log = new SampledLog(clock);
  const lines = Array.from({ length: 1_000 }, (_, index) => log.times(`cause ${index}`)).filter(
    (times) => times !== undefined,
  );
  t.true(lines.length <= 102);
  await clock.advance(1_000);
  t.is(log.times('cause 5000'), 1);
});
