/** The sweeps of hosts by shard: due timers, pending tells, old calls. */
import assert from 'node:assert/strict';
import { callTable, outboxTable, timerTable, tombstoneSlice } from '../../runtime/store/tables.ts';
import {
  activate,
  actor,
  assertPasses,
  commitAfter,
  commitOn,
  commitWrites,
  insert,
  put,
  putSlice,
  remove,
  rowsOf,
  sliceTexts,
  sweepOf,
} from './actors.ts';
import type { Clause } from './subject.ts';
import { uuid } from './tables.ts';

const ada = actor(1);
const bob = actor(2);
/** By then, everything that ends has ended. */
const later = Number.MAX_SAFE_INTEGER;

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

export const sweepClauses: readonly Clause[] = [
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
      await commitWrites(
        store,
        ada,
        timers.map((row) => put(timerTable, row)),
      );
      const due = await store.dueTimers(sweepOf([1, 2], 100, 500, 10));
      assert.deepEqual(
        due.map((row) => row.name),
        ['d', 'a', 'b', 'c', 'e'],
      );
      assert.deepEqual({ ...due[0] }, timer('d', 2, 100));
      assert.deepEqual(
        (await store.dueTimers(sweepOf([1, 2], 100, 500, 2))).map((row) => row.name),
        ['d', 'a'],
      );
      assert.deepEqual(
        (await store.dueTimers({ ...sweepOf([1, 2], 100, 500, 10), share: 1 })).map((row) => row.name),
        ['d', 'b'],
      );
      assert.deepEqual(await store.dueTimers(sweepOf([], 0, 500, 10)), []);
      assert.equal((await store.timers(ada)).length, timers.length);
      assert.deepEqual(await store.timers(bob), []);
    },
  },
  {
    name: 'many actors that are activated at once each have their own row, slices and timers',
    async check({ store }) {
      const actors = Array.from({ length: 40 }, (_, index) => actor(index + 1));
      for (const [index, each] of actors.entries()) {
        const armed = { ...timer('a', 1, index), ...each };
        const also = { ...timer('b', 1, index), ...each };
        const writes = [putSlice(each, 'profile', `${index}`), put(timerTable, armed)];
        await commitWrites(store, each, index % 2 === 0 ? writes : [...writes, put(timerTable, also)]);
      }
      const activated = await Promise.all(actors.map((each) => store.activate(each, 0, 7, false)));
      for (const activation of activated)
        assert.equal(activation.outcome === 'active' && activation.row.epoch, 7);
      const loaded = await Promise.all(
        actors.map((each) => Promise.all([sliceTexts(store, each), store.timers(each)])),
      );
      for (const [index, [slices, timers]] of loaded.entries()) {
        assert.deepEqual(slices, { profile: `${index}` });
        assert.deepEqual(
          timers.map(({ id, name, due_at: dueMs }) => [id, name, dueMs]),
          (index % 2 === 0 ? ['a'] : ['a', 'b']).map((name) => [actors[index]?.id, name, index]),
        );
      }
    },
  },
  {
    name: 'a timer armed again moves, and one that is removed is gone',
    async check({ store }) {
      const first = commitOn(await activate(store, ada), ada, 1, [put(timerTable, timer('a', 1, 100))]);
      const moved = commitAfter(first, 2, [put(timerTable, timer('a', 1, 900))]);
      await assertPasses(store, [first], [0]);
      await assertPasses(store, [moved], [0]);
      assert.deepEqual(await store.dueTimers(sweepOf([1], 0, 500, 10)), []);
      await assertPasses(store, [commitAfter(moved, 3, [remove(timerTable, { ...ada, name: 'a' })])], [0]);
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
      await commitWrites(
        store,
        ada,
        tells.map((row) => insert(outboxTable, row)),
      );
      const pending = await store.pendingTells(sweepOf([1, 2], 0, 400, 10));
      assert.deepEqual(
        pending.map((row) => row.tell_id),
        [uuid(1), uuid(2), uuid(3)],
      );
      assert.deepEqual({ ...pending[0] }, tell(1, 1, 100));
      assert.equal((await store.pendingTells(sweepOf([1, 2], 0, 400, 2))).length, 2);
      assert.deepEqual(
        (await store.pendingTells({ ...sweepOf([1, 2], 101, 400, 10), share: 1 })).map((row) => row.tell_id),
        [uuid(2), uuid(3)],
      );
    },
  },
  {
    name: 'the backlog counts what waits and what is dead, and the dead come in order, so many at a time',
    async check({ store }) {
      assert.deepEqual(await store.backlog(), {
        pendingTells: 0,
        deadTells: 0,
        pendingTimers: 0,
        deadTimers: 0,
      });
      await commitWrites(store, ada, [
        ...[timer('late', 1, 300, true), timer('b', 1, 200, true), timer('a', 2, 200, true)].map((row) =>
          put(timerTable, row),
        ),
        put(timerTable, timer('live', 1, 100)),
        ...[tell(3, 1, 100, true), tell(2, 1, 300, true), tell(1, 1, 100)].map((row) =>
          insert(outboxTable, row),
        ),
      ]);
      assert.deepEqual(await store.backlog(), {
        pendingTells: 1,
        deadTells: 2,
        pendingTimers: 1,
        deadTimers: 3,
      });
      const timers = await store.deadTimers(10);
      assert.deepEqual(
        timers.map(({ name }) => name),
        ['a', 'b', 'late'],
      );
      assert.deepEqual({ ...timers[0] }, timer('a', 2, 200, true));
      assert.equal((await store.deadTimers(2)).length, 2);
      const tells = await store.deadTells(10);
      assert.deepEqual(
        tells.map(({ tell_id }) => tell_id),
        [uuid(2), uuid(3)],
      );
      assert.deepEqual({ ...tells[0] }, tell(2, 1, 300, true));
      assert.equal((await store.deadTells(1)).length, 1);
    },
  },
  {
    name: 'pruning removes the oldest calls of the shards asked, so many at a time',
    async check({ store }) {
      const call = (call_key: string, shard: number, at: number) =>
        insert(callTable, { ...ada, call_key, shard, reply: Buffer.from('r'), at });
      await commitWrites(store, ada, [
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
  {
    name: 'the row of an actor without state goes after a while with its tombstone, and versions go on from there',
    async check({ store }) {
      const ended = { ...commitOn(await activate(store, ada), ada, 1, [putSlice(ada, tombstoneSlice, '')]) };
      await assertPasses(store, [{ ...ended, ends: true }], [0]);
      await activate(store, bob);
      await activate(store, bob);
      assert.equal(await store.removeEnded([0], (await store.timeMs()) - 10_000, 10), 0);
      assert.equal(await store.removeEnded([1], later, 10), 0);
      assert.equal(await store.removeEnded([0], later, 1), 1);
      assert.equal(await store.removeEnded([0], later, 10), 1);
      assert.equal(await store.head(ada), undefined);
      assert.deepEqual(await store.slices(ada), []);
      assert.equal((await activate(store, bob)).version, 2);
      assert.equal((await activate(store, ada)).version, 2);
      await assertPasses(store, [ended], []);
    },
  },
  {
    name: 'an actor that has state stays, whatever was said of it, and is not looked at again',
    async check({ store }) {
      const withSlice = commitOn(await activate(store, ada), ada, 1, [putSlice(ada, 'profile', 'one')]);
      const withTimer = commitOn(await activate(store, bob), bob, 2, [
        put(timerTable, { ...timer('a', 0, 100), ...bob }),
      ]);
      await assertPasses(store, [{ ...withSlice, ends: true }, withTimer], [0, 1]);
      assert.equal(await store.removeEnded([0], later, 10), 1);
      assert.equal(await store.removeEnded([0], later, 10), 0);
      assert.deepEqual(await sliceTexts(store, ada), { profile: 'one' });
      assert.equal((await store.timers(bob)).length, 1);
    },
  },
  {
    name: 'an activation, a barrier and a commit each begin the time anew for which the row stays',
    async check({ store }) {
      const row = await activate(store, ada);
      await store.barrier(ada, 1);
      const again = await activate(store, ada);
      assert.equal(again.version, row.version + 2);
      assert.equal(await store.removeEnded([0], (await store.timeMs()) - 10_000, 10), 0);
      await assertPasses(store, [commitOn(again, ada, 1, [putSlice(ada, 'profile', 'one')])], [0]);
      assert.equal(await store.removeEnded([0], later, 10), 0);
    },
  },
  {
    name: 'a former owner of the shard cannot make an actor, wherever its row is',
    async check({ store }) {
      await store.register(
        { id: 'a', incarnation: 'a1', address: '', roles: 'all', version: '1', formats: '1' },
        60_000,
      );
      const before = await store.claim('a', 'a1', [0]);
      const now = await store.claim('a', 'a1', [0]);
      assert.deepEqual(await store.activate(ada, 0, before.epoch, true), { outcome: 'fenced' });
      assert.equal(await store.head(ada), undefined);
      assert.equal((await store.activate(ada, 0, now.epoch, true)).outcome, 'active');
    },
  },
];
