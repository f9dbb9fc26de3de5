import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { shardOf } from './address.ts';

const address = fc.record({ kind: fc.string({ maxLength: 8 }), id: fc.uuid() });
const shardCount = fc.integer({ min: 0, max: 12 }).map((bits) => 2 ** bits);

test('a shard is the scaled first two bytes of the digest of kind, zero byte and id', (t) => {
  const digest = createHash('sha256')
    .update('user')
    .update(Buffer.from([0]))
    .update('abc')
    .digest();
  t.is(shardOf({ kind: 'user', id: 'abc' }, 1_024), Math.floor((digest.readUInt16BE(0) * 1_024) / 65_536));
});

test('every address has a shard below the count, and doubling the count splits each shard in two', (t) => {
  fc.assert(
    fc.property(address, shardCount, (of, count) => {
      const shard = shardOf(of, count);
      t.true(shard >= 0 && shard < count);
      t.is(Math.floor(shardOf(of, count * 2) / 2), shard);
    }),
  );
});
