import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { WriteHealth } from './write-health.ts';

function setUp() {
  const clock = new FakeClock();
  const writes = new WriteHealth(clock);
  const many = (count: number, note: () => void) => {
    for (let index = 0; index < count; index += 1) note();
  };
  return {
    clock,
    writes,
    pass: (count = 1) => many(count, () => writes.passed()),
    fail: (count = 1) => many(count, () => writes.failed()),
  };
}

test('a few failures among many commits are no trouble, and one in five is', async (t) => {
  const { writes, pass, fail } = setUp();
  t.true(writes.isGood);
  pass(95);
  fail(5);
  t.true(writes.isGood);
  fail(15);
  t.false(writes.isGood);
});

test('small writes that still find room do not hide the others', async (t) => {
  const { clock, writes, pass, fail } = setUp();
  for (let second = 0; second < 25; second += 1) {
    fail(4);
    pass(1);
    t.false(writes.isGood);
    await clock.advance(1_000);
  }
});

test('past failures are forgotten within two periods of commits that pass', async (t) => {
  const { clock, writes, pass, fail } = setUp();
  fail(100);
  for (let second = 0; second < 21; second += 1) {
    pass(5);
    await clock.advance(1_000);
  }
  t.true(writes.isGood);
});

test('where nobody writes any more the last commit has the word', async (t) => {
  const { clock, writes, pass, fail } = setUp();
  fail();
  await clock.advance(3_600_000);
  t.false(writes.isGood);
  pass();
  t.true(writes.isGood);
  await clock.advance(3_600_000);
  t.true(writes.isGood);
});
