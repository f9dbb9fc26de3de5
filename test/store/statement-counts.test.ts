/**
 * The cost of each operation for the database: every statement that it sends over the wire, under the store's name
 * for it. The test shows operations that have become dearer, and also those that have become cheaper.
 */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import { User } from '../../actors/user/contract.ts';
import type { Address } from '../../runtime/address.ts';
import { provide } from '../../runtime/dependency.ts';
import type { Store } from '../../runtime/store/store.ts';
import { refresh, signIn } from '../kit/account.ts';
import { FakeClock } from '../kit/clock.ts';
import { createTable } from '../kit/create-table.ts';
import type { Device } from '../kit/device.ts';
import { startTestHost, type TestHost, testNode, testShardCount } from '../kit/host.ts';
import { note } from '../kit/items.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { SeededRandom } from '../kit/random.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { counterKind, SlowWork, tally as tallyTable, title } from '../simulation/counter.ts';
import { type CountedStore, openCountedStore } from './counted-store.ts';

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

/** The operation and its statements. */
type Table<Subject> = readonly (readonly [
  what: string,
  statements: string,
  run: (subject: Subject) => Promise<unknown>,
])[];

async function holds<Subject>(
  t: ExecutionContext,
  table: Table<Subject>,
  subject: Subject,
  { sent }: CountedStore,
): Promise<void> {
  await sent();
  for (const [what, statements, run] of table) {
    await run(subject);
    t.is(tally(await sent()), statements, what);
  }
}

