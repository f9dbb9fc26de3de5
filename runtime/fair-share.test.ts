import test from 'ava';
import { type FairShare, mayTakeOneMore } from './fair-share.ts';

/** What each of so many holds in the end, and what is left, when all take as much as they may. */
function greedy(holders: number, total: number, share: FairShare) {
  const held = Array.from({ length: holders }, () => 0);
  let free = total;
  for (let hasTaken = true; hasTaken; ) {
    hasTaken = false;
    for (const [at, count] of held.entries()) {
      if (!mayTakeOneMore(count, free, share)) continue;
      held[at] = count + 1;
      free -= 1;
      hasTaken = true;
    }
  }
  return { held, free };
}

test('a lone user may hold a part, and never all', (t) => {
  t.like(greedy(1, 10_000, { least: 1, percentOfFree: 1 }), { held: [100] });
});

test('a hundred who take all they may leave half of it to others', (t) => {
  const { held, free } = greedy(100, 10_000, { least: 1, percentOfFree: 1 });
  t.true(free >= 4_900);
  t.true(Math.max(...held) - Math.min(...held) <= 1);
});

test('those who hold nothing may take the last one, and nobody more than there is', (t) => {
  t.true(mayTakeOneMore(0, 1, { least: 1, percentOfFree: 1 }));
  t.false(mayTakeOneMore(1, 99, { least: 1, percentOfFree: 1 }));
  t.false(mayTakeOneMore(0, 0, { least: 1, percentOfFree: 100 }));
});
