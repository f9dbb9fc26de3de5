import test from 'ava';
import { z } from 'zod';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import {
  answering,
  isBalanced,
  loseOnce,
  TestCluster,
  type TestClusterOptions,
} from '../../test/kit/cluster.ts';
import { testNode } from '../../test/kit/host.ts';
import { count, ledger, ledgerCommands } from '../../test/kit/ledger.ts';
import { ModelDatabase, ModelStore } from '../../test/kit/model-store/model-store.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { shardOf } from '../address.ts';
import { sleep } from '../clock.ts';
import { command } from '../command.ts';
import { noMetrics } from '../host/runtime-metrics.ts';
import { kind } from '../kind.ts';
import { silentLogger } from '../ports.ts';
import { slice } from '../slice.ts';
import { type Store, StoreError } from '../store/store.ts';
import { InProcessTransport } from '../transport/in-process.ts';
import type { Hint } from '../transport/transport.ts';
import { Ownership, searchersMax } from './ownership.ts';
import { placementOf } from './placement.ts';

const newer = slice({ name: 'newer', format: 2, schema: z.string(), initial: '' });
const newLedger = kind({
  name: 'ledger',
  slices: [count, newer],
  commands: {
    ...ledgerCommands,
    label: command(
      { request: z.string(), reply: z.null() },
      {
        creates: true,
        turn: (turn, text) => {
          turn.set(newer, text);
          return null;
        },
      },
    ),
  },
});
/** The kind of the former release, which finds a format it does not know. */
const oldLedger = kind({
  name: 'ledger',
  slices: [count, slice({ name: 'newer', format: 1, schema: z.string(), initial: '' })],
  commands: ledgerCommands,
});

const leaseMs = 10_000;

function cluster(options: Partial<TestClusterOptions> = {}): TestCluster {
  return new TestCluster({ kinds: [ledger], leaseMs, ...options });
}

/** How many nodes answer a question about the actor when they are asked past all routing. */
const whoAnswers = (made: TestCluster, id: string) =>
  answering(made, { address: { kind: 'ledger', id }, command: 'peek', request: null, callId: 'peek' });

test('a host that joins gets its share when the hosts have stayed the same for half a lease, and not before', async (t) => {
  const made = cluster();
  await made.join('a');
  t.is(made.held('a').length, made.shardCount);
  const b = await made.join('b');
  await made.clock.advance(leaseMs / 2 - 500);
  t.is(made.held('b').length, 0);
  t.false(b.node.isReady);
  await made.clock.advance(leaseMs / 2 + 500);
  t.true(isBalanced(made, ['a', 'b']));
  t.true(b.node.isReady);
});

test('a host that joins has those reconcile at once that have a shard for it, and few others', async (t) => {
  const made = cluster({ shardCount: 128 });
  const ids = Array.from({ length: 32 }, (_, at) => `host-${at}`);
  await made.joinAll(ids);
  const before = placementOf(ids, made.shardCount);
  const after = placementOf([...ids, 'joining'], made.shardCount);
  const givers = new Set(before.filter((_, shard) => after[shard] === 'joining'));
  const hosts = [...made.nodes];
  const counts = () =>
    hosts.map(({ statements }) => statements.filter((method) => method === 'shardsOf').length);
  const countsBefore = counts();
  await made.join('joining');
  await made.clock.advance(100);
  const reconciled = counts().flatMap((count, at) => (count > (countsBefore[at] ?? 0) ? [ids[at]] : []));
  t.true(givers.size > 0 && givers.size < ids.length / 3, `${givers.size} givers`);
  for (const giver of givers) t.true(reconciled.includes(giver), giver);
  // Each host reconciles four times a lease without any hint.
  t.true(reconciled.length <= givers.size + 4, `${reconciled.length} for ${givers.size} givers`);
  await made.clock.advance(2 * leaseMs);
  t.is(made.held('joining').length, after.filter((place) => place === 'joining').length);
});

/** What a reconciliation sends, by the store's names. A lease and its clock have statements of their own. */
const reconciling: readonly (keyof Store)[] = ['expireNodes', 'nodes', 'shardsOf', 'freeShards', 'claim'];

/** How many such statements all nodes have sent, and how many of one name. */
const sentBy = (made: TestCluster, name?: keyof Store) =>
  made.nodes
    .flatMap(({ statements }) => statements)
    .filter((method) => (name === undefined ? reconciling.includes(method) : method === name)).length;

