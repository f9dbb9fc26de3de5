import test from 'ava';
import { compareNewestFirst } from './order.ts';

const at = (created_at: string, uuid: string) => ({ uuid, created_at });

test('the newest is first, and those of one moment are in the same order however they come', (t) => {
  const [newest, b, a, oldest] = [at('3', 'a'), at('2', 'b'), at('2', 'a'), at('1', 'c')];
  for (const input of [
    [oldest, a, b, newest],
    [b, oldest, newest, a],
  ]) {
    t.deepEqual(input.toSorted(compareNewestFirst), [newest, b, a, oldest]);
  }
  t.is(compareNewestFirst(a, { ...a }), 0);
});
