/** Compares the model with the real database: to any calls in any order, both give the same answers. */
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import {
  type Commit,
  type Store,
  StoreError,
  type StoreRead,
  type Write,
} from '../../runtime/store/store.ts';
import { ModelDatabase, ModelStore, type Schedule } from '../kit/model-store/model-store.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { actor, insert, put, remove } from './actors.ts';
import { postgresSubject } from './postgres-subject.ts';
import { note, noteTable, seatTable, uuid } from './tables.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

type Call = (store: Store, shift: number) => Promise<unknown>;

/** Each run has separate actors and rows in one database. */
const owner = (shift: number, index: number) => actor(shift + index);
const indexes = fc.integer({ min: 0, max: 2 });
const smallNumber = fc.integer({ min: 1, max: 2 });

/** A new row has a generation that no earlier row had; what an insert does with another is not promised. */
let generation = 100;

type WriteOf = (ownerUuid: string, shift: number) => Write;

const noteWrite: fc.Arbitrary<{ key: string; write: WriteOf }> = fc
  .record({
    id: smallNumber,
    position: smallNumber,
    deleted: fc.boolean(),
    how: fc.constantFrom('put', 'insert', 'remove'),
  })
  .map(({ id, position, deleted, how }) => {
    generation += 1;
    // Rows of one owner never share a position; nobody promises the order in which they would come.
    const at = how === 'insert' ? generation : id * 10 + position;
    return {
      key: `note ${id}`,
      write: (ownerUuid, shift) => {
        const row = note(ownerUuid, uuid(shift + id), { position: at, deleted, size: 10 });
        if (how === 'remove') return remove(noteTable, { owner_uuid: ownerUuid, uuid: row.uuid });
        return how === 'put' ? put(noteTable, row) : insert(noteTable, row);
      },
    };
  });

const seatWrite: fc.Arbitrary<{ key: string; write: WriteOf }> = fc
  .record({
    number: smallNumber,
    born: smallNumber,
    code: fc.constantFrom('a', 'b', null),
    isRemoval: fc.boolean(),
  })
  .map(({ number, born, code, isRemoval }) => ({
    key: `seat ${number}`,
    write: (ownerUuid, shift) => {
      if (isRemoval) return remove(seatTable, { owner_uuid: ownerUuid, number });
      return put(seatTable, { owner_uuid: ownerUuid, number, born, code, region: `r${shift}` });
    },
  }));

const writes = fc.uniqueArray(fc.oneof(noteWrite, seatWrite), { maxLength: 3, selector: ({ key }) => key });

const commitCall: fc.Arbitrary<Call> = fc
  .uniqueArray(
    fc.record({ index: indexes, isStale: fc.integer({ min: 0, max: 5 }), writes, id: fc.nat(999) }),
    {
      minLength: 1,
      maxLength: 3,
      selector: ({ index }) => index,
    },
  )
  .map((members) => async (store, shift) => {
    const commits: Commit[] = [];
    for (const { index, isStale, writes: requested, id } of members) {
      const address = owner(shift, index);
      const head = (await store.head(address)) ?? { epoch: 1, version: 0 };
      commits.push({
        address,
        epoch: head.epoch,
        version: head.version - (isStale === 0 ? 1 : 0),
        commitId: uuid(id),
        writes: requested.map(({ write }) => write(address.id, shift)),
      });
    }
    return [...(await store.commit(commits))].sort();
  });

const actorCall: fc.Arbitrary<Call> = fc
  .record({ index: indexes, epoch: smallNumber, how: fc.constantFrom('create', 'activate', 'barrier') })
  .map(({ index, epoch, how }) => async (store, shift) => {
    if (how === 'barrier') return store.barrier(owner(shift, index), epoch);
    return store.activate(owner(shift, index), 0, epoch, how === 'create');
  });

