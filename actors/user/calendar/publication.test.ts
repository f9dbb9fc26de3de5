import test from 'ava';
import { overflowOf, todoCapacityBytes, todosMax } from './publication.ts';

test('an account has room for 10,000 to-dos and 16 MiB of them, and for not one and not a byte more', (t) => {
  t.deepEqual([todosMax, todoCapacityBytes], [10_000, 16_777_216]);
  const fullest = { todos: 10_000, bytes: 16_777_216 };
  t.is(overflowOf(fullest), undefined);
  t.is(overflowOf({ ...fullest, todos: 10_001 }), 'todos');
  t.is(overflowOf({ ...fullest, bytes: 16_777_217 }), 'bytes');
  t.is(overflowOf({ todos: 10_001, bytes: 16_777_217 }), 'todos');
});
