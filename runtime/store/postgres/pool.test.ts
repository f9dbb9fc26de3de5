import test from 'ava';
import { StatementNames } from './pool.ts';

test('the number of prepared statements is bounded', (t) => {
  const names = new StatementNames(2);
  t.deepEqual(
    ['a', 'b', 'c', 'a'].map((text) => names.nameOf(text)),
    ['s0', 's1', undefined, 's0'],
  );
});
