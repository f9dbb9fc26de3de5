/** Promises 1 to 3 of the port: who may commit, and what activations and barriers rule out. */
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
  rowsOf,
  sliceTexts,
} from './actors.ts';
import type { Clause } from './subject.ts';
import { note, noteTable, uuid } from './tables.ts';

const ada = actor(1);
const bob = actor(2);
const cyd = actor(3);

export const fenceClauses: readonly Clause[] = [
  {
    name: 'an actor is created only when asked, with version 0 and no commit',
    async check({ store }) {
      assert.deepEqual(await store.activate(ada, 0, 1, false), { outcome: 'absent' });
      assert.equal(await store.head(ada), undefined);
      const created = await store.activate(ada, 0, 1, true);
      assert.deepEqual(created, { outcome: 'active', row: { epoch: 1, version: 0, commitId: null } });
    },
  },
  {
    name: 'an activation takes a lower or an equal epoch and bumps the version; a lower one of its own is fenced',
    async check({ store }) {
      await activate(store, ada, 2);
      const again = await store.activate(ada, 0, 2, false);
      assert.deepEqual(again, { outcome: 'active', row: { epoch: 2, version: 1, commitId: null } });
      const newer = await store.activate(ada, 0, 5, true);
      assert.deepEqual(newer, { outcome: 'active', row: { epoch: 5, version: 2, commitId: null } });
      assert.deepEqual(await store.activate(ada, 0, 4, false), { outcome: 'fenced' });
      assert.deepEqual(await store.activate(ada, 0, 4, true), { outcome: 'fenced' });
      assert.deepEqual(await store.head(ada), { epoch: 5, version: 2, commitId: null });
    },
  },
  {
    name: 'a commit bumps the version, leaves its id and its writes, and cannot be applied twice',
    async check({ store }) {
      const commit = commitOn(await activate(store, ada), ada, 100, [putSlice(ada, 'profile', 'one')]);
      await assertPasses(store, [commit], [0]);
      assert.deepEqual(await store.head(ada), { epoch: 1, version: 1, commitId: uuid(100) });
      assert.deepEqual(await sliceTexts(store, ada), { profile: 'one' });
      await assertPasses(store, [commit], []);
      assert.deepEqual(await store.head(ada), { epoch: 1, version: 1, commitId: uuid(100) });
    },
  },
  {
    name: 'a commit without writes still counts, and one of an absent actor does not pass',
    async check({ store }) {
      const row = await activate(store, ada);
      await assertPasses(store, [commitOn(row, bob, 1, []), commitOn(row, ada, 2, [])], [1]);
      assert.deepEqual(await store.head(ada), { epoch: 1, version: 1, commitId: uuid(2) });
    },
  },
  {
    name: 'members of a batch pass or fail alone',
    async check({ store }) {
      const members = [ada, bob, cyd];
      const commits = [];
      for (const [index, address] of members.entries()) {
        const row = await activate(store, address);
        commits.push(
          commitOn(row, address, 10 + index, [
            putSlice(address, 'profile', 'mine'),
            insert(noteTable, note(address.id, uuid(20 + index))),
          ]),
        );
      }
      await activate(store, bob, 2);
      await assertPasses(store, commits, [0, 2]);
      assert.deepEqual(await sliceTexts(store, ada), { profile: 'mine' });
      assert.deepEqual(await sliceTexts(store, bob), {});
      assert.deepEqual(await rowsOf(store, noteTable, { owner_uuid: bob.id, uuid: uuid(21) }), []);
      assert.equal((await rowsOf(store, noteTable, { owner_uuid: cyd.id, uuid: uuid(22) })).length, 1);
    },
  },
  {
    name: 'a fenced member of a batch that puts and removes in one table changes nothing',
    async check({ store }) {
      const first = commitOn(await activate(store, ada), ada, 1, [putSlice(ada, 'old', 'x')]);
      const second = commitOn(await activate(store, bob), bob, 2, [putSlice(bob, 'old', 'x')]);
      await assertPasses(store, [first, second], [0, 1]);
      await activate(store, bob, 9);
      const swap = (address: typeof ada) => [
        { table: sliceTable, remove: { ...address, slice: 'old' } },
        putSlice(address, 'new', 'y'),
      ];
      await assertPasses(store, [commitAfter(first, 3, swap(ada)), commitAfter(second, 4, swap(bob))], [0]);
      assert.deepEqual(await sliceTexts(store, ada), { new: 'y' });
      assert.deepEqual(await sliceTexts(store, bob), { old: 'x' });
    },
  },
  {
    name: 'an activation waits for a commit in flight, and what is read after it sees that commit',
    async check({ store, commitInFlight, untilBlocked }) {
      const row = await activate(store, ada);
      const flight = await commitInFlight(commitOn(row, ada, 7, [putSlice(ada, 'profile', 'late')]));
      const activation = store.activate(ada, 0, 2, false);
      await untilBlocked(activation);
      await flight.finish();
      assert.deepEqual(await activation, {
        outcome: 'active',
        row: { epoch: 2, version: 2, commitId: uuid(7) },
      });
      assert.deepEqual(await sliceTexts(store, ada), { profile: 'late' });
    },
  },
  {
    name: 'a barrier waits for a commit in flight and recognises it',
    async check({ store, commitInFlight, untilBlocked }) {
      const row = await activate(store, ada);
      const flight = await commitInFlight(commitOn(row, ada, 7, []));
      const barrier = store.barrier(ada, 1);
      await untilBlocked(barrier);
      await flight.finish();
      assert.deepEqual(await barrier, { epoch: 1, version: 2, commitId: uuid(7) });
    },
  },
  {
    name: 'a commit that arrives after the barrier never applies',
    async check({ store }) {
      const row = await activate(store, ada);
      assert.deepEqual(await store.barrier(ada, 1), { epoch: 1, version: 1, commitId: null });
      await assertPasses(store, [commitOn(row, ada, 7, [putSlice(ada, 'profile', 'late')])], []);
      assert.deepEqual(await sliceTexts(store, ada), {});
    },
  },
  {
    name: 'a commit that waits behind the barrier never applies',
    async check({ store, barrierInFlight, untilBlocked }) {
      const row = await activate(store, ada);
      const flight = await barrierInFlight(ada, 1);
      const commit = store.commit([commitOn(row, ada, 7, [putSlice(ada, 'profile', 'late')])]);
      await untilBlocked(commit);
      await flight.finish();
      assert.deepEqual([...(await commit)], []);
      assert.deepEqual(await sliceTexts(store, ada), {});
      assert.deepEqual(await store.head(ada), { epoch: 1, version: 1, commitId: null });
    },
  },
  {
    name: 'actors whose rows are locked are distinguished from others, and nothing changes',
    async check({ store, lockHeld }) {
      const row = await activate(store, ada);
      await activate(store, bob);
      const lock = await lockHeld(ada);
      assert.deepEqual([...(await store.unlocked([cyd, ada, bob]))], [2]);
      await lock.finish();
      assert.deepEqual([...(await store.unlocked([cyd, ada, bob]))].sort(), [1, 2]);
      assert.deepEqual(await store.head(ada), row);
    },
  },
  {
    name: 'a commit waits for a locked row no longer than its limit, and then nothing of its batch is applied',
    async check({ impatient, lockHeld }) {
      const commits = [
        commitOn(await activate(impatient, ada), ada, 1, [putSlice(ada, 'profile', 'x')]),
        commitOn(await activate(impatient, bob), bob, 2, [putSlice(bob, 'profile', 'x')]),
      ];
      const lock = await lockHeld(ada);
      await assertFails(impatient.commit(commits), 'conflict');
      await assertPasses(impatient, commits.slice(1), [0]);
      await lock.finish();
      assert.deepEqual(await sliceTexts(impatient, ada), {});
      await assertPasses(impatient, commits.slice(0, 1), [0]);
    },
  },
  {
    name: 'a barrier whose answer was lost is simply sent again',
    async check({ store }) {
      const commit = commitOn(await activate(store, ada), ada, 7, []);
      await assertPasses(store, [commit], [0]);
      await store.barrier(ada, 1);
      assert.deepEqual(await store.barrier(ada, 1), { epoch: 1, version: 3, commitId: uuid(7) });
    },
  },
  {
    name: 'a barrier of another epoch finds nothing and changes nothing',
    async check({ store }) {
      await activate(store, ada, 3);
      assert.equal(await store.barrier(ada, 2), undefined);
      assert.equal(await store.barrier(ada, 4), undefined);
      assert.equal(await store.barrier(bob, 3), undefined);
      assert.deepEqual(await store.head(ada), { epoch: 3, version: 0, commitId: null });
    },
  },
  {
    name: 'a unique key taken by another actor rejects the whole batch; sent one by one the others pass',
    async check({ store }) {
      const holder = commitOn(await activate(store, ada), ada, 1, [
        insert(noteTable, note(ada.id, uuid(50))),
      ]);
      await assertPasses(store, [holder], [0]);
      const good = commitOn(await activate(store, bob), bob, 2, [
        putSlice(bob, 'profile', 'good'),
        insert(noteTable, note(bob.id, uuid(51))),
      ]);
      const bad = commitOn(await activate(store, cyd), cyd, 3, [
        putSlice(cyd, 'profile', 'bad'),
        insert(noteTable, note(cyd.id, uuid(50))),
      ]);
      await assertFails(store.commit([good, bad]), 'rejected');
      assert.deepEqual(await sliceTexts(store, bob), {});
      assert.deepEqual(await store.head(bob), { epoch: 1, version: 0, commitId: null });
      await assertPasses(store, [good], [0]);
      await assertFails(store.commit([bad]), 'rejected');
      assert.deepEqual(await store.head(cyd), { epoch: 1, version: 0, commitId: null });
      const [stored] = await rowsOf(store, noteTable, { owner_uuid: ada.id, uuid: uuid(50) });
      assert.deepEqual({ ...stored }, note(ada.id, uuid(50)));
    },
  },
  {
    name: 'a rejection applies nothing of a batch that puts and removes in one table',
    async check({ store }) {
      const holder = commitOn(await activate(store, ada), ada, 1, [
        insert(noteTable, note(ada.id, uuid(50))),
        insert(noteTable, note(ada.id, uuid(52), { position: 2 })),
      ]);
      await assertPasses(store, [holder], [0]);
      const removal = { table: noteTable, remove: { owner_uuid: ada.id, uuid: uuid(52) } };
      const bad = commitOn(await activate(store, bob), bob, 2, [insert(noteTable, note(bob.id, uuid(50)))]);
      await assertFails(store.commit([commitAfter(holder, 3, [removal]), bad]), 'rejected');
      assert.equal((await rowsOf(store, noteTable, removal.remove)).length, 1);
      assert.equal((await store.head(ada))?.commitId, uuid(1));
    },
  },
  {
    name: 'a row that does not fit its table is a defect and applies nothing',
    async check({ store }) {
      const commit = commitOn(await activate(store, ada), ada, 1, [
        putSlice(ada, 'profile', 'x'),
        put(noteTable, { ...note(ada.id, 'not a uuid') }),
      ]);
      await assertFails(store.commit([commit]), 'defect');
      assert.deepEqual(await sliceTexts(store, ada), {});
    },
  },
];
