import test from 'ava';
import { LongRandom, SeededRandom } from './random.ts';

const drawn = (random: SeededRandom, count: number) =>
  Array.from({ length: count }, () => random.below(2 ** 32));

test('the same seed gives the same numbers, and its neighbour gives others', (t) => {
  t.deepEqual(drawn(new LongRandom(7), 100), drawn(new LongRandom(7), 100));
  const both = [...drawn(new LongRandom(7), 1000), ...drawn(new LongRandom(8), 1000)];
  t.true(new Set(both).size > 1990);
});

test('a long stream does not join another one where both have drawn the same number', (t) => {
  const inStep = 0x6d2b79f5;
  const isInStep = (first: SeededRandom, second: SeededRandom) => {
    first.fraction();
    return drawn(first, 8).join() === drawn(second, 8).join();
  };
  t.true(isInStep(new SeededRandom(1), new SeededRandom(1 + inStep)), 'the short one does');
  t.false(isInStep(new LongRandom(1), new LongRandom(1 + inStep)));
});

test('the numbers are spread evenly', (t) => {
  const random = new LongRandom(3);
  const counts = new Array<number>(16).fill(0);
  for (let draw = 0; draw < 16_000; draw += 1) {
    const at = random.below(16);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  for (const count of counts) t.true(count > 850 && count < 1150, String(counts));
});
