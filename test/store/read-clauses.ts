/** Keys, look-ups, ranges, and the sweeps for timers, tells and old calls. */
import assert from 'node:assert/strict';
import type { RangeRead, Store, StoreRows, Write } from '../../runtime/store/store.ts';
import { callTable, outboxTable, timerTable } from '../../runtime/store/tables.ts';
import {
  activate,
  actor,
  assertFails,
  assertPasses,
  commitOn,
  following,
  insert,
  put,
  remove,
  rowsOf,
} from './actors.ts';
import type { Clause, Subject } from './subject.ts';
import { note, noteTable, seatTable, uuid } from './tables.ts';

const ada = actor(1);
const bob = actor(2);

/** Five notes of ada at positions 10 to 50, of 100 bytes each by their weight; those at 20 and 40 deleted. */
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

async function givenWrites(store: Store, writes: readonly Write[]): Promise<void> {
  await assertPasses(store, [commitOn(await activate(store, ada), ada, 1, writes)], [0]);
}

const timer = (name: string, shard: number, due_at: number, dead = false) => ({
  ...ada,
  name,
  shard,
  due_at,
  payload: Buffer.from(name),
  attempts: 0,
  dead,
});

const tell = (id: number, target_shard: number, retry_at: number, dead = false) => ({
  target_kind: 'user',
  target_id: bob.id,
  tell_id: uuid(id),
  target_shard,
  name: 'greet',
  payload: Buffer.from('hello'),
  sender_kind: ada.kind,
  sender_id: ada.id,
  sender_version: 1,
  attempts: 0,
  retry_at,
  dead,
});

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
      await givenWrites(subject.store, [insert(noteTable, row)]);
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
      const [looked] = await subject.store.read([
        { read: 'lookup', table: noteTable, unique: ['uuid'], values },
      ]);
      assert.deepEqual(
        looked?.rows.map((row) => row['owner_uuid']),
        [bob.id, ada.id],
      );
    },
  },
  {
    name: 'a look-up compares every column of its unique key',
    async check({ store }) {
      const seat = (place: number, region: string) =>
        insert(seatTable, { owner_uuid: ada.id, place, born: place, code: 'a', region });
      await givenWrites(store, [seat(1, 'eu'), seat(2, 'us')]);
      const values = [
        { code: 'a', region: 'us' },
        { code: 'b', region: 'eu' },
      ];
      const [found] = await store.read([
        { read: 'lookup', table: seatTable, unique: ['code', 'region'], values },
      ]);
      assert.deepEqual(
        found?.rows.map((row) => row['place']),
        [2],
      );
    },
  },
  {
    name: 'a look-up by what is no unique key of the table is a defect',
    async check({ store }) {
      const read = { read: 'lookup', table: noteTable, unique: ['size'], values: [{ size: 1 }] } as const;
      await assertFails(store.read([read]), 'defect');
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
  {
    name: 'due timers come oldest first, of the shards asked, within both bounds, without the dead',
    async check({ store }) {
      const timers = [
        timer('c', 1, 300),
        timer('a', 2, 200),
        timer('b', 1, 200),
        timer('early', 1, 99),
        timer('late', 1, 501),
        timer('dead', 1, 250, true),
        timer('elsewhere', 3, 250),
        timer('d', 2, 100),
        timer('e', 2, 500),
      ];
      await givenWrites(
        store,
        timers.map((row) => put(timerTable, row)),
      );
      const due = await store.dueTimers([1, 2], 100, 500, 10);
      assert.deepEqual(
        due.map((row) => row.name),
        ['d', 'a', 'b', 'c', 'e'],
      );
      assert.deepEqual({ ...due[0] }, timer('d', 2, 100));
      assert.deepEqual(
        (await store.dueTimers([1, 2], 100, 500, 2)).map((row) => row.name),
        ['d', 'a'],
      );
      assert.deepEqual(await store.dueTimers([], 0, 500, 10), []);
      assert.equal((await store.timers(ada)).length, timers.length);
      assert.deepEqual(await store.timers(bob), []);
    },
  },
  {
    name: 'a timer armed again moves, and one that is removed is gone',
    async check({ store }) {
      const first = commitOn(await activate(store, ada), ada, 1, [put(timerTable, timer('a', 1, 100))]);
      const moved = following(first, 2, [put(timerTable, timer('a', 1, 900))]);
      await assertPasses(store, [first], [0]);
      await assertPasses(store, [moved], [0]);
      assert.deepEqual(await store.dueTimers([1], 0, 500, 10), []);
      await assertPasses(store, [following(moved, 3, [remove(timerTable, { ...ada, name: 'a' })])], [0]);
      assert.deepEqual(await store.timers(ada), []);
    },
  },
  {
    name: 'pending tells come by retry time, of the shards asked, without the dead and those not yet to be tried',
    async check({ store }) {
      const tells = [
        tell(3, 1, 300),
        tell(1, 1, 100),
        tell(2, 2, 200),
        tell(4, 1, 401),
        tell(5, 1, 50, true),
        tell(6, 3, 50),
      ];
      await givenWrites(
        store,
        tells.map((row) => insert(outboxTable, row)),
      );
      const pending = await store.pendingTells([1, 2], 400, 10);
      assert.deepEqual(
        pending.map((row) => row.tell_id),
        [uuid(1), uuid(2), uuid(3)],
      );
      assert.deepEqual({ ...pending[0] }, tell(1, 1, 100));
      assert.equal((await store.pendingTells([1, 2], 400, 2)).length, 2);
    },
  },
  {
    name: 'pruning removes the oldest calls of the shards asked, so many at a time',
    async check({ store }) {
      const call = (call_key: string, shard: number, at: number) =>
        insert(callTable, { ...ada, call_key, shard, reply: Buffer.from('r'), at });
      await givenWrites(store, [
        call('a', 1, 10),
        call('b', 1, 20),
        call('c', 1, 30),
        call('d', 2, 10),
        call('e', 1, 40),
      ]);
      assert.equal(await store.pruneCalls([1], 40, 2), 2);
      const keys = ['a', 'b', 'c', 'd', 'e'].map((call_key) => ({ ...ada, call_key }));
      const left = await rowsOf(store, callTable, ...keys);
      assert.deepEqual(
        left.map((row) => row['call_key']),
        ['c', 'd', 'e'],
      );
      assert.equal(await store.pruneCalls([1], 40, 2), 1);
      assert.equal(await store.pruneCalls([1], 40, 2), 0);
    },
  },
];