const readCall: fc.Arbitrary<Call> = fc
  .record({
    index: indexes,
    limit: smallNumber,
    budgetBytes: fc.constantFrom(undefined, 5, 15),
    subset: fc.constantFrom(undefined, 'live'),
  })
  .map(({ index, limit, budgetBytes, subset }) => async (store, shift) => {
    const owned = owner(shift, index).id;
    const reads: StoreRead[] = [
      {
        read: 'range',
        table: noteTable,
        owner: owned,
        after: 0,
        through: Number.MAX_SAFE_INTEGER,
        limit,
        budgetBytes,
        subset,
      },
      {
        read: 'lookup',
        table: noteTable,
        unique: ['uuid'],
        values: [1, 2].map((id) => ({ uuid: uuid(shift + id) })),
        budgetBytes,
      },
      {
        read: 'keys',
        table: noteTable,
        keys: [2, 1].map((id) => ({ owner_uuid: owned, uuid: uuid(shift + id) })),
        budgetBytes,
      },
      { read: 'keys', table: seatTable, keys: [2, 1].map((number) => ({ owner_uuid: owned, number })) },
    ];
    const results = await store.read(reads);
    return results.map(({ rows, complete }) => ({ complete, rows: rows.map((row) => ({ ...row })) }));
  });

const calls = fc.array(fc.oneof({ weight: 3, arbitrary: commitCall }, actorCall, readCall), {
  maxLength: 25,
});

async function answerOf(call: Call, store: Store, shift: number): Promise<unknown> {
  try {
    return await call(store, shift);
  } catch (error) {
    if (error instanceof StoreError) return error.failure;
    throw error;
  }
}

test('the model answers as PostgreSQL does', async (t) => {
  const { store, close } = await postgresSubject(server);
  const model = new ModelStore(new ModelDatabase({ nowMs: () => 1_700_000_000_000 }));
  let shift = 0;
  const answers = new Set<string>();
  const agrees = fc.asyncProperty(calls, async (generated) => {
    shift += 1_000;
    for (const index of [0, 1]) {
      await Promise.all([store, model].map((one) => one.activate(owner(shift, index), 0, 1, true)));
    }
    for (const call of generated) {
      const expected = await answerOf(call, store, shift);
      const actual = await answerOf(call, model, shift);
      answers.add(typeof expected === 'string' ? expected : typeof expected);
      if (!isDeepStrictEqual(actual, expected)) {
        throw new Error(`model ${JSON.stringify(actual)}, database ${JSON.stringify(expected)}`);
      }
    }
  });
  try {
    await t.notThrowsAsync(async () => fc.assert(agrees, { numRuns: 120, seed: 5 }));
  } finally {
    await close();
  }
  t.true(answers.has('rejected'), 'the runs never met a rejection');
});

test('a schedule may lose a call before or after it ran, or run it late', async (t) => {
  const database = new ModelDatabase({ nowMs: () => 0 });
  const late: (() => unknown)[] = [];
  const fates: Schedule[] = [
    async (_method, apply) => apply(),
    async () => {
      throw new StoreError('unknown', 'lost before it ran');
    },
    async (_method, apply) => {
      apply();
      throw new StoreError('unknown', 'lost after it ran');
    },
    async (_method, apply) => {
      late.push(apply);
      throw new StoreError('unknown', 'still running');
    },
  ];
  let fate = 0;
  const store = new ModelStore(database, (method, apply) =>
    (fates[fate] ?? fates[0] ?? t.fail())(method, apply),
  );
  const ada = actor(1);
  await store.activate(ada, 0, 1, true);
  const versions: (number | undefined)[] = [];
  for (fate of [1, 2, 3]) {
    await t.throwsAsync(store.barrier(ada, 1), { instanceOf: StoreError });
    versions.push(database.head(ada)?.version);
  }
  for (const apply of late) apply();
  t.deepEqual([...versions, database.head(ada)?.version], [0, 1, 1, 2]);
});
