/** Cross-owner reads: rows of several owners as far as each authorizes the reader. */
import assert from 'node:assert/strict';
import type { Address } from '../../runtime/address.ts';
import type { CrossOwnerRead, Store } from '../../runtime/store/store.ts';
import { versionTable } from '../../runtime/store/tables.ts';
import {
  activate,
  actor,
  assertFails,
  assertPasses,
  commitAfter,
  commitOn,
  commitWrites,
  insert,
  put,
  remove,
  rowsOf,
} from './actors.ts';
import type { Clause, Subject } from './subject.ts';
import { memberTable, note, noteTable, parcel, parcelTable, seatTable, uuid } from './tables.ts';

const ada = actor(1);
const bob = actor(2);
const cyd = actor(3);
const reader = uuid(900);
const stranger = uuid(901);

const admission = (owner: string, member = reader) =>
  put(memberTable, { owner_uuid: owner, member_uuid: member, since: 1 });
const expulsion = (owner: string) => remove(memberTable, { owner_uuid: owner, member_uuid: reader });

/** Notes of 100 bytes each by their size; those at multiples of 20 deleted. */
const noteAt = (owner: string, position: number) =>
  insert(
    noteTable,
    note(owner, uuid(Number(owner.slice(-3)) * 1_000 + position), {
      position,
      size: 100,
      deleted: position % 20 === 0,
    }),
  );

/** ada at 10 to 30 and cyd at 5 and 15 authorize the reader, bob at 10 only another user. Written in one batch. */
async function givenOwners({ store }: Subject): Promise<void> {
  const owned = [
    [ada, [admission(ada.id), ...[10, 20, 30].map((position) => noteAt(ada.id, position))]],
    [bob, [admission(bob.id, stranger), noteAt(bob.id, 10)]],
    [cyd, [admission(cyd.id), ...[5, 15].map((position) => noteAt(cyd.id, position))]],
  ] as const;
  const commits = await Promise.all(
    owned.map(async ([address, writes], index) =>
      commitOn(await activate(store, address), address, index + 1, writes),
    ),
  );
  await assertPasses(store, commits, [0, 1, 2]);
}

const all = [ada, bob, cyd].map(({ id }) => ({ owner: id, after: 0 }));

async function crossOwnerRead(store: Store, changes: Partial<CrossOwnerRead> = {}) {
  const membership = { table: memberTable, member: reader };
  const [answer] = await store.read([
    { read: 'crossOwner', table: noteTable, membership, owners: all, limit: 100, ...changes },
  ]);
  assert.ok(answer?.authorized);
  return { ...answer, authorized: answer.authorized };
}

/** `1: 10 20 …`: each owner that authorizes the reader, its positions, and dots where it is incomplete. */
async function rowsAcrossOwners(
  store: Store,
  changes: Partial<CrossOwnerRead> = {},
): Promise<readonly string[]> {
  const { rows, authorized } = await crossOwnerRead(store, changes);
  return authorized.map(({ owner, complete }) => {
    const positions = rows.filter((row) => row['owner_uuid'] === owner).map((row) => String(row['position']));
    return [`${Number(owner.slice(-3))}:`, ...positions, ...(complete ? [] : ['…'])].join(' ');
  });
}

