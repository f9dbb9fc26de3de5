import test from 'ava';
import { Sight } from './sight.ts';

const leaseMs = 10_000;

test('the database is in sight after a lease of answers, and not before', (t) => {
  const sight = new Sight(leaseMs);
  for (let nowMs = 0; nowMs < leaseMs; nowMs += 2_500) {
    t.false(sight.hasLasted(nowMs));
    sight.seen(nowMs);
  }
  t.true(sight.hasLasted(leaseMs));
});

test('after a break it has to be seen for a lease again', (t) => {
  const sight = new Sight(leaseMs);
  for (let nowMs = 0; nowMs <= leaseMs; nowMs += 2_500) sight.seen(nowMs);
  const backMs = 3 * leaseMs;
  t.false(sight.hasLasted(backMs));
  for (let nowMs = backMs; nowMs < backMs + leaseMs; nowMs += 2_500) {
    sight.seen(nowMs);
    t.false(sight.hasLasted(nowMs));
  }
  t.true(sight.hasLasted(backMs + leaseMs));
});

test('a slow database is in sight, too, as long as its answers are close enough', (t) => {
  const sight = new Sight(leaseMs);
  for (let beganMs = 0; beganMs <= leaseMs; beganMs += 6_000) {
    for (const answeredMs of [0, 3_000]) sight.seen(beganMs + answeredMs);
  }
  t.true(sight.hasLasted(12_000));
});
