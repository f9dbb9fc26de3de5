import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { createRateLimiter, type RateBucket } from './rate-limit.ts';

test('an address may make its number of requests a minute, and learns when it may try again', async (t) => {
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
  t.is(limiter.take(limiter.public, '2001:db8::7'), 0);
  t.true(limiter.take(limiter.public, '2001:db8:0:0:1::9') > 0);
  t.is(limiter.take(limiter.public, '2001:db8:0:2::9'), 0);
});

test('addresses beyond the bound push out the one that asked longest ago, and cost no others theirs', (t) => {
  const limiter = createRateLimiter({ publicPerMinute: 2, sessionPerMinute: 0 }, new FakeClock(), [], 2);
  const isRefused = (address: string) => limiter.take(limiter.public, address) > 0;
  t.deepEqual(['busy', 'busy', 'a', 'busy'].map(isRefused), [false, false, false, true]);
  // The newcomers evict one another.
  t.deepEqual(['b', 'busy', 'c', 'busy', 'd', 'busy'].map(isRefused), [
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
  t.deepEqual(['d', 'a', 'b'].map(isRefused), [false, false, false]);
  // The limiter keeps nothing about an evicted address.
  t.false(isRefused('busy'));
});

const dav = { name: 'dav', perMinute: 1, by: 'address' } as const;
const pairing = { name: 'pairing', perMinute: 1, by: 'user' } as const;

test('a declared bucket has a limit and counts of its own, shared by all that name it', async (t) => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ publicPerMinute: 1, sessionPerMinute: 1 }, clock, [dav, { ...dav }]);
  t.is(limiter.take(limiter.public, 'a'), 0);
  t.is(limiter.take(dav, 'a'), 0);
  t.true(limiter.take({ ...dav }, 'a') > 0);
  t.is(limiter.take(dav, 'b'), 0);
  await clock.advance(60_000);
  t.is(limiter.take(dav, 'a'), 0);
});

test('without a limit for addresses, or users, a bucket of their own has none either', (t) => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ publicPerMinute: 0, sessionPerMinute: 1 }, clock, [dav, pairing]);
  t.false(limiter.limits(dav));
  t.is(limiter.take(dav, 'a') + limiter.take(dav, 'a'), 0);
  t.is(limiter.take(pairing, 'a'), 0);
  t.true(limiter.take(pairing, 'a') > 0);
});

test('two buckets of one name are a mistake reported at the start, and an undeclared one is a defect', (t) => {
  const limits = { publicPerMinute: 1, sessionPerMinute: 1 };
  const create = (...declared: readonly RateBucket[]) => createRateLimiter(limits, new FakeClock(), declared);
  t.throws(() => create(dav, { ...dav, perMinute: 2 }), { message: /called dav/ });
  t.throws(() => create({ ...pairing, name: 'session' }, { ...dav, name: 'session' }), {
    message: /called session/,
  });
  t.throws(() => create().take(dav, 'a'), { message: /not declared/ });
});

test('the windows of users end too', async (t) => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ publicPerMinute: 1, sessionPerMinute: 1 }, clock);
  t.is(limiter.take(limiter.session, 'a'), 0);
  t.true(limiter.take(limiter.session, 'a') > 0);
  await clock.advance(60_000);
  t.is(limiter.take(limiter.session, 'a'), 0);
});
