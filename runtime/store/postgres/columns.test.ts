import test from 'ava';
import fc from 'fast-check';
import { partsOf, wholeBytesMax } from './columns.ts';

const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text;

test('a value of up to 512 KiB stays whole, one byte more is cut', (t) => {
  t.deepEqual(partsOf(null), []);
  t.deepEqual(partsOf(''), []);
  t.deepEqual(partsOf('x'.repeat(wholeBytesMax)), []);
  t.deepEqual(partsOf('é'.repeat(wholeBytesMax / 2)), []);
  t.true(partsOf('x'.repeat(wholeBytesMax + 1)).length > 1);
  t.true(partsOf(`${'é'.repeat(wholeBytesMax / 2)}x`).length > 1);
});

test('parts put together are the value; none is too large, empty or cut within a character', (t) => {
  const piece = fc.constantFrom('x', 'é', '漢', '😀', 'x😀');
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 900_000 }),
      (pieces, length) => {
        const unit = pieces.join('');
        const value = unit.repeat(Math.ceil(length / unit.length));
        const parts = partsOf(value);
        if (parts.length === 0) return Buffer.byteLength(value) <= wholeBytesMax;
        return (
          parts.join('') === value &&
          parts.every((part) => part !== '' && Buffer.byteLength(part) <= wholeBytesMax && isWellFormed(part))
        );
      },
    ),
    { numRuns: 60, seed: 7 },
  );
  t.pass();
});