test('a host that is alone reconciles once when it joins', async (t) => {
  const made = cluster({ shardCount: 1_024 });
  await made.join('a');
  t.deepEqual(
    made.nodes[0]?.statements.filter((method) => reconciling.includes(method)),
    ['nodes', 'shardsOf', 'claim'],
  );
  const before = sentBy(made);
  await made.clock.advance(leaseMs / 5 - 1);
  t.is(sentBy(made), before, 'no hint of its own makes it do so again');
});

for (const [hosts, shardCount] of [
  [2, 32],
  [8, 1_024],
  [32, 1_024],
] as const) {
  test(`${hosts} hosts with ${shardCount} shards: what reconciliations send is bounded`, async (t) => {
    const made = cluster({ shardCount });
    const ids = Array.from({ length: hosts }, (_, at) => `host-${at}`);
    await made.joinAll(ids);
    // Each has seen the database for a whole lease by then, and so looks for the dead.
    await made.clock.advance(leaseMs);
    const [sent, times, searches] = [sentBy(made), sentBy(made, 'shardsOf'), sentBy(made, 'freeShards')];
    const leases = 4;
    await made.clock.advance(leases * leaseMs);
    const reconciliations = sentBy(made, 'shardsOf') - times;
    t.true(reconciliations >= hosts * leases * 3, `${reconciliations}`);
    t.true(reconciliations <= hosts * (leases * 5 + 1), `${reconciliations}`);
    const searched = sentBy(made, 'freeShards') - searches;
    t.true(searched <= 2 * (leases + 1) * Math.min(hosts, searchersMax), `${searched} searches`);
    t.is(sentBy(made) - sent, 3 * reconciliations + searched, 'three statements each, and the searches');

    const before = sentBy(made);
    const after = placementOf([...ids, 'joining'], shardCount);
    const givers = new Set(placementOf(ids, shardCount).filter((_, shard) => after[shard] === 'joining'));
    await made.join('joining');
    await made.clock.advance(100);
    const join = sentBy(made) - before;
    // The host that joins, those that have a shard for it, and those whose turn it is anyway.
    const most = 4 * (1 + givers.size + Math.ceil(hosts / 8));
    t.true(join >= 3 * (1 + givers.size) && join <= most, `${join} statements, ${givers.size} givers`);
  });
}

test('the shards of a host that crashed are served by the others within two leases', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b', 'c']);
  t.true(isBalanced(made, ['a', 'b', 'c']));
  const id = made.idIn('ledger', made.held('a'));
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
  made.crash(a);
  const crashedMs = made.clock.monotonicMs();
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
  t.true(made.clock.monotonicMs() - crashedMs < 2 * leaseMs);
  await made.clock.advance(leaseMs);
  t.is(made.held('b').length + made.held('c').length, made.shardCount);
});

test('the shards of a lost host are claimed within a tenth of a second after its lease, whenever it is lost', async (t) => {
  for (let at = 0; at < 8; at += 1) {
    const made = cluster();
    const [a] = await made.joinAll(['a', 'b', 'c']);
    await made.clock.advance(at * 617);
    made.crash(a);
    const leftMs = made.database.nodes().find(({ id }) => id === 'a')?.expiresInMs ?? 0;
    const claimed = () => made.held('b').length + made.held('c').length;
    await made.clock.advance(leftMs);
    t.true(claimed() < made.shardCount, 'no sooner');
    await made.clock.advance(100);
    t.is(claimed(), made.shardCount, `lost ${at * 617} ms after the start`);
  }
});

test('the requests of one drain to all hosts are bounded, however many batches it has', async (t) => {
  const made = cluster({ shardCount: 1_024 });
  const ids = ['a', 'b', 'c', 'd'] as const;
  const [a, ...others] = await made.joinAll(ids);
  const reconciliations = () =>
    others.map(({ statements }) => statements.filter((method) => method === 'shardsOf').length);
  const before = reconciliations();
  const startedMs = made.clock.monotonicMs();
  await made.drain(a);
  await made.clock.advance(200);
  const tookMs = made.clock.monotonicMs() - startedMs;
  const perHost = reconciliations().map((count, at) => count - (before[at] ?? 0));
  t.true(
    perHost.every((count) => count <= 4 + tookMs / 20),
    `${perHost} in ${tookMs} ms`,
  );
  t.is(
    others.reduce((sum, { node }) => sum + node.shardCount, 0),
    made.shardCount,
  );
});

