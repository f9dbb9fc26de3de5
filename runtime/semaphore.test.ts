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
