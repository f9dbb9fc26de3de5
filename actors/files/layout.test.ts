import test from 'ava';
import fc from 'fast-check';
import {
  blobName,
  type Chunk,
  chunkIn,
  chunksIn,
  isWithoutGap,
  noChunks,
  packBlobs,
  piecesOf,
  unpackBlobs,
  uploadOf,
  withChunk,
} from './layout.ts';
import { isBlobName } from './store.ts';

const origin = {
  storedUnder: '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f',
  uploadUuid: '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f',
};
const nonce = fc.stringMatching(/^[0-9a-f]{16}$/);
const chunks = fc
  .array(fc.record({ bytes: fc.integer({ min: 1, max: 40 }), nonce }), { minLength: 1, maxLength: 12 })
  .map((all) => all.map((chunk, index): Chunk => ({ ...chunk, number: index + 1 })));
const layoutOf = (all: readonly Chunk[]) => all.reduce(withChunk, noChunks);

test('chunks are where their numbers say, in whatever order they come', (t) => {
  fc.assert(
    fc.property(
      chunks.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        const layout = layoutOf(shuffled);
        t.deepEqual(chunksIn(layout), all);
        t.deepEqual(Buffer.from(layout), Buffer.from(layoutOf(all)));
        t.true(isWithoutGap(layout));
      },
    ),
  );
});

test('without any of its chunks a file has a gap, unless it is the last', (t) => {
  fc.assert(
    fc.property(chunks, fc.nat(), (all, nth) => {
      const missing = all[nth % all.length] as Chunk;
      const layout = layoutOf(all.filter((chunk) => chunk !== missing));
      t.is(isWithoutGap(layout), missing.number === all.length && all.length > 1);
      t.is(chunkIn(layout, missing.number), undefined);
    }),
  );
});

test('the last chunk that came under a number counts', (t) => {
  fc.assert(
    fc.property(chunks, fc.nat(), nonce, (all, nth, later) => {
      const before = all[nth % all.length] as Chunk;
      const after = { ...before, nonce: later, bytes: before.bytes + 1 };
      t.deepEqual(chunkIn(withChunk(layoutOf(all), after), before.number), after);
    }),
  );
});

test('the pieces of any range are those bytes of the file and no others', (t) => {
  fc.assert(
    fc.property(chunks, fc.nat(), fc.nat(), (all, one, other) => {
      const content = new Map(
        all.map((chunk) => [blobName(origin, chunk), Buffer.alloc(chunk.bytes, chunk.number)]),
      );
      const whole = Buffer.concat([...content.values()]);
      const [first, last] = [one % whole.length, other % whole.length].sort((a, b) => a - b) as [
        number,
        number,
      ];
      const pieces = piecesOf(origin, layoutOf(all), { first, last });
      const read = pieces.map(({ name, start, end }) => content.get(name)?.subarray(start, end) as Buffer);
      t.deepEqual(Buffer.concat(read), whole.subarray(first, last + 1));
      t.true(pieces.every(({ start, end }) => start < end));
    }),
  );
});

test('the record of blobs names them again, as the store knows them', (t) => {
  fc.assert(
    fc.property(chunks, (all) => {
      const blobs = all.map(({ number, nonce }) => ({ number, nonce }));
      t.deepEqual(unpackBlobs(packBlobs(blobs)), blobs);
      for (const blob of blobs) {
        t.true(isBlobName(blobName(origin, blob)));
        t.is(uploadOf(blobName(origin, blob)), origin.uploadUuid);
      }
    }),
  );
  t.is(uploadOf('incoming/something'), undefined);
});