test('many hosts together look for what is free elsewhere no more often than a few do', async (t) => {
  const searchesOf = async (count: number): Promise<number> => {
    const made = cluster({ shardCount: 64 });
    await made.joinAll(Array.from({ length: count }, (_, at) => `host-${at}`));
    const searches = () => made.nodes.flatMap(({ statements }) => statements.filter(isSearch)).length;
    const before = searches();
    await made.clock.advance(4 * leaseMs);
    return searches() - before;
  };
  const isSearch = (method: string) => method === 'freeShards';
  const few = await searchesOf(8);
  const many = await searchesOf(32);
  t.true(few > 8 && many > 8, `${few} of few, ${many} of many`);
  t.true(many <= 1.5 * few, `${few} of few, ${many} of many`);
});

for (const what of ['answer', 'statement'] as const) {
  test(`a claim whose ${what} is lost is made again, and its shards are served`, async (t) => {
    const made = cluster();
    const b = await made.join('b');
    const c = await made.join('c');
    loseOnce(c, 'claim', what, () => b.statements.includes('release'));
    await made.clock.advance(leaseMs);
    t.true(isBalanced(made, ['b', 'c']));
    t.true(c.node.isReady);
    const id = made.idIn('ledger', made.held('c'));
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
    t.deepEqual(await whoAnswers(made, id), ['c']);
  });
}

test('two hosts never both answer, whatever happens to either', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const ids = Array.from({ length: 8 }, (_, index) => `actor-${index}`);
  for (const id of ids) await made.until(made.actors.get(ledger, id).ask.add(1));
  const watch = async (forMs: number) => {
    for (let passedMs = 0; passedMs < forMs; passedMs += 250) {
      await made.clock.advance(250);
      for (const id of ids) {
        const answered = await made.until(whoAnswers(made, id));
        t.true(answered.length <= 1, answered.join());
      }
    }
  };
  a.process.pause();
  await watch(1.5 * leaseMs);
  a.process.resume();
  await watch(leaseMs);
  b.transport.cut();
  await watch(leaseMs);
  b.transport.heal();
  a.schedule = async (method, apply) => {
    if (method === 'renew') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  await watch(1.5 * leaseMs);
  a.schedule = async (_method, apply) => apply();
  await watch(2 * leaseMs);
  t.true(isBalanced(made, ['a', 'b']));
});

test('free shards that the host they belong to does not take are served by another after a lease, and go home when the hosts change', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const own = made.held('a');
  a.schedule = async (method, apply) => {
    if (method === 'claim') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  const { incarnation } = made.database.nodes()[0] as { incarnation: string };
  made.database.release(
    incarnation,
    made.database.shards().filter(({ shard }) => own.includes(shard)),
  );
  await made.clock.advance(leaseMs / 2);
  t.is(b.node.shardCount, made.shardCount - own.length);
  await made.clock.advance(2 * leaseMs);
  t.is(b.node.shardCount, made.shardCount);
  a.schedule = async (_method, apply) => apply();
  await made.clock.advance(2 * leaseMs);
  t.is(b.node.shardCount, made.shardCount);
  await made.join('c');
  await made.clock.advance(2 * leaseMs);
  t.true(isBalanced(made, ['a', 'b', 'c']));
});

test('a shard that holds a newer format is given back, and served by a host that reads it', async (t) => {
  const made = cluster({ kinds: [newLedger] });
  const a = await made.join('a');
  await made.until(made.actors.get(newLedger, 'x').ask.label('of the new release'));
  await made.until(made.actors.get(newLedger, 'x').ask.add(1));
  const old = await made.join('b', { kinds: [oldLedger] });
  await made.drain(a);
  await made.clock.advance(100);
  t.is(old.node.shardCount, made.shardCount);
  const unread = made.actors.get(ledger, 'x').ask.get(null, { deadlineMs: 500 });
  await t.throwsAsync(made.until(unread));
  await made.join('c', { kinds: [newLedger], formats: '1,2' });
  const get = () => made.actors.get(ledger, 'x').ask.get(null);
  t.is(await made.until(get().catch(get)), 1);
});

