import test from 'ava';
import fc from 'fast-check';
import { countLeading } from './sorted.ts';

test('the leading values are counted as one look at each would', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (numbers, bound) => {
      const sorted = numbers.toSorted((a, b) => a - b);
      t.is(
        countLeading(sorted, (each) => each < bound),
        sorted.filter((each) => each < bound).length,
      );
    }),
  );
});
