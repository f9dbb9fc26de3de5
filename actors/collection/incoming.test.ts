import test from 'ava';
import fc from 'fast-check';
import { batchesOf, fitsOneTurn } from './incoming.ts';

const limits = { bytes: 100, items: 3 };
const ofSize = (bytes: number) => ({ content: 'x'.repeat(bytes) });

test('items are cut by bytes and by count, in order', (t) => {
  const items = [60, 30, 20, 0, 0, 0, 500, 1].map(ofSize);
  const sizes = batchesOf(items, limits).map((batch) => batch.map(({ content }) => String(content).length));
  t.deepEqual(sizes, [[60, 30], [20, 0, 0], [0], [500], [1]]);
});

test('no item is lost or moved, and no batch breaks a limit unless it is one item', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(150)), (sizes) => {
      const items = sizes.map(ofSize);
      const batches = batchesOf(items, limits);
      t.deepEqual(batches.flat(), items);
      t.true(batches.every((batch) => fitsOneTurn(batch, limits)));
    }),
  );
});