test('a shard that nobody can read goes round a few times, and is then served as far as it can be read', async (t) => {
  const made = cluster({ kinds: [newLedger], shardCount: 2 });
  const a = await made.join('a');
  const id = 'x';
  const shard = shardOf({ kind: 'ledger', id }, 2);
  const neighbour = Array.from({ length: 9 }, (_, index) => `y${index}`).find(
    (each) => shardOf({ kind: 'ledger', id: each }, 2) === shard,
  ) as string;
  await made.until(made.actors.get(newLedger, id).ask.label('of the new release'));
  await made.until(made.actors.get(ledger, neighbour).ask.add(1));
  await made.drain(a);
  for (const name of ['b', 'c', 'd']) await made.join(name, { kinds: [oldLedger] });
  const hops: number[] = [];
  for (let lease = 0; lease < 12; lease += 1) {
    await made.until(
      made.actors
        .get(ledger, id)
        .ask.get(null, { deadlineMs: leaseMs })
        .catch(() => undefined),
    );
    await made.clock.advance(leaseMs);
    hops.push(made.database.shards().find((row) => row.shard === shard)?.epoch ?? 0);
  }
  t.is(new Set(hops.slice(-5)).size, 1, hops.join());
  t.is(await made.until(made.actors.get(ledger, neighbour).ask.add(1)), 2);
});

test('a rebalance moves every shard to its place at once', async (t) => {
  const made = cluster();
  await made.join('a');
  await made.join('b');
  await made.clock.advance(100);
  t.is(made.held('b').length, 0);
  made.network.join().hint({ hint: 'rebalance' });
  await made.clock.advance(200);
  t.true(isBalanced(made, ['a', 'b']));
});

test('the last host keeps its shards while it is to drain, and takes those of another that is to drain and dies', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  made.database.setDraining('a', true);
  made.database.setDraining('b', true);
  await made.clock.advance(leaseMs);
  t.is(a.node.shardCount + b.node.shardCount, made.shardCount);
  made.crash(b);
  await made.clock.advance(2 * leaseMs);
  t.is(a.node.shardCount, made.shardCount);
  const startedMs = made.clock.monotonicMs();
  await made.drain(a);
  t.true(made.clock.monotonicMs() - startedMs < 1_000);
});

test('a node that is a gateway only gets no shards', async (t) => {
  const made = cluster();
  made.database.register(
    { id: 'g', incarnation: 'g1', address: '', roles: 'gateway', version: '0', formats: '1' },
    made.database.nextStart(),
    1e9,
  );
  const a = await made.join('a');
  await made.clock.advance(2 * leaseMs);
  t.is(a.node.shardCount, made.shardCount);
  t.true(a.node.isReady);
});

test('hints that come in storms lead to few reconciliations, and those of a newer release to none', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const reconciliations = () => a.statements.filter((method) => method === 'shardsOf').length;
  const hint = (of: object) => a.transport.handler?.hinted(of as Hint);
  a.schedule = async (method, apply) => {
    if (method === 'shardsOf') await sleep(made.clock, 400);
    return apply();
  };
  const before = reconciliations();
  for (let at = 0; at < 1_000; at += 5) {
    hint({ hint: 'nodes' });
    await made.clock.advance(5);
  }
  await made.clock.advance(1_500);
  t.true(reconciliations() - before <= 5, String(reconciliations() - before));
  a.schedule = async (_method, apply) => apply();
  while (a.node.reconciliationAgeMs > 50) await made.clock.advance(10);
  const countAtRest = reconciliations();
  hint({ hint: 'of a newer release' });
  hint({ hint: 'claimed', shards: made.held('b'), host: 'x' });
  hint({ hint: 'freed', shards: made.held('b') });
  await made.clock.advance(100);
  t.is(reconciliations(), countAtRest);
  hint({ hint: 'freed', shards: made.held('a') });
  await made.clock.advance(100);
  t.is(reconciliations(), countAtRest + 1);
});

test('a host cut off from the others goes on looking after its shards', async (t) => {
  const made = cluster();
  const a = made.create('a');
  a.transport.cut();
  await a.node.start();
  t.is(a.node.shardCount, made.shardCount);
  await made.clock.advance(2 * leaseMs);
  t.true(a.node.reconciliationAgeMs < leaseMs);
  t.true(a.node.isReady);
});

test('a host whose first claim meets many others starts all the same, and has its shards soon', async (t) => {
  const made = cluster();
  const a = made.create('a');
  loseOnce(a, 'claim', 'answer');
  await a.node.start();
  t.false(a.node.isReady);
  await made.clock.advance(leaseMs / 2);
  t.true(a.node.isReady);
  t.is(a.node.shardCount, made.shardCount);
});

