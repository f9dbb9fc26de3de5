import test from 'ava';
import { type HeldReply, ReplyMemory } from './reply-memory.ts';

/** Replies by name that let go when they are told to, and the names of those that were. */
function replies(memory: ReplyMemory, ...names: readonly string[]) {
  const givenUp: string[] = [];
  const all = names.map((name): HeldReply => {
    const reply: HeldReply = {
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
