/** Keys, look-ups, ranges, and the sweeps for timers, tells and old calls. */
import assert from 'node:assert/strict';
import type { RangeRead, Store, StoreRows } from '../../runtime/store/store.ts';
import type { AnyRow } from '../../runtime/table.ts';
import {
  activate,
  actor,
  assertFails,
  assertPasses,
  commitOn,
  commitWrites,
  insert,
  rowsOf,
} from './actors.ts';
import type { Clause, Subject } from './subject.ts';
import { note, noteTable, seatTable, uuid } from './tables.ts';

const ada = actor(1);
const bob = actor(2);

/** Five notes of ada at positions 10 to 50, of 100 bytes each by their size; those at 20 and 40 deleted. */
async function givenFiveNotes({ store }: Subject): Promise<void> {
  const notes = [10, 20, 30, 40, 50].map((position) =>
    insert(
      noteTable,
      note(ada.id, uuid(position), {
        position,
        size: 100,
        deleted: position % 20 === 0,
        content: `at ${position}`,
      }),
    ),
  );
  const alien = [insert(noteTable, note(bob.id, uuid(99), { position: 25 }))];
  const commits = [
    commitOn(await activate(store, ada), ada, 1, notes),
    commitOn(await activate(store, bob), bob, 2, alien),
  ];
  await assertPasses(store, commits, [0, 1]);
}

async function range(store: Store, changes: Partial<RangeRead>): Promise<StoreRows> {
  const read: RangeRead = {
    read: 'range',
    table: noteTable,
    owner: ada.id,
    after: 0,
    through: 1_000,
    limit: 100,
    ...changes,
  };
  const [result] = await store.read([read]);
  assert.ok(result);
  return result;
}

async function positions(store: Store, changes: Partial<RangeRead>): Promise<[unknown[], boolean]> {
  const { rows, complete } = await range(store, changes);
  return [rows.map((row) => row['position']), complete];
}

const seat = (number: number, code: string | null, region: string | null) =>
  insert(seatTable, { owner_uuid: ada.id, number, born: number, code, region });

