import test from 'ava';
import fc from 'fast-check';
import { otherUserUuid, userUuid, uuidNumber } from '../../test/kit/items.ts';
import { membershipsMax } from '../vault/settings.ts';
import { head as headSlice } from './head.ts';
import { decodeToken, encodeToken, notBeyond, startOf, tokenAt } from './token.ts';

const head = { ...headSlice.initial, position: 7 };
const start = (sync: string | null | undefined, cursor?: string | null) =>
  startOf({ sync, cursor }, userUuid, 'gen', head);
const own = (position: number, generation = 'gen') =>
  encodeToken([{ collection: userUuid, generation, position }]);

test('tokens round trip', (t) => {
  const cursor = fc.record({
    collection: fc.oneof(fc.constantFrom(userUuid, otherUserUuid), fc.uuid()),
    generation: fc.oneof(fc.constantFrom('', 'gen', 'gen_i1'), fc.stringMatching(/^[\w-]{0,32}$/)),
    position: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(fc.array(cursor), (cursors) => t.deepEqual(decodeToken(encodeToken(cursors)), cursors)),
  );
});

test('a token goes no further than another one, wherever both know a collection', (t) => {
  const cursorsOf = (...positions: number[]) =>
    positions.map((position, n) => ({ collection: uuidNumber(n), generation: 'gen', position }));
  const limited = (cursors: Parameters<typeof encodeToken>[0], limits: Parameters<typeof encodeToken>[0]) =>
    decodeToken(notBeyond(encodeToken(cursors), encodeToken(limits)));
  t.deepEqual(limited(cursorsOf(5, 5, 5), cursorsOf(4, 6)), cursorsOf(4, 5, 5));
  const other = cursorsOf(1).map((cursor) => ({ ...cursor, generation: 'other' }));
  t.deepEqual(limited(cursorsOf(5), other), cursorsOf(5));
});

test('a token of a client in as many vaults as an account may be in is read', (t) => {
  const longest = { generation: 'g'.repeat(32), position: Number.MAX_SAFE_INTEGER };
  const cursors = Array.from({ length: 2 * membershipsMax + 2 }, (_, n) => ({
    collection: uuidNumber(n + 1),
    ...longest,
  }));
  t.deepEqual(decodeToken(encodeToken(cursors)), cursors);
});

test('a token says nothing twice', (t) => {
  const generation = 'g'.repeat(16);
  const cursorsOf = (collection: string) => [
    { collection, generation: `${generation}_i1`, position: 10 },
    { collection, generation: `${generation}_v1`, position: 10 },
  ];
  const vaults = Array.from({ length: 100 }, (_, n) => uuidNumber(n + 1));
  const inNone = encodeToken([{ collection: userUuid, generation, position: 10 }]);
  const inVaults = encodeToken([
    { collection: userUuid, generation, position: 10 },
    ...vaults.flatMap(cursorsOf),
  ]);
  t.true(inVaults.length - inNone.length <= 100 * 60);
});

test('no text is an error: what is unreadable begins at 0 with tombstones', (t) => {
  const anything = fc.oneof(fc.string({ minLength: 1 }), fc.base64String({ minLength: 4 }));
  fc.assert(fc.property(anything, (text) => t.deepEqual(start(text), { after: 0, first: false })));
});

test('a missing, null or empty token is a first sync', (t) => {
  for (const none of [undefined, null, '']) t.deepEqual(start(none, none), { after: 0, first: true });
});

test('a token of this collection and generation up to the head is followed', (t) => {
  t.deepEqual(start(own(3)), { after: 3, first: false });
  t.deepEqual(start(own(7)), { after: 7, first: false });
});

test('a token of a predecessor server begins at 0 with tombstones', (t) => {
  for (const old of ['2:1616164633.241312', '2:x', '1:2021-03-19T14:37:13.241Z']) {
    t.deepEqual(start(Buffer.from(old).toString('base64')), { after: 0, first: false });
  }
});

test('a token ahead of the head, of another generation or collection begins at 0 with tombstones', (t) => {
  const foreign = encodeToken([{ collection: otherUserUuid, generation: 'gen', position: 3 }]);
  for (const token of [own(8), own(3, 'other'), foreign, 'x'.repeat(1e6)]) {
    t.deepEqual(start(token), { after: 0, first: false });
  }
});

test('a cursor wins over a sync token, and an empty one does not', (t) => {
  t.deepEqual(start(own(6), own(2)), { after: 2, first: false });
  t.deepEqual(start(own(6), ''), { after: 6, first: false });
  t.deepEqual(start(null, own(2)), { after: 2, first: false });
});

test('the token of a position names that collection, also where collections share the empty head', (t) => {
  const cases = [
    [userUuid, head],
    [userUuid, headSlice.initial],
    [otherUserUuid, headSlice.initial],
  ] as const;
  for (const [collection, of] of cases) {
    for (const position of [of.position, 0, of.position]) {
      const cursor = { collection, generation: 'gen', position };
      t.deepEqual(decodeToken(tokenAt(collection, 'gen', of, position)), [cursor]);
    }
  }
});
