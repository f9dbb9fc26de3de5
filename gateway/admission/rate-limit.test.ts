import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { createRateLimiter } from './rate-limit.ts';

test('an address may make its number of requests a minute, and is told when it may again', async (t) => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ publicPerMinute: 2, sessionPerMinute: 0 }, clock);
  await clock.advance(15_000);
  t.deepEqual(
    [1, 2, 3].map(() => limiter.take(limiter.public, 'a')),
    [0, 0, 45_000],
  );
  t.is(limiter.take(limiter.public, 'b'), 0);
  await clock.advance(45_000);
  t.is(limiter.take(limiter.public, 'a'), 0);
});

test('classes are counted apart, and 0 is no limit', (t) => {
  const limiter = createRateLimiter({ publicPerMinute: 1, sessionPerMinute: 1 }, new FakeClock());
  t.is(limiter.take(limiter.public, 'a'), 0);
  t.is(limiter.take(limiter.session, 'a'), 0);
  t.true(limiter.take(limiter.public, 'a') > 0);
  const off = createRateLimiter({ publicPerMinute: 0, sessionPerMinute: 0 }, new FakeClock());
  t.false(off.limits(off.public));
  t.is(off.take(off.public, 'a'), 0);
});

test('the addresses of one IPv6 network count as one', (t) => {
  const limiter = createRateLimiter({ publicPerMinute: 1, sessionPerMinute: 0 }, new FakeClock());
  t.is(limiter.take(limiter.public, '2001:0db8:0000:0001:0000:0000:0000:0001'), 0);
  t.true(limiter.take(limiter.public, '2001:db8:0:1:2::9') > 0);
  t.is(limiter.take(limiter.public, '2001:db8:0:2::9'), 0);
});

test('addresses beyond the bound share one count instead of growing the table', (t) => {
  const limiter = createRateLimiter({ publicPerMinute: 2, sessionPerMinute: 0 }, new FakeClock(), [], 1);
  t.is(limiter.take(limiter.public, 'known'), 0);
  t.deepEqual(
    ['a', 'b', 'c'].map((address) => limiter.take(limiter.public, address) > 0),
    [false, false, true],
  );
  t.is(limiter.take(limiter.public, 'known'), 0);
});
