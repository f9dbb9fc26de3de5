import test from 'ava';
import { drainPromises } from '../test/kit/clock.ts';
import { Semaphore } from './semaphore.ts';

test('so much runs at once, the rest in the order it came, and in the end every place is free', async (t) => {
  const semaphore = new Semaphore(1);
  const begun: string[] = [];
  const ends = new Map<string, (failed: boolean) => void>();
  const run = (name: string) =>
    semaphore.run(() => {
      begun.push(name);
      return new Promise<void>((resolve, reject) =>
        ends.set(name, (failed) => (failed ? reject(new Error(name)) : resolve())),
      );
    });
  t.true(semaphore.isIdle);
  const all = ['a', 'b', 'c'].map(run);
  t.deepEqual(begun, ['a']);
  ends.get('a')?.(true);
  await Promise.allSettled(all.slice(0, 1));
  await drainPromises();
  t.deepEqual(begun, ['a', 'b']);
  ends.get('b')?.(false);
  await drainPromises();
  ends.get('c')?.(false);
  await Promise.allSettled(all);
  t.deepEqual(begun, ['a', 'b', 'c']);
  t.true(semaphore.isIdle);
});

test('callers that want different amounts are served in order, and none overtakes a larger one', async (t) => {
  const semaphore = new Semaphore(10);
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const run = (name: string, amount: number) =>
    semaphore.run(() => {
      started.push(name);
      return new Promise<void>((resolve) => finish.set(name, resolve));
    }, amount);
  const all = [run('a', 6), run('b', 6), run('c', 1)];
  await drainPromises();
  t.deepEqual(started, ['a']);
  finish.get('a')?.();
  await drainPromises();
  t.deepEqual(started, ['a', 'b', 'c']);
  finish.get('b')?.();
  finish.get('c')?.();
  await Promise.all(all);
});

test('work that fails frees its amount', async (t) => {
  const semaphore = new Semaphore(1);
  await t.throwsAsync(semaphore.run(() => Promise.reject(new Error('failed'))));
  t.is(await semaphore.run(async () => 'next'), 'next');
});
