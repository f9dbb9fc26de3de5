/**
 * Every method of the store with its promises when a statement of it fails: what others see, and how an unanswered
 * caller asks again. The type of the map makes it complete.
 */
import type { Commit, LiveNode, NodeRow, Store, Write } from '../../runtime/store/store.ts';
import { callTable, outboxTable, sliceTable, timerTable } from '../../runtime/store/tables.ts';
import {
  activate,
  actor,
  assertFails,
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
import { memberTable, note, noteTable, uuid } from './tables.ts';

export type StoreMethod = Exclude<keyof Store, 'close'>;

/** A method about to be called, on rows that no other call touches. */
export interface Call {
  readonly run: (store: Store) => Promise<unknown>;
  /** The view of others, the same after every successful call. */
  readonly state?: (store: Store) => Promise<unknown>;
  /** The repeat after an unknown outcome; by default, the same call. */
  readonly settle?: (store: Store) => Promise<unknown>;
  /** The part of the result that is the same for every successful call. */
  readonly answer?: (result: never) => unknown;
}

/** Prepares a call by a store that nothing fails. `number` is unique. */
export type Arrange = (store: Store, number: number) => Promise<Call>;

const leaseMs = 60_000;
const lapsedMs = -1;
const large = 'x'.repeat(600_000);

const node = (number: number, incarnation: string): NodeRow => ({
  id: `node-${number}`,
  incarnation: `${incarnation}-${number}`,
  address: 'local',
  roles: 'all',
  version: '1',
  formats: '1',
});
const shardsOf = (number: number) => [0, 1, 2].map((index) => number * 3 + index);

async function nodeRow(store: Store, number: number): Promise<LiveNode | undefined> {
  return (await store.nodes()).find(({ id }) => id === node(number, '').id);
}

/** The owner of the node, without the number. */
async function holder(store: Store, number: number): Promise<string | null> {
  return (await nodeRow(store, number))?.incarnation?.replace(`-${number}`, '') ?? null;
}

const timer = (number: number, name: string, dead: boolean) => ({
  ...actor(number),
  name,
  shard: number,
  due_at: 100,
  payload: Buffer.from(name),
  attempts: 0,
  dead,
});

const tell = (number: number, id: number, dead: boolean) => ({
  target_kind: 'user',
  target_id: actor(number).id,
  tell_id: uuid(number * 10 + id),
  target_shard: number,
  name: 'greet',
  payload: Buffer.from('hello'),
  sender_kind: 'user',
  sender_id: actor(number).id,
  sender_version: 1,
  attempts: 0,
  retry_at: 100,
  dead,
});

const call = (number: number, key: string) => ({
  ...actor(number),
  call_key: key,
  shard: number,
  reply: Buffer.from('r'),
  at: 10,
});

/** An actor with some of everything, for reads. */
async function writeRows(store: Store, number: number, content: string): Promise<void> {
  const { id } = actor(number);
  await commitWrites(store, actor(number), [
    putSlice(actor(number), 'profile', 'x'),
    insert(noteTable, note(id, uuid(number * 10), { position: 1, content, size: content.length })),
    insert(noteTable, note(id, uuid(number * 10 + 1), { position: 2 })),
    ...[timer(number, 'a', false), timer(number, 'b', true)].map((row) => put(timerTable, row)),
    ...[tell(number, 1, false), tell(number, 2, true)].map((row) => insert(outboxTable, row)),
  ]);
}

/** A read sees the same rows whenever it is answered. */
const reading =
  (run: (store: Store, number: number) => Promise<unknown>, content = 'x'): Arrange =>
  async (store, number) => {
    await writeRows(store, number, content);
    return { run: (request) => run(request, number), answer: () => null };
  };

/**
 * A commit on an actor that has a note and a slice. It is settled like in the runtime: by a barrier, which shows
 * whether it was applied, and then by taking the turns again.
 */
const committing =
  (writesOf: (number: number) => readonly Write[]): Arrange =>
  async (store, number) => {
    const address = actor(number);
    const realStore = [putSlice(address, 'old', 'x'), insert(noteTable, note(address.id, uuid(number * 10)))];
    await commitWrites(store, address, realStore);
    const commit: Commit = {
      address,
      epoch: 1,
      version: 1,
      commitId: uuid(number * 10 + 5),
      writes: writesOf(number),
    };
    return {
      run: (request) => request.commit([commit]),
      state: async (seen) => ({
        slices: await sliceTexts(seen, address),
        notes: (
          await rowsOf(
            seen,
            noteTable,
            ...[0, 1].map((index) => ({ owner_uuid: address.id, uuid: uuid(number * 10 + index) })),
          )
        ).map(({ content, position }) => ({ content, position })),
        isCommitted: (await seen.head(address))?.commitId === commit.commitId,
      }),
      async settle(request) {
        const row = await request.barrier(address, 1);
        if (row?.commitId === commit.commitId) return new Set([0]);
        return request.commit([{ ...commit, version: row?.version ?? 0 }]);
      },
    };
  };

export const calls: Readonly<Record<StoreMethod, Readonly<Record<string, Arrange>>>> = {
  timeMs: {
    now: async () => ({ run: (store) => store.timeMs(), answer: (ms: number) => Number.isSafeInteger(ms) }),
  },
  register: {
    'a new node': async (_, number) => ({
      run: (store) => store.register(node(number, 'a'), leaseMs, false),
      state: (store) => holder(store, number),
    }),
    'a successor of the dead': async (store, number) => {
      await store.register(node(number, 'a'), leaseMs, false);
      return {
        run: (store) => store.register(node(number, 'b'), leaseMs, true),
        state: (store) => holder(store, number),
      };
    },
    'a successor that has to wait': async (store, number) => {
      await store.register(node(number, 'a'), leaseMs, false);
      return {
        run: (store) => store.register(node(number, 'b'), leaseMs, false),
        state: (store) => holder(store, number),
        answer: (waitMs: number) => waitMs > 0,
      };
    },
  },
  renew: {
    'of the living': async (store, number) => {
      await store.register(node(number, 'a'), 1_000, false);
      return {
        run: (store) => store.renew(node(number, 'a').id, node(number, 'a').incarnation, leaseMs),
        state: async (store) => Number((await nodeRow(store, number))?.expiresInMs) > 10_000,
        answer: (nowMs: number) => nowMs > 0,
      };
    },
    'of the dead': async (_, number) => ({ run: (store) => store.renew(`node-${number}`, 'gone', leaseMs) }),
  },
  leave: {
    'with its lease': async (store, number) => {
      await store.register(node(number, 'a'), leaseMs, false);
      return {
        run: (store) => store.leave(node(number, 'a').id, node(number, 'a').incarnation),
        state: (store) => holder(store, number),
      };
    },
  },
  nodes: {
    all: async (store, number) => {
      await store.register(node(number, 'a'), leaseMs, false);
      return { run: (store) => store.nodes(), answer: (nodes: readonly LiveNode[]) => nodes.length > 0 };
    },
  },
  setDraining: {
    on: async (store, number) => {
      await store.register(node(number, 'a'), leaseMs, false);
      return {
        run: (store) => store.setDraining(node(number, 'a').id, true),
        state: async (store) => (await nodeRow(store, number))?.draining,
      };
    },
  },
  setConnected: {
    on: async (store, number) => {
      await store.register(node(number, 'a'), leaseMs, false);
      const { id, incarnation } = node(number, 'a');
      return {
        run: (store) => store.setConnected(id, incarnation, false),
        state: async (store) => (await nodeRow(store, number))?.connected,
      };
    },
  },
  expireNodes: {
    'one that lapsed': async (store, number) => {
      await store.register(node(number, 'a'), lapsedMs, false);
      // Whom it names depends on who else has lapsed, and a repeat names nobody. Only a hint follows from it.
      const run = async (store: Store) => void (await store.expireNodes());
      return { run, state: (store) => holder(store, number) };
    },
  },
  claim: {
    'of free shards': async (realStore, number) => {
      const { id, incarnation } = node(number, 'a');
      await realStore.register(node(number, 'a'), leaseMs, false);
      const held = async (store: Store) => store.shardsOf(incarnation);
      return {
        async run(store) {
          const { epoch, shards } = await store.claim(id, incarnation, shardsOf(number));
          const isHeld = (await held(realStore)).every((shard) => shard.epoch === epoch);
          return { isHeld, shards: shards.map((shard) => shard - number * 3) };
        },
        state: async (store) => (await held(store)).map(({ shard }) => shard - number * 3),
      };
    },
    'of what another holds': async (store, number) => {
      const { id, incarnation } = node(number, 'a');
      await store.register(node(number, 'a'), leaseMs, false);
      await store.claim(id, incarnation, shardsOf(number));
      return { run: (store) => store.claim('other', 'other', shardsOf(number)) };
    },
    'by one that is dead': async (store, number) => ({
      run: (store) => store.claim(node(number, 'a').id, 'gone', shardsOf(number)),
      state: async () => (await store.shardsOf('gone')).length,
    }),
  },
  shardsOf: { some: async () => ({ run: (store) => store.shardsOf('nobody') }) },
  release: {
    'what it holds': async (store, number) => {
      const { id, incarnation } = node(number, 'a');
      await store.register(node(number, 'a'), leaseMs, false);
      const { epoch, shards } = await store.claim(id, incarnation, shardsOf(number));
      const held = shards.map((shard) => ({ shard, epoch }));
      return {
        run: (store) => store.release(incarnation, held),
        state: async (store) => (await store.freeShards(shards)).length,
      };
    },
  },
  freeShards: {
    some: async (_, number) => ({
      run: (store) => store.freeShards(shardsOf(number)),
      answer: (shards: readonly number[]) => shards.length,
    }),
  },
  shards: { all: async () => ({ run: (store) => store.shards() }) },
  activate: {
    'of an actor that is there': async (store, number) => {
      await activate(store, actor(number));
      return {
        run: (store) => store.activate(actor(number), 0, 2, false),
        state: async (store) => (await store.head(actor(number)))?.epoch,
        answer: ({ outcome }: { outcome: string }) => outcome,
      };
    },
    'of one that it creates': async (_, number) => ({
      run: (store) => store.activate(actor(number), 0, 2, true),
      state: async (store) => (await store.head(actor(number)))?.epoch,
      answer: ({ outcome }: { outcome: string }) => outcome,
    }),
    'of one that is not there': async (_, number) => ({
      run: (store) => store.activate(actor(number), 0, 2, false),
      state: async (store) => (await store.head(actor(number)))?.epoch,
    }),
    'of one that a newer epoch holds': async (store, number) => {
      await activate(store, actor(number), 3);
      return {
        run: (store) => store.activate(actor(number), 0, 2, true),
        state: (store) => store.head(actor(number)),
      };
    },
  },
  barrier: {
    'of its epoch': async (store, number) => {
      await activate(store, actor(number));
      return {
        run: (store) => store.barrier(actor(number), 1),
        state: async (store) => Number((await store.head(actor(number)))?.version) > 0,
        answer: ({ epoch, commitId }: { epoch: number; commitId: unknown }) => ({ epoch, commitId }),
      };
    },
    'of another epoch': async (store, number) => {
      await activate(store, actor(number), 2);
      return {
        run: (store) => store.barrier(actor(number), 1),
        state: (store) => store.head(actor(number)),
      };
    },
  },
  head: { 'of an actor': reading((store, number) => store.head(actor(number))) },
  commit: {
    'of new rows': committing((number) => [
      putSlice(actor(number), 'new', 'y'),
      insert(noteTable, note(actor(number).id, uuid(number * 10 + 1), { position: 2 })),
    ]),
    'that puts and removes in two tables': committing((number) => [
      remove(sliceTable, { ...actor(number), slice: 'old' }),
      putSlice(actor(number), 'new', 'y'),
      remove(noteTable, { owner_uuid: actor(number).id, uuid: uuid(number * 10) }),
      insert(noteTable, note(actor(number).id, uuid(number * 10 + 1), { position: 2 })),
    ]),
    'of a large value': committing((number) => [
      put(noteTable, note(actor(number).id, uuid(number * 10), { content: large })),
    ]),
    'that is rejected': async (store, number) => {
      const address = actor(number);
      const held = note(actor(number + 500_000).id, uuid(number * 10));
      await commitWrites(store, actor(number + 500_000), [insert(noteTable, held)]);
      const writes = [
        remove(sliceTable, { ...address, slice: 'old' }),
        putSlice(address, 'new', 'y'),
        insert(noteTable, note(address.id, uuid(number * 10))),
      ];
      const commit = commitOn(await activate(store, address), address, number * 10 + 5, writes);
      const state = (store: Store) => sliceTexts(store, address);
      return {
        run: (store) => rejected(store, commit),
        state,
        async settle(store) {
          const row = await store.barrier(address, 1);
          return rejected(store, { ...commit, version: row?.version ?? 0 });
        },
      };
    },
  },
  unlocked: {
    'of an actor': reading(async (store, number) => [...(await store.unlocked([actor(number)]))]),
  },
  slices: { 'of an actor': reading((store, number) => store.slices(actor(number))) },
  timers: { 'of an actor': reading((store, number) => store.timers(actor(number))) },
  read: {
    'by key, by order and by unique key': reading((store, number) => {
      const owner = actor(number).id;
      const range = { read: 'range', table: noteTable, owner, after: 0, through: 9, limit: 5 } as const;
      return store.read([
        { read: 'keys', table: noteTable, keys: [{ owner_uuid: owner, uuid: uuid(number * 10) }] },
        range,
        { ...range, budgetBytes: 10 },
        { read: 'lookup', table: noteTable, unique: ['uuid'], values: [{ uuid: uuid(number * 10) }] },
        {
          read: 'crossOwner',
          table: noteTable,
          membership: { table: memberTable, member: uuid(number) },
          owners: [{ owner, after: 0 }],
          limit: 5,
        },
      ]);
    }, large),
  },
  dueTimers: { 'of a shard': reading((store, number) => store.dueTimers(sweepOf([number], 0, 1_000, 10))) },
  pendingTells: {
    'to a shard': reading((store, number) => store.pendingTells(sweepOf([number], 0, 1_000, 10))),
  },
  backlog: { 'of all': reading((store) => store.backlog()) },
  deadTimers: { some: reading((store) => store.deadTimers(10)) },
  deadTells: { some: reading((store) => store.deadTells(10)) },
  pruneCalls: {
    'of a shard': async (store, number) => {
      const rows = ['a', 'b'].map((key) => call(number, key));
      await commitWrites(
        store,
        actor(number),
        rows.map((row) => insert(callTable, row)),
      );
      return {
        run: (store) => store.pruneCalls([number], 100, 10),
        state: async (store) => (await rowsOf(store, callTable, ...rows)).length,
        answer: () => null,
      };
    },
  },
  removeEnded: {
    'of a shard': async (store, number) => {
      const address = actor(number);
      await store.activate(address, number, 1, true);
      return {
        run: (store) => store.removeEnded([number], Number.MAX_SAFE_INTEGER, 10),
        state: async (store) => (await store.head(address)) === undefined,
        answer: () => null,
      };
    },
  },
  removeNodes: {
    'without a lease': async (store, number) => {
      await store.register(node(number, 'a'), lapsedMs);
      await store.leave(node(number, 'a').id, node(number, 'a').incarnation);
      return {
        run: (store) => store.removeNodes(Number.MAX_SAFE_INTEGER),
        state: async (store) => (await nodeRow(store, number)) === undefined,
      };
    },
  },
  fixedSetting: {
    'that is not set': async (_, number) => ({ run: (store) => store.fixedSetting(`s${number}`, 'one') }),
    'that is set': async (store, number) => {
      await store.fixedSetting(`s${number}`, 'one');
      return { run: (store) => store.fixedSetting(`s${number}`, 'two') };
    },
  },
  replaceSetting: {
    'that is set': async (store, number) => {
      await store.fixedSetting(`s${number}`, 'one');
      return {
        run: (store) => store.replaceSetting(`s${number}`, 'two'),
        state: (store) => store.fixedSetting(`s${number}`, 'unset'),
      };
    },
  },
};

/** A rejected commit is a valid answer. */
async function rejected(store: Store, commit: Commit): Promise<string> {
  const attempt = store.commit([commit]);
  const failure = await attempt.then(
    () => 'none',
    (error) => error.failure,
  );
  if (failure === 'none') throw new Error('the commit was not rejected');
  if (failure !== 'rejected') await attempt;
  await assertFails(attempt, 'rejected');
  return 'rejected';
}
