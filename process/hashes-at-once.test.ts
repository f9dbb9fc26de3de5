import test from 'ava';
import { hashesAtOnce } from './hashes-at-once.ts';

test('a core is left for the event loop, and no more hashes run than the pool has threads', (t) => {
  t.deepEqual([1, 2, 4, 5, 64].map(hashesAtOnce), [1, 1, 3, 4, 4]);
});
