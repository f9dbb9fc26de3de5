import test from 'ava';
import { LargeBodies } from './large-bodies.ts';

/** Bodies by name, and the names of those that had their turn. */
function world() {
  const turns: string[] = [];
  const body = (name: string) => ({ enter: () => turns.push(name) });
  return { bodies: new LargeBodies(), turns, body };
}

test('one of each user has its turn, and the others follow in order', (t) => {
  const { bodies, turns, body } = world();
  for (const name of ['a1', 'a2', 'a3']) t.true(bodies.ask('a', body(name)));
  t.true(bodies.ask('b', body('b1')));
  t.deepEqual(turns.splice(0), ['a1', 'b1']);
  bodies.leave('a');
  t.deepEqual(turns.splice(0), ['a2']);
  bodies.leave('a');
  bodies.leave('a');
  t.deepEqual(turns.splice(0), ['a3']);
  t.true(bodies.ask('a', body('a4')));
  t.deepEqual(turns, ['a4']);
});

test('few wait, and one that no longer waits is skipped', (t) => {
  const { bodies, turns, body } = world();
  const second = body('second');
  t.true(bodies.ask('a', body('first')));
  t.true(bodies.ask('a', second));
  for (let more = 0; more < 3; more++) t.true(bodies.ask('a', body('another')));
  t.false(bodies.ask('a', body('too many')));
  bodies.withdraw('a', second);
  bodies.leave('a');
  t.deepEqual(turns, ['first', 'another']);
});
