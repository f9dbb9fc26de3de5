import test from 'ava';
import { type HeldReply, ReplyMemory } from './reply-memory.ts';

/**
 * Replies by name. The first letter names their reader, which is anonymous if it is from the end of the alphabet.
 * They release their memory on demand, and the list holds the names that did.
 */
function replies(memory: ReplyMemory, ...names: readonly string[]) {
  const givenUp: string[] = [];
  const all = names.map((name): HeldReply => {
    const reply: HeldReply = {
      reader: { name: name.charAt(0), isAnonymous: name >= 'x' },
      giveUp() {
        givenUp.push(name);
        memory.release(reply);
      },
    };
    return reply;
  });
  return { all, givenUp };
}

test('beyond the bound the reader that kept still the longest goes, and no more than needed', (t) => {
  const memory = new ReplyMemory(100);
  const { all, givenUp } = replies(memory, 'a', 'b', 'c', 'd');
  const [a, b, c, d] = all as [HeldReply, HeldReply, HeldReply, HeldReply];
  memory.hold(a, 40);
  memory.hold(b, 40);
  memory.hold(a, 30);
  memory.hold(c, 30);
  t.deepEqual(givenUp, []);
  t.is(memory.bytes, 100);
  memory.hold(d, 35);
  t.deepEqual(givenUp, ['b']);
  t.is(memory.bytes, 95);
});

test('one that is larger than the bound goes itself, after all others', (t) => {
  const memory = new ReplyMemory(100);
  const { all, givenUp } = replies(memory, 'a', 'b');
  const [a, b] = all as [HeldReply, HeldReply];
  memory.hold(a, 10);
  memory.hold(b, 101);
  t.deepEqual(givenUp, ['a', 'b']);
  t.is(memory.bytes, 0);
  memory.release(a);
  t.is(memory.bytes, 0);
});

test('beyond the bound of a user that user’s replies go, and nobody else’s', (t) => {
  const memory = new ReplyMemory(100, 50);
  const { all, givenUp } = replies(memory, 'b1', 'a1', 'a2', 'a3', 'b2');
  const [b1, a1, a2, a3, b2] = all as [HeldReply, HeldReply, HeldReply, HeldReply, HeldReply];
  memory.hold(b1, 20);
  memory.hold(a1, 25);
  memory.hold(a2, 25);
  memory.hold(a1, 20);
  memory.hold(a3, 20);
  t.deepEqual(givenUp, ['a2']);
  memory.hold(b2, 30);
  t.deepEqual(givenUp, ['a2']);
  t.is(memory.bytes, 90);
  for (const each of all) memory.release(each);
  t.is(memory.bytes, 0);
  memory.hold(a1, 50);
  t.deepEqual(givenUp, ['a2']);
});

test('the only one of a user may be larger than the bound, and makes the user’s others go', (t) => {
  const memory = new ReplyMemory(100, 50);
  const { all, givenUp } = replies(memory, 'a1', 'a2');
  const [a1, a2] = all as [HeldReply, HeldReply];
  memory.hold(a1, 10);
  memory.hold(a2, 80);
  t.deepEqual(givenUp, ['a1']);
  t.is(memory.bytes, 80);
});

test('strangers have half of it together, and the one who has the most of it goes', (t) => {
  const memory = new ReplyMemory(100, 40);
  const { all, givenUp } = replies(memory, 'a1', 'x1', 'y1', 'y2', 'z1', 'b1');
  const [a1, x1, y1, y2, z1, b1] = all as [HeldReply, HeldReply, HeldReply, HeldReply, HeldReply, HeldReply];
  memory.hold(a1, 20);
  memory.hold(x1, 20);
  memory.hold(y1, 15);
  memory.hold(y2, 10);
  memory.hold(z1, 5);
  t.deepEqual(givenUp, []);
  memory.hold(z1, 10);
  t.deepEqual(givenUp, ['y1']);
  memory.hold(z1, 21);
  t.deepEqual(givenUp, ['y1', 'z1']);
  memory.hold(b1, 40);
  t.deepEqual(givenUp, ['y1', 'z1']);
  for (const each of all) memory.release(each);
  t.is(memory.bytes, 0);
});

test('the only reply to strangers may be larger than their half', (t) => {
  const memory = new ReplyMemory(100);
  const { all, givenUp } = replies(memory, 'x', 'y');
  const [x, y] = all as [HeldReply, HeldReply];
  memory.hold(x, 80);
  t.deepEqual(givenUp, []);
  memory.hold(y, 10);
  t.deepEqual(givenUp, ['x']);
  t.is(memory.bytes, 10);
});
