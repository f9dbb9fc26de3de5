import test from 'ava';
import { createKeyring } from '../runtime/keyring.ts';
import { silentLogger } from '../runtime/ports.ts';
import { resharding } from '../runtime/store/postgres/reshard.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { ModelDatabase, ModelStore } from '../test/kit/model-store/model-store.ts';
import { SeededRandom } from '../test/kit/random.ts';
import {
  checkDatabase,
  inProcessAddress,
  needing,
  restoredMarker,
  shardCountOf,
  syncGeneration,
} from './database.ts';
import { StartError, serverExitCodes } from './start-error.ts';

const keyring = createKeyring(Buffer.alloc(32, 1));
const expected = { keyring, shardCount: 16, nodeId: 'main', clusterName: 'a', isClustered: false };
const leaseMs = 10_000;

const nodeOf = (id: string) => ({
  id,
  incarnation: `${id}-1`,
  address: '',
  roles: 'all',
  version: '0',
  formats: '1',
});

function storeOf() {
  const clock = new FakeClock();
  return { clock, store: new ModelStore(new ModelDatabase(clock)) };
}

function directoryWith(...names: string[]) {
  const files = new Set(names);
  return {
    has: async (name: string) => files.has(name),
    forget: async (name: string) => void files.delete(name),
  };
}

test('a new database is accepted, and again with the same fixed settings', async (t) => {
  const { store } = storeOf();
  await checkDatabase(store, expected);
  await t.notThrowsAsync(checkDatabase(store, expected));
});

test('the generation of sync tokens is as old as the database', async (t) => {
  const { store } = storeOf();
  const first = await syncGeneration(store, directoryWith(), new SeededRandom(1));
  t.is(await syncGeneration(store, directoryWith(), new SeededRandom(2)), first);
  t.not(await syncGeneration(storeOf().store, directoryWith(), new SeededRandom(2)), first);
});

test('a database marked as restored gets a new generation, once', async (t) => {
  const { store } = storeOf();
  const first = await syncGeneration(store, directoryWith(), new SeededRandom(1));
  const directory = directoryWith(restoredMarker);
  const second = await syncGeneration(store, directory, new SeededRandom(2));
  t.not(second, first);
  t.is(await syncGeneration(store, directory, new SeededRandom(3)), second);
});

test('a database whose shards are being changed is refused until that is done', async (t) => {
  const { store } = storeOf();
  await checkDatabase(store, expected);
  await store.replaceSetting(resharding.setting, '64');
  const error = await t.throwsAsync(checkDatabase(store, expected), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.config);
  t.regex(error.message, /reshard --shards 64/);
  await store.replaceSetting(resharding.setting, resharding.none);
  await t.notThrowsAsync(checkDatabase(store, expected));
});

test('another key, shard count or cluster name than the database was made with is refused', async (t) => {
  const { store } = storeOf();
  await checkDatabase(store, expected);
  for (const other of [
    { keyring: createKeyring(Buffer.alloc(32, 2)) },
    { shardCount: 32 },
    { clusterName: 'b' },
  ]) {
    const error = await t.throwsAsync(checkDatabase(store, { ...expected, ...other }), {
      instanceOf: StartError,
    });
    t.is(error.exitCode, serverExitCodes.config);
  }
});

const warnings = () => {
  const seen: object[] = [];
  return { seen, logger: { ...silentLogger, warn: (fields: object) => void seen.push(fields) } };
};

test('a new database has fifty shards and more for each expected host, and keeps them', async (t) => {
  const { store } = storeOf();
  const { logger, seen } = warnings();
  t.is(await shardCountOf(store, { shardCount: undefined, expectedHosts: 300 }, logger), 16_384);
  t.is(await shardCountOf(store, { shardCount: undefined, expectedHosts: 1 }, logger), 16_384);
  t.deepEqual(seen, []);
});

test('a database that has too few shards for the hosts it is to serve is told of', async (t) => {
  const { store } = storeOf();
  const { logger, seen } = warnings();
  t.is(await shardCountOf(store, { shardCount: undefined, expectedHosts: 1 }, logger), 1_024);
  t.is(await shardCountOf(store, { shardCount: undefined, expectedHosts: 300 }, logger), 1_024);
  t.is(await shardCountOf(store, { shardCount: 64, expectedHosts: 2 }, logger), 64);
  t.deepEqual(seen, [
    { shards: 1_024, expectedHosts: 300 },
    { shards: 64, expectedHosts: 2 },
  ]);
});

test('a live node of another name is refused, a dead one or our own predecessor is not', async (t) => {
  const { clock, store } = storeOf();
  await store.register(nodeOf('main'), leaseMs);
  await t.notThrowsAsync(checkDatabase(store, expected));
  await store.register(nodeOf('other'), leaseMs);
  const error = await t.throwsAsync(checkDatabase(store, expected), { instanceOf: StartError });
  t.is(error.exitCode, serverExitCodes.inUse);
  t.regex(error.message, /"other"/);
  await clock.advance(leaseMs + 1);
  await t.notThrowsAsync(checkDatabase(store, expected));
});

test('nodes that reach one another share a database, one that cannot be reached keeps them out', async (t) => {
  const { store } = storeOf();
  const clustered = { ...expected, isClustered: true };
  await store.register({ ...nodeOf('other'), address: 'machine' }, leaseMs);
  await t.notThrowsAsync(checkDatabase(store, clustered));
  await t.throwsAsync(checkDatabase(store, expected), { message: /"other".*NATS_URL/ });
  await store.register({ ...nodeOf('alone'), address: inProcessAddress }, leaseMs);
  await t.throwsAsync(checkDatabase(store, clustered), { message: /"alone".*without NATS_URL/ });
});

test('a failure is reported with its causes, as one sentence', async (t) => {
  const cause = new Error('connection refused');
  for (const words of ['nobody takes us', 'nobody takes us.']) {
    const failing = () => Promise.reject(new Error(words));
    await t.throwsAsync(needing('NATS cannot be used', failing), {
      message: 'NATS cannot be used: nobody takes us.',
    });
  }
  const deeper = () => Promise.reject(new Error('no answer', { cause }));
  await t.throwsAsync(needing('The database cannot be used', deeper), {
    message: 'The database cannot be used: no answer: connection refused.',
  });
});