export const readClauses: readonly Clause[] = [
  {
    name: 'a range is of one owner, after and through its bounds, in order',
    async check(subject) {
      await givenFiveNotes(subject);
      const { store } = subject;
      assert.deepEqual(await positions(store, {}), [[10, 20, 30, 40, 50], true]);
      assert.deepEqual(await positions(store, { after: 10, through: 40 }), [[20, 30, 40], true]);
      assert.deepEqual(await positions(store, { after: 50 }), [[], true]);
      assert.deepEqual(await positions(store, { owner: uuid(3) }), [[], true]);
    },
  },
  {
    name: 'a range cut by its limit is incomplete; one that ends exactly at it is complete',
    async check(subject) {
      await givenFiveNotes(subject);
      assert.deepEqual(await positions(subject.store, { limit: 4 }), [[10, 20, 30, 40], false]);
      assert.deepEqual(await positions(subject.store, { limit: 5 }), [[10, 20, 30, 40, 50], true]);
    },
  },
  {
    name: 'a budget ends the range after the row that reaches it',
    async check(subject) {
      await givenFiveNotes(subject);
      const { store } = subject;
      assert.deepEqual(await positions(store, { budgetBytes: 1 }), [[10], false]);
      assert.deepEqual(await positions(store, { budgetBytes: 200 }), [[10, 20], false]);
      assert.deepEqual(await positions(store, { budgetBytes: 201 }), [[10, 20, 30], false]);
      assert.deepEqual(await positions(store, { budgetBytes: 500 }), [[10, 20, 30, 40, 50], true]);
      assert.deepEqual(await positions(store, { budgetBytes: 500, limit: 3 }), [[10, 20, 30], false]);
      assert.deepEqual(await positions(store, { budgetBytes: 500, limit: 5 }), [[10, 20, 30, 40, 50], true]);
      assert.deepEqual(await positions(store, { budgetBytes: 500, after: 50 }), [[], true]);
    },
  },
  {
    name: 'a subset holds limit and budget against its own rows only',
    async check(subject) {
      await givenFiveNotes(subject);
      const { store } = subject;
      assert.deepEqual(await positions(store, { subset: 'live' }), [[10, 30, 50], true]);
      assert.deepEqual(await positions(store, { subset: 'live', limit: 2 }), [[10, 30], false]);
      assert.deepEqual(await positions(store, { subset: 'live', budgetBytes: 150 }), [[10, 30], false]);
      assert.deepEqual(await positions(store, { subset: 'live', budgetBytes: 300 }), [[10, 30, 50], true]);
    },
  },
  {
    name: 'named columns come with the key and the order, and nothing else',
    async check(subject) {
      await givenFiveNotes(subject);
      for (const budgetBytes of [undefined, 50]) {
        const { rows } = await range(subject.store, { columns: ['deleted'], limit: 1, budgetBytes });
        assert.deepEqual(
          rows.map((row) => ({ ...row })),
          [{ owner_uuid: ada.id, uuid: uuid(10), position: 10, deleted: false }],
        );
      }
    },
  },
  {
    name: 'a range carries large content, with and without a budget',
    async check(subject) {
      const content = 'z'.repeat(700_000);
      const row = note(ada.id, uuid(10), { content, size: content.length });
      await commitWrites(subject.store, ada, [insert(noteTable, row)]);
      for (const budgetBytes of [undefined, 1]) {
        const { rows } = await range(subject.store, { budgetBytes, columns: ['content'] });
        assert.ok(rows[0]?.['content'] === content);
      }
    },
  },
  {
    name: 'a range that its table cannot serve is a defect',
    async check({ store }) {
      await assertFails(range(store, { table: seatTable }), 'defect');
      await assertFails(range(store, { subset: 'none' }), 'defect');
      await assertFails(range(store, { limit: 0 }), 'defect');
      await assertFails(range(store, { budgetBytes: 0 }), 'defect');
    },
  },
  {
    name: 'rows by key and by unique key come in the order asked, each once, and absent ones not at all',
    async check(subject) {
      await givenFiveNotes(subject);
      const key = (position: number) => ({ owner_uuid: ada.id, uuid: uuid(position) });
      const found = await rowsOf(subject.store, noteTable, key(50), key(77), key(10), key(50));
      assert.deepEqual(
        found.map((row) => row['position']),
        [50, 10],
      );
      assert.deepEqual(await rowsOf(subject.store, noteTable, { owner_uuid: bob.id, uuid: uuid(10) }), []);
      assert.deepEqual(await rowsOf(subject.store, noteTable), []);
      const values = [99, 78, 20].map((number) => ({ uuid: uuid(number) }));
      const [answered] = await subject.store.read([
        { read: 'lookup', table: noteTable, unique: ['uuid'], values },
      ]);
      assert.deepEqual(
        answered?.rows.map((row) => row['owner_uuid']),
        [bob.id, ada.id],
      );
    },
  },
  {
    name: 'a look-up compares every column of its unique key',
    async check({ store }) {
      await commitWrites(store, ada, [seat(1, 'a', 'eu'), seat(2, 'a', 'us')]);
      const values = [
        { code: 'a', region: 'us' },
        { code: 'b', region: 'eu' },
      ];
      const [found] = await store.read([
        { read: 'lookup', table: seatTable, unique: ['code', 'region'], values },
      ]);
      assert.deepEqual(
        found?.rows.map((row) => row['number']),
        [2],
      );
    },
  },
  {
    name: 'a look-up by the first columns of a key finds all their rows, by value and then in the order of the key',
    async check({ store }) {
      const seats = [
        seat(1, 'a', 'us'),
        seat(2, 'b', 'eu'),
        seat(3, 'a', 'eu'),
        seat(4, 'c', 'eu'),
        seat(5, 'a', null),
      ];
      await commitWrites(store, ada, seats);
      const found = async (limit: number, ...codes: string[]) => {
        const values = codes.map((code) => ({ code }));
        const [answer] = await store.read([
          { read: 'lookup', table: seatTable, unique: ['code'], values, limit },
        ]);
        return [answer?.rows.map((row) => row['number']), answer?.complete];
      };
      assert.deepEqual(await found(9, 'b', 'a', 'x', 'b'), [[2, 3, 1], true]);
      assert.deepEqual(await found(3, 'b', 'a'), [[2, 3, 1], true]);
      assert.deepEqual(await found(2, 'b', 'a'), [[2, 3], false]);
      assert.deepEqual(await found(1, 'x'), [[], true]);
    },
  },
  {
    name: 'a look-up with a limit goes on after the last row of its page, also over the whole key',
    async check({ store }) {
      const seats = [
        seat(1, 'a', 'us'),
        seat(2, 'b', 'eu'),
        seat(3, 'a', 'eu'),
        seat(4, 'b', 'us'),
        seat(5, 'a', null),
      ];
      await commitWrites(store, ada, seats);
      const page = async (value: AnyRow, after: AnyRow) => {
        const read = {
          read: 'lookup',
          table: seatTable,
          unique: Object.keys(value),
          values: [value],
        } as const;
        const [found] = await store.read([{ ...read, limit: 2, after }]);
        return [found?.rows.map((row) => row['number']), found?.complete];
      };
      assert.deepEqual(await page({}, { code: '', region: '' }), [[3, 1], false]);
      assert.deepEqual(await page({}, { code: 'a', region: 'eu' }), [[1, 2], false]);
      assert.deepEqual(await page({}, { code: 'a', region: 'us' }), [[2, 4], true]);
      assert.deepEqual(await page({ code: 'a' }, { region: 'eu' }), [[1], true]);
      await assertFails(page({}, { region: 'eu' }), 'defect');
    },
  },
  {
    name: 'a look-up of the last rows gives so many of each value, and the values as they were asked',
    async check({ store }) {
      const seats = [
        seat(1, 'a', 'us'),
        seat(2, 'b', 'eu'),
        seat(3, 'a', 'eu'),
        seat(4, 'a', 'asia'),
        seat(5, 'a', null),
      ];
      await commitWrites(store, ada, seats);
      const found = async (lastOfEach: number, ...codes: string[]) => {
        const values = codes.map((code) => ({ code }));
        const limit = codes.length * lastOfEach;
        const read = { read: 'lookup', table: seatTable, unique: ['code'], values } as const;
        const [answer] = await store.read([{ ...read, limit, lastOfEach }]);
        return answer?.rows.map((row) => row['number']);
      };
      assert.deepEqual(await found(9, 'a', 'b'), [1, 3, 4, 2]);
      assert.deepEqual(await found(9, 'b', 'a'), [2, 1, 3, 4]);
      assert.deepEqual(await found(2, 'a', 'b'), [1, 3, 2]);
      assert.deepEqual(await found(1, 'a', 'b'), [1, 2]);
    },
  },
  {
    name: 'a look-up with a limit comes without the large column, and orders numbers as such',
    async check({ store }) {
      const large = 'z'.repeat(700_000);
      const notes = [9, 10, 100].map((number) =>
        insert(noteTable, note(ada.id, uuid(number), { position: number, content: large })),
      );
      await commitWrites(store, ada, notes);
      const read = {
        read: 'lookup',
        table: noteTable,
        unique: ['owner_uuid'],
        values: [{ owner_uuid: ada.id }],
      } as const;
      const [found] = await store.read([{ ...read, limit: 2 }]);
      const { content: _, ...rest } = note(ada.id, uuid(9), { position: 9 });
      assert.deepEqual(
        found?.rows.map((row) => ({ ...row })),
        [rest, { ...rest, uuid: uuid(10), position: 10 }],
      );
      assert.equal(found?.complete, false);
    },
  },
  {
    name: 'a look-up by what is no unique key of the table, or no part of one with a limit, is a defect',
    async check({ store }) {
      const read = { read: 'lookup', table: noteTable, unique: ['size'], values: [{ size: 1 }] } as const;
      await assertFails(store.read([read]), 'defect');
      await assertFails(store.read([{ ...read, limit: 9 }]), 'defect');
      const part = { read: 'lookup', table: seatTable, unique: ['code'], values: [{ code: 'a' }] } as const;
      await assertFails(store.read([part]), 'defect');
      await assertFails(store.read([{ ...part, limit: 0 }]), 'defect');
      await assertFails(store.read([{ ...part, unique: ['region'], limit: 9 }]), 'defect');
    },
  },
  {
    name: 'reads of several owners at once are answered each with its own rows',
    async check(subject) {
      await givenFiveNotes(subject);
      const owned = (owner: string, ...numbers: number[]) =>
        ({
          read: 'keys',
          table: noteTable,
          keys: numbers.map((number) => ({ owner_uuid: owner, uuid: uuid(number) })),
        }) as const;
      const results = await subject.store.read([
        owned(ada.id, 50, 10, 50),
        owned(bob.id, 10, 99),
        { read: 'lookup', table: noteTable, unique: ['uuid'], values: [{ uuid: uuid(99) }] },
        owned(ada.id, 10),
        owned(bob.id),
      ]);
      assert.deepEqual(
        results.map(({ rows }) => rows.map((row) => row['position'])),
        [[50, 10], [25], [25], [10], []],
      );
    },
  },
  {
    name: 'several reads are answered in the order asked',
    async check(subject) {
      await givenFiveNotes(subject);
      const keyRead = {
        read: 'keys',
        table: noteTable,
        keys: [{ owner_uuid: ada.id, uuid: uuid(30) }],
      } as const;
      const rangeRead = {
        read: 'range',
        table: noteTable,
        owner: bob.id,
        after: 0,
        through: 99,
        limit: 9,
      } as const;
      const results = await subject.store.read([keyRead, rangeRead, keyRead]);
      assert.deepEqual(
        results.map((result) => result.rows.map((row) => row['position'])),
        [[30], [25], [30]],
      );
    },
  },
];