test('a host is not ready once it has not reconciled for a lease', async (t) => {
  const made = cluster();
  const a = await made.join('a');
  t.true(a.node.isReady);
  a.schedule = async (method, apply) => {
    if (method === 'nodes') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  await made.clock.advance(1.5 * leaseMs);
  t.true(a.node.hasLease);
  t.false(a.node.isReady);
});

test('a host stays ready while another hands over slowly what belongs to it now', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  a.schedule = async (method, apply) => {
    if (method === 'release') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  made.database.setDraining('a', true);
  await made.clock.advance(leaseMs);
  t.true(a.node.leavingShardCount > 0);
  t.true(b.node.isReady);
});

test('after an outage of the database for longer than a lease, the first host to return declares nobody dead', async (t) => {
  const made = cluster();
  const hosts = await made.joinAll(['a', 'b', 'c']);
  const incarnations = () => made.database.nodes().map(({ incarnation }) => incarnation);
  const before = incarnations();
  const away = async () => {
    throw new StoreError('unavailable', 'the database is away');
  };
  for (const host of hosts) host.schedule = away;
  await made.clock.advance(3 * leaseMs);
  for (const host of hosts) {
    host.schedule = async (_method, apply) => apply();
    // Several reconciliations of the hosts that are back already.
    await made.clock.advance(leaseMs / 2 - 1_000);
  }
  await made.clock.advance(3 * leaseMs);
  t.deepEqual(incarnations(), before);
  made.crash(hosts[0]);
  await made.clock.advance(2 * leaseMs);
  t.is(incarnations()[0], null);
});

const listeners = (made: TestCluster, shards: readonly number[]) =>
  new Set(
    shards.flatMap((shard) =>
      made.nodes.filter(({ transport }) => transport.isRouted(shard)).map(({ id }) => id),
    ),
  );

test('a host cut off from the database alone does not answer for its former users', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const former = made.held('a');
  const id = made.idIn('ledger', former);
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
  a.schedule = async () => {
    throw new StoreError('unavailable', 'lost by the test');
  };
  await made.clock.advance(2 * leaseMs);
  t.is(made.held('b').length, made.shardCount);
  t.deepEqual([...listeners(made, former)], ['b']);
  for (let sync = 0; sync < 20; sync += 1) {
    const askedMs = made.clock.monotonicMs();
    t.is(await made.until(made.actors.get(ledger, id).ask.get(null)), 1);
    t.true(made.clock.monotonicMs() - askedMs <= 20);
    await made.clock.advance(leaseMs / 5);
  }
});

test('a host serves again what nobody took while its lease had lapsed', async (t) => {
  const made = cluster();
  const a = await made.join('a');
  const id = made.idIn('ledger', made.held('a'));
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
  a.schedule = async () => {
    throw new StoreError('unavailable', 'lost by the test');
  };
  await made.clock.advance(leaseMs);
  t.deepEqual([...listeners(made, made.held('a'))], []);
  a.schedule = async (_method, apply) => apply();
  await made.clock.advance(leaseMs);
  t.is(a.transport.routed.size, made.shardCount);
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
});

test('a host that hears of another owner stops listening until the database has decided', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const shards = made.held('a');
  a.transport.handler?.hinted({ hint: 'claimed', shards, host: 'x' });
  t.deepEqual([...listeners(made, shards)], []);
  await made.clock.advance(100);
  t.deepEqual([...listeners(made, shards)], ['a']);
});

test('the answer of a claim is not taken by an incarnation that has ended meanwhile', async (t) => {
  const clock = new FakeClock();
  const random = new SeededRandom(1);
  const node = testNode(random);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  class SlowStore extends ModelStore {
    override async claim(...args: Parameters<ModelStore['claim']>): ReturnType<ModelStore['claim']> {
      const claimed = await super.claim(...args);
      await answered;
      return claimed;
    }
  }
  const store = new SlowStore(new ModelDatabase(clock));
  await store.register(node, leaseMs);
  const claimed: number[] = [];
  const ownership = new Ownership({
    store,
    clock,
    random,
    node,
    leaseMs,
    shardCount: 16,
    metrics: noMetrics,
    logger: silentLogger,
    transport: new InProcessTransport(),
    quiesce: async () => {},
    onClaimed: (shards) => claimed.push(...shards),
  });
  const started = ownership.start();
  await drainPromises();
  ownership.stop();
  answer();
  await started;
  t.deepEqual([ownership.shards, claimed], [[], []]);
});
