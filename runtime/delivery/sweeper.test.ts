import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { silentLogger } from '../ports.ts';
import { StoreError } from '../store/store.ts';
import { SweepLoop } from './sweeper.ts';

/** One whose sweeps fail when the test says so, and what it has told. */
function failingSweeper(clock: FakeClock) {
  const warnings: string[] = [];
  const fails: (() => void)[] = [];
  const sweep = () =>
    new Promise<number>((_, reject) => fails.push(() => reject(new StoreError('unavailable', 'closed'))));
  const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
  return { sweeper: new SweepLoop({ clock, logger }, sweep), warnings, fails };
}

test('a sweep that fails is told and made again', async (t) => {
  const clock = new FakeClock();
  const { sweeper, warnings, fails } = failingSweeper(clock);
  sweeper.start();
  await clock.advance(0);
  fails.shift()?.();
  await clock.advance(1_000);
  t.deepEqual(warnings, ['a sweep failed; it will be tried again']);
  t.is(fails.length, 1);
});

test('a sweep that fails after the end is neither told nor made again', async (t) => {
  const clock = new FakeClock();
  const { sweeper, warnings, fails } = failingSweeper(clock);
  sweeper.start();
  await clock.advance(0);
  sweeper.stop();
  fails.shift()?.();
  await clock.advance(10_000);
  t.deepEqual([warnings, fails], [[], []]);
});
