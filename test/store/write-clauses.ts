/** The effects of one commit on rows: rewrites, removals, new rows, unique keys, large values. */
import assert from 'node:assert/strict';
import { sliceTable } from '../../runtime/store/tables.ts';
import {
  activate,
  actor,
  assertFails,
  assertPasses,
  commitAfter,
  commitOn,
  insert,
  put,
  putSlice,
  remove,
  rowsOf,
  sliceTexts,
} from './actors.ts';
import type { Clause } from './subject.ts';
import { letterTable, note, noteTable, parcel, parcelTable, seatTable, uuid } from './tables.ts';

const ada = actor(1);
const bob = actor(2);
const noteKey = { owner_uuid: ada.id, uuid: uuid(50) };
const large = (letter: string): string => letter.repeat(600 * 1024);

export const writeClauses: readonly Clause[] = [
  {
    name: 'every column comes back as it was written',
    async check({ store }) {
      const row = note(ada.id, uuid(50), {
        position: Number.MAX_SAFE_INTEGER,
        content: 'quotes " \' backslash \\ braces {} comma , NULL \n é 😀',
        size: -1,
        deleted: true,
        digest: Buffer.from([0, 255, 34, 92]),
      });
      const bare = note(ada.id, uuid(51), { content: null, digest: Buffer.alloc(0) });
      const empty = note(ada.id, uuid(52), { content: '', position: 0 });
      const writes = [row, bare, empty].map((written) => insert(noteTable, written));
      await assertPasses(store, [commitOn(await activate(store, ada), ada, 1, writes)], [0]);
      const keys = [row, bare, empty].map(({ owner_uuid, uuid: id }) => ({ owner_uuid, uuid: id }));
      const found = await rowsOf(store, noteTable, ...keys);
      assert.deepEqual(
        found.map((one) => ({ ...one })),
        [row, bare, empty],
      );
    },
  },
  {
    name: 'a key with a null keeps nobody out: of a thing that moves one row is born, and one takes each hop',
    async check({ store }) {
      const at = (owner: string, changes: Parameters<typeof parcel>[2]) =>
        insert(parcelTable, parcel(owner, uuid(600), changes));
      const first = commitOn(await activate(store, ada), ada, 1, [at(ada.id, { born: true })]);
      await assertPasses(store, [first], [0]);
      const row = await activate(store, bob);
      await assertFails(store.commit([commitOn(row, bob, 2, [at(bob.id, { born: true })])]), 'rejected');
      await assertFails(
        store.commit([commitOn(row, bob, 3, [at(bob.id, { born: true, hop: 1 })])]),
        'rejected',
      );
      const second = commitOn(row, bob, 4, [at(bob.id, { hop: 1 })]);
      await assertPasses(store, [second], [0]);
      const rewritten = (hop: number) =>
        put(parcelTable, parcel(ada.id, uuid(600), { born: true, hop, position: 2 }));
      await assertFails(store.commit([commitAfter(first, 5, [rewritten(1)])]), 'rejected');
      await assertPasses(store, [commitAfter(first, 6, [rewritten(2)])], [0]);
      // Any owner may take a hop that was given away.
      const moved = put(parcelTable, parcel(bob.id, uuid(600), { hop: 3, position: 2 }));
      await assertPasses(store, [commitAfter(second, 7, [moved])], [0]);
      const third = actor(3);
      await assertPasses(
        store,
        [commitOn(await activate(store, third), third, 8, [at(third.id, { hop: 1 })])],
        [0],
      );
    },
  },
  {
    name: 'one key written by successive commits ends as the last of them',
    async check({ store }) {
      const born = commitOn(await activate(store, ada), ada, 1, [
        insert(noteTable, note(ada.id, uuid(50))),
        putSlice(ada, 'profile', 'one'),
      ]);
      const rewritten = commitAfter(born, 2, [
        put(noteTable, note(ada.id, uuid(50), { content: 'again', deleted: true })),
        putSlice(ada, 'profile', 'two'),
      ]);
      await assertPasses(store, [born], [0]);
      await assertPasses(store, [rewritten], [0]);
      const [row] = await rowsOf(store, noteTable, noteKey);
      assert.deepEqual({ ...row }, note(ada.id, uuid(50), { content: 'again', deleted: true }));
      assert.deepEqual(await sliceTexts(store, ada), { profile: 'two' });
      const removed = commitAfter(rewritten, 3, [
        remove(noteTable, noteKey),
        remove(sliceTable, { ...ada, slice: 'profile' }),
      ]);
      await assertPasses(store, [removed], [0]);
      assert.deepEqual(await rowsOf(store, noteTable, noteKey), []);
      const reborn = commitAfter(removed, 4, [insert(noteTable, note(ada.id, uuid(50), { position: 9 }))]);
      await assertPasses(store, [reborn], [0]);
      assert.equal((await rowsOf(store, noteTable, noteKey))[0]?.['position'], 9);
    },
  },
  {
    name: 'removing what is not there is no error',
    async check({ store }) {
      const commit = commitOn(await activate(store, ada), ada, 1, [
        remove(noteTable, noteKey),
        remove(sliceTable, { ...ada, slice: 'none' }),
      ]);
      await assertPasses(store, [commit], [0]);
    },
  },
  {
    name: 'one commit may remove and insert in one table, and hand a unique key over',
    async check({ store }) {
      const seat = { owner_uuid: ada.id, number: 1, born: 1, code: 'a', region: 'eu' };
      const first = commitOn(await activate(store, ada), ada, 1, [insert(seatTable, seat)]);
      await assertPasses(store, [first], [0]);
      const swap = commitAfter(first, 2, [
        insert(seatTable, { ...seat, number: 2, born: 2 }),
        remove(seatTable, { owner_uuid: ada.id, number: 1 }),
      ]);
      await assertPasses(store, [swap], [0]);
      const keys = [1, 2].map((number) => ({ owner_uuid: ada.id, number }));
      const seats = await rowsOf(store, seatTable, ...keys);
      assert.deepEqual(
        seats.map((row) => ({ ...row })),
        [{ ...seat, number: 2, born: 2 }],
      );
    },
  },
  {
    name: 'one batch may remove in a table for one actor and insert for another',
    async check({ store }) {
      const first = commitOn(await activate(store, ada), ada, 1, [putSlice(ada, 'draft', 'x')]);
      await assertPasses(store, [first], [0]);
      const removal = commitAfter(first, 2, [remove(sliceTable, { ...ada, slice: 'draft' })]);
      const insertion = commitOn(await activate(store, bob), bob, 3, [putSlice(bob, 'draft', 'y')]);
      await assertPasses(store, [removal, insertion], [0, 1]);
      assert.deepEqual(await sliceTexts(store, ada), {});
      assert.deepEqual(await sliceTexts(store, bob), { draft: 'y' });
    },
  },
  {
    name: 'an insert whose key exists under another generation is rejected, whatever it says of itself',
    async check({ store }) {
      const born = commitOn(await activate(store, ada), ada, 1, [
        insert(noteTable, note(ada.id, uuid(50))),
        insert(seatTable, { owner_uuid: ada.id, number: 1, born: 1, code: null, region: null }),
      ]);
      await assertPasses(store, [born], [0]);
      const unread = note(ada.id, uuid(50), { position: 2, content: 'unread' });
      await assertFails(store.commit([commitAfter(born, 2, [insert(noteTable, unread)])]), 'rejected');
      await assertFails(store.commit([commitAfter(born, 3, [put(noteTable, unread)])]), 'rejected');
      const seat = { owner_uuid: ada.id, number: 1, born: 2, code: null, region: null };
      await assertFails(store.commit([commitAfter(born, 4, [insert(seatTable, seat)])]), 'rejected');
      assert.equal((await rowsOf(store, noteTable, noteKey))[0]?.['content'], 'text');
      assert.deepEqual(await store.head(ada), { epoch: 1, version: 1, commitId: uuid(1) });
    },
  },
  {
    name: 'unique keys with a null in them are no keys',
    async check({ store }) {
      const seats = [1, 2].map((number) =>
        insert(seatTable, { owner_uuid: ada.id, number, born: number, code: 'a', region: null }),
      );
      await assertPasses(store, [commitOn(await activate(store, ada), ada, 1, seats)], [0]);
    },
  },
  {
    name: 'two rows of one commit may not share a unique key',
    async check({ store }) {
      const seats = [1, 2].map((number) =>
        insert(seatTable, { owner_uuid: ada.id, number, born: number, code: 'a', region: 'eu' }),
      );
      const commit = commitOn(await activate(store, ada), ada, 1, seats);
      await assertFails(store.commit([commit]), 'rejected');
    },
  },
  {
    name: 'large values come back whole through every change of size',
    async check({ store }) {
      const sizes = [
        'small',
        large('a'),
        `${large('é').repeat(2)}😀`,
        large('b'),
        'small again',
        null,
        large('c'),
      ];
      let commit = commitOn(await activate(store, ada), ada, 1, []);
      await assertPasses(store, [commit], [0]);
      for (const [index, content] of sizes.entries()) {
        const isNew = index === 0;
        commit = commitAfter(commit, 100 + index, [
          { table: noteTable, put: note(ada.id, uuid(50), { content }), isNew },
          { table: letterTable, put: { owner_uuid: ada.id, name: 'x', body: content }, isNew: true },
        ]);
        await assertPasses(store, [commit], [0]);
        const [row] = await rowsOf(store, noteTable, noteKey);
        assert.ok(row?.['content'] === content, `content ${index} came back otherwise`);
        const [letter] = await rowsOf(store, letterTable, { owner_uuid: ada.id, name: 'x' });
        assert.ok(letter?.['body'] === content, `body ${index} came back otherwise`);
      }
      const removal = commitAfter(commit, 200, [remove(noteTable, noteKey)]);
      await assertPasses(store, [removal], [0]);
      const reborn = commitAfter(removal, 201, [
        insert(noteTable, note(ada.id, uuid(50), { position: 2, content: 'new' })),
      ]);
      await assertPasses(store, [reborn], [0]);
      assert.equal((await rowsOf(store, noteTable, noteKey))[0]?.['content'], 'new');
    },
  },
  {
    name: 'a surrogate pair is never cut where a large value is',
    async check({ store }) {
      const contents = [0, 1, 2].map((offset) => 'x'.repeat(offset) + '😀'.repeat(200_000));
      const writes = contents.map((content, index) =>
        insert(noteTable, note(ada.id, uuid(60 + index), { position: index, content })),
      );
      await assertPasses(store, [commitOn(await activate(store, ada), ada, 1, writes)], [0]);
      const keys = contents.map((_, index) => ({ owner_uuid: ada.id, uuid: uuid(60 + index) }));
      const rows = await rowsOf(store, noteTable, ...keys);
      assert.ok(rows.every((row, index) => row['content'] === contents[index]));
    },
  },
];
