import test from 'ava';
import { drainPromises } from '../../../test/kit/clock.ts';
import { Budget } from './budget.ts';

test('no more is spent at once than there is, and waiters are served in order', async (t) => {
  const budget = new Budget(10);
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const spend = (name: string, amount: number) =>
    budget.spend(amount, () => {
      started.push(name);
      return new Promise<void>((resolve) => finish.set(name, resolve));
    });
  const all = [spend('a', 6), spend('b', 6), spend('c', 1)];
  await drainPromises();
  t.deepEqual(started, ['a']);
  finish.get('a')?.();
  await drainPromises();
  t.deepEqual(started, ['a', 'b', 'c']);
  finish.get('b')?.();
  finish.get('c')?.();
  await Promise.all(all);
});

test('what fails gives back what it took', async (t) => {
  const budget = new Budget(1);
  await t.throwsAsync(budget.spend(1, () => Promise.reject(new Error('failed'))));
  t.is(await budget.spend(1, async () => 'next'), 'next');
});