export const crossOwnerClauses: readonly Clause[] = [
  {
    name: 'a cross-owner read answers for those who authorize the reader, each in order after its own position, as they were asked',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      assert.deepEqual(await rowsAcrossOwners(store), ['1: 10 20 30', '3: 5 15']);
      const owners = [
        { owner: cyd.id, after: 5 },
        { owner: uuid(77), after: 0 },
        { owner: ada.id, after: 30 },
      ];
      assert.deepEqual(await rowsAcrossOwners(store, { owners }), ['3: 15', '1:']);
      assert.deepEqual(await rowsAcrossOwners(store, { owners: [] }), []);
      const { rows, complete } = await crossOwnerRead(store, { owners });
      assert.deepEqual([rows.map((row) => row['position']), complete], [[15], true]);
      const asStranger = { membership: { table: memberTable, member: stranger } };
      assert.deepEqual(await rowsAcrossOwners(store, asStranger), ['2: 10']);
      assert.deepEqual(
        await rowsAcrossOwners(store, { membership: { table: memberTable, member: uuid(78) } }),
        [],
      );
    },
  },
  {
    name: 'a limit is of all owners together, and nothing after the first row it left out is complete',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      assert.deepEqual(await rowsAcrossOwners(store, { limit: 2 }), ['1: 10 20 …', '3: …']);
      assert.deepEqual(await rowsAcrossOwners(store, { limit: 3 }), ['1: 10 20 30', '3: …']);
      assert.deepEqual(await rowsAcrossOwners(store, { limit: 4 }), ['1: 10 20 30', '3: 5 …']);
      assert.deepEqual(await rowsAcrossOwners(store, { limit: 5 }), ['1: 10 20 30', '3: 5 15']);
      assert.equal((await crossOwnerRead(store, { limit: 4 })).complete, false);
      const owners = [
        { owner: ada.id, after: 0 },
        { owner: cyd.id, after: 15 },
      ];
      assert.deepEqual(await rowsAcrossOwners(store, { limit: 3, owners }), ['1: 10 20 30', '3:']);
    },
  },
  {
    name: 'a budget ends a cross-owner read after the row that reaches it, whoever owns that',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      assert.deepEqual(await rowsAcrossOwners(store, { budgetBytes: 1 }), ['1: 10 …', '3: …']);
      assert.deepEqual(await rowsAcrossOwners(store, { budgetBytes: 300 }), ['1: 10 20 30', '3: …']);
      assert.deepEqual(await rowsAcrossOwners(store, { budgetBytes: 301 }), ['1: 10 20 30', '3: 5 …']);
      assert.deepEqual(await rowsAcrossOwners(store, { budgetBytes: 401 }), ['1: 10 20 30', '3: 5 15']);
      assert.deepEqual(await rowsAcrossOwners(store, { budgetBytes: 401, limit: 2 }), ['1: 10 20 …', '3: …']);
    },
  },
  {
    name: 'of each owner a cross-owner read gives the subset asked of that one',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      const live = (owner: string) => ({ owner, after: 0, subset: 'live' });
      const whole = (owner: string) => ({ owner, after: 0 });
      const owners = [live(ada.id), live(cyd.id)];
      assert.deepEqual(await rowsAcrossOwners(store, { owners, limit: 3 }), ['1: 10 30', '3: 5 …']);
      assert.deepEqual(await rowsAcrossOwners(store, { owners: [whole(ada.id), live(cyd.id)] }), [
        '1: 10 20 30',
        '3: 5 15',
      ]);
      const mixed = [live(ada.id), whole(cyd.id)];
      assert.deepEqual(await rowsAcrossOwners(store, { owners: mixed }), ['1: 10 30', '3: 5 15']);
      assert.deepEqual(await rowsAcrossOwners(store, { owners: mixed, budgetBytes: 101 }), [
        '1: 10 30',
        '3: …',
      ]);
    },
  },
  {
    name: 'a cross-owner read brings the columns named with the key and the order, and large content whole',
    async check({ store }) {
      const content = 'ä'.repeat(600_000);
      const row = note(ada.id, uuid(10), { content, size: content.length });
      await commitWrites(store, ada, [admission(ada.id), insert(noteTable, row)]);
      for (const budgetBytes of [undefined, 1]) {
        const named = await crossOwnerRead(store, { columns: ['deleted'], budgetBytes });
        assert.deepEqual(
          named.rows.map((each) => ({ ...each })),
          [{ owner_uuid: ada.id, uuid: uuid(10), position: 1, deleted: false }],
        );
        const whole = await crossOwnerRead(store, { budgetBytes });
        assert.deepEqual(Object.keys(whole.rows[0] ?? {}).sort(), Object.keys(noteTable.columns).sort());
        assert.ok(whole.rows[0]?.['content'] === content);
      }
    },
  },
  {
    name: 'a reader that is no longer authorized is given nothing, and all of it once authorized again',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      const row = await store.head(ada);
      assert.ok(row);
      const owners = [{ owner: ada.id, after: 30 }];
      const first = commitOn(row, ada, 10, [noteAt(ada.id, 40)]);
      await assertPasses(store, [first], [0]);
      assert.deepEqual(await rowsAcrossOwners(store, { owners }), ['1: 40']);
      const second = commitAfter(first, 11, [expulsion(ada.id), noteAt(ada.id, 50)]);
      await assertPasses(store, [second], [0]);
      assert.deepEqual(await rowsAcrossOwners(store, { owners }), []);
      await assertPasses(store, [commitAfter(second, 12, [admission(ada.id)])], [0]);
      assert.deepEqual(await rowsAcrossOwners(store, { owners }), ['1: 40 50']);
    },
  },
  {
    name: 'a cross-owner read passes over what another row has come after, whoever owns that, from the commit on that writes it',
    async check({ store }) {
      const parcelOf = (owner: string, position: number, hop: number | null, born: boolean | null = null) =>
        insert(parcelTable, parcel(owner, uuid(500), { position, made: position, hop, born }));
      const still = insert(parcelTable, parcel(ada.id, uuid(501), { position: 2, born: true }));
      const first = commitOn(await activate(store, ada), ada, 1, [
        admission(ada.id),
        parcelOf(ada.id, 1, null, true),
        still,
      ]);
      await assertPasses(store, [first], [0]);
      const at = (changes: Partial<CrossOwnerRead> = {}) =>
        rowsAcrossOwners(store, { table: parcelTable, ...changes });
      assert.deepEqual(await at(), ['1: 1 2']);
      // With bob, who does not authorize the reader.
      await commitWrites(store, bob, [parcelOf(bob.id, 1, 1)]);
      assert.deepEqual(await at(), ['1: 2']);
      assert.deepEqual(await at({ limit: 1 }), ['1: 2']);
      await commitWrites(store, cyd, [admission(cyd.id), parcelOf(cyd.id, 1, 2)]);
      assert.deepEqual(await at(), ['1: 2', '3: 1']);
      const back = put(parcelTable, parcel(ada.id, uuid(500), { position: 3, made: 1, hop: 3, born: true }));
      await assertPasses(store, [commitAfter(first, 2, [back])], [0]);
      assert.deepEqual(await at(), ['1: 2 3', '3:']);
    },
  },
  {
    name: 'memberships and rows of a cross-owner read are of one moment',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      const row = await store.head(ada);
      assert.ok(row);
      const owners = [{ owner: ada.id, after: 0 }];
      const request = rowsAcrossOwners(store, { owners });
      const first = commitOn(row, ada, 30, [expulsion(ada.id)]);
      await assertPasses(store, [first], [0]);
      await assertPasses(store, [commitAfter(first, 31, [noteAt(ada.id, 70)])], [0]);
      const answer = await request;
      assert.ok(answer.length === 0 || answer.join() === '1: 10 20 30', answer.join());
    },
  },
  {
    name: 'a cross-owner read does not see a commit in flight, be it of rows or of a membership',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      const row = await store.head(ada);
      assert.ok(row);
      const before = await rowsAcrossOwners(store);
      const commit = commitOn(row, ada, 20, [expulsion(ada.id), noteAt(ada.id, 60)]);
      const flight = await subject.commitInFlight(commit);
      // If nothing can be in flight, it has applied already.
      const during = await rowsAcrossOwners(store);
      await flight.finish();
      const after = await rowsAcrossOwners(store);
      assert.deepEqual(after, ['3: 5 15']);
      assert.ok(
        [before, after].some((each) => each.join() === during.join()),
        during.join(),
      );
    },
  },
  {
    name: 'the version of an owner is another after each commit and each barrier, and there is none of nobody',
    async check(subject) {
      await givenOwners(subject);
      const { store } = subject;
      const versions = async (...args: readonly Address[]) => {
        const keys = args.map(({ kind, id }) => ({ kind, id }));
        const rows = await rowsOf(store, versionTable, ...keys);
        return rows.map(({ kind, id, version }) => `${kind} ${Number(String(id).slice(-3))}: ${version}`);
      };
      const first = (await store.head(ada))?.version ?? Number.NaN;
      const ofBob = (await store.head(bob))?.version;
      const nobody = actor(77);
      assert.deepEqual(await versions(bob, nobody, ada), [`user 2: ${ofBob}`, `user 1: ${first}`]);
      const row = await store.head(ada);
      assert.ok(row);
      await assertPasses(store, [commitOn(row, ada, 20, [expulsion(ada.id)])], [0]);
      assert.deepEqual(await versions(ada), [`user 1: ${first + 1}`]);
      await store.barrier(ada, row.epoch);
      assert.deepEqual(await versions(ada, bob), [`user 1: ${first + 2}`, `user 2: ${ofBob}`]);
    },
  },
  {
    name: 'a cross-owner read that its tables cannot serve is a defect, and so is an owner asked twice',
    async check({ store }) {
      const owners = [{ owner: ada.id, after: 0, subset: 'none' }];
      const wrong: readonly Partial<CrossOwnerRead>[] = [
        { table: seatTable },
        { owners },
        { limit: 0 },
        { budgetBytes: 0 },
        { membership: { table: noteTable, member: reader }, owners: [...all, ...all] },
        { membership: { table: { ...memberTable, key: ['owner_uuid'] }, member: reader } },
        { owners: [...all, { owner: ada.id, after: 9 }] },
      ];
      for (const changes of wrong) await assertFails(crossOwnerRead(store, changes), 'defect');
    },
  },
];