/** `commit, 2 read item`: each name once, with its count if there are more. */
function tally(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} ${name}`)).join(', ');
}

const evict = ({ host, clock }: TestHost, address: Address) =>
  host.ask({
    address,
    command: '$evict',
    request: null,
    callId: crypto.randomUUID(),
    deadlineMs: clock.monotonicMs() + 1_000,
  });

/** Sweeps, renewals and passivation have their own counts: this clock stands still unless a test moves it. */
const neverMs = 1e11;

interface Client {
  readonly server: TestServer;
  readonly device: Device;
  /** The last saved version of an item, changed. */
  readonly saved: ClientItem;
  /** Drops the account's actor from memory. */
  forget(): Promise<unknown>;
}

const stranger = () => note({ uuid: crypto.randomUUID() });

const requests: Table<Client> = [
  ['an idle sync', '', ({ device }) => device.sync()],
  [
    '… of an account that is not in memory',
    'activate, slices, timers',
    ({ device, forget }) => forget().then(() => device.sync()),
  ],
  ['a save of a new item', 'commit', ({ device }) => device.sync({ items: [stranger()] })],
  ['a save of a known item', 'commit, read item', ({ device, saved }) => device.sync({ items: [saved] })],
  ['a first sync', '2 read item', ({ device }) => device.sync({ sync_token: null })],
  [
    'a save of an account that is not in memory',
    'activate, commit, slices, timers',
    ({ device, forget }) => forget().then(() => device.sync({ items: [stranger()] })),
  ],
  [
    'both calls of a sign-in',
    '2 BEGIN, 2 COMMIT, 4 commit, 2 read account, 2 read call, 2 rest of commit',
    ({ server }) => signIn(server),
  ],
  ['a refresh of a session', 'commit, read call', ({ server, device }) => refresh(server, device.account)],
];

test('a request sends the database no more than it needs', async (t) => {
  const counted = await openCountedStore(postgres);
  t.teardown(() => counted.close());
  const host = { store: counted.store, limits: { sweepMs: neverMs, housekeepingMs: neverMs } };
  const server = await startServer(t, { host });
  const device = await server.device();
  const forget = () => evict(server.host, { kind: User.name, id: device.account.userUuid });
  const {
    saved_items: [item],
  } = await device.save(note());
  const saved = note({ content: '004:other', updated_at_timestamp: item?.updated_at_timestamp ?? 0 });
  await device.sync();
  // The first sign-in of a process asks whether imported passwords are left, for the next half minute.
  await signIn(server);
  await holds(t, requests, { server, device, saved, forget }, counted);
});

const trouble = { untilMs: 0 };
/** Housekeeping runs when no sweep does. */
const housekeepingMs = 2_000;
const sweepMs = 3_000;

const counters: Table<TestHost> = [
  ['the join of a host that is alone', '', ({ clock }) => clock.advance(100)],
  [
    'housekeeping, with nothing to remove',
    'endedActors, pruneCalls, removeNodes, time',
    ({ clock }) => clock.advance(housekeepingMs - 100),
  ],
  [
    `sweeps of ${testShardCount} shards, for timers and for tells`,
    'dueTimers, pendingTells, 2 time',
    ({ clock }) => clock.advance(sweepMs - housekeepingMs),
  ],
  [
    'a command to an actor that never was',
    'activateOrCreate, commit, read call, slices, timers',
    ({ actors }) => actors.get(counterKind, 'a').ask.append({ op: '1' }),
  ],
  ['a command', 'commit, read call', ({ actors }) => actors.get(counterKind, 'a').ask.append({ op: '2' })],
  ['a shared read', '', ({ actors }) => actors.get(counterKind, 'a').ask.peek({ after: 0 })],
  [
    'an activation',
    'activate, slices, timers',
    async (host) => {
      await evict(host, { kind: counterKind.name, id: 'a' });
      await host.actors.get(counterKind, 'a').ask.peek({ after: 0 });
    },
  ],
  [
    'a command that tells another actor, and the tell',
    '2 commit, read call, read outbox',
    ({ actors }) => actors.get(counterKind, 'a').ask.transfer({ op: '3', to: 'a', amount: 1, trouble }),
  ],
  [
    'a command that arms a timer, the sweep that finds it, and the timer',
    '2 commit, dueTimers, read call, time',
    async ({ actors, clock }) => {
      const dueMs = clock.nowMs();
      await actors.get(counterKind, 'a').ask.arm({ op: '4', name: 'x', dueMs, trouble, again: 0 });
      await clock.advance(1);
    },
  ],
];

test('a host by itself sends the database no more than it needs', async (t) => {
  const counted = await openCountedStore(postgres, [tallyTable, title].flatMap(createTable));
  t.teardown(() => counted.close());
  const provided = [provide(SlowWork, { began() {}, take: () => Promise.resolve() })];
  // Writes directly to the database, which makes every timer due.
  const clock = new FakeClock(Date.now() - 3_600_000);
  const host = await startTestHost({
    kinds: [counterKind],
    provided,
    store: counted.store,
    clock,
    limits: { sweepMs, housekeepingMs },
    leaseMs: neverMs,
  });
  t.teardown(() => host.host.abandon());
  await clock.advance(0);
  await holds(t, counters, host, counted);
});

const shards = Array.from({ length: 1_024 }, (_, shard) => shard);
const node = testNode(new SeededRandom(1), 'node');
const other = testNode(new SeededRandom(2), 'other');

const ownership: Table<Store> = [
  ['a registration', 'nextStart, register', (store) => store.register(node, neverMs)],
  ['a renewal', 'renew', (store) => store.renew(node.id, node.incarnation, neverMs)],
  [
    'a reconciliation that finds nothing to change',
    'expireNodes, nodes, shardsOf',
    async (store) => {
      await store.expireNodes();
      await store.nodes();
      await store.shardsOf(node.incarnation);
    },
  ],
  [
    `a claim of ${shards.length} shards`,
    'freeShards, nextEpoch, takeShards',
    (store) => store.claim(node.id, node.incarnation, shards),
  ],
  [
    'a claim where nothing is free',
    'freeShards',
    (store) => store.claim(other.id, other.incarnation, shards),
  ],
  ['a look for what is free', 'freeShards', (store) => store.freeShards(shards)],
  [
    `a release of ${shards.length} shards`,
    'release',
    (store) =>
      store.release(
        node.incarnation,
        shards.map((shard) => ({ shard, epoch: 1 })),
      ),
  ],
];

test('a lookup by owner costs the database the same, however many shards there are', async (t) => {
  const counted = await openCountedStore(postgres);
  t.teardown(() => counted.close());
  await counted.store.register(other, neverMs);
  await holds(t, ownership, counted.store, counted);
});
