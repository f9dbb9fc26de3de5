import test from 'ava';
import { z } from 'zod';
import { type ClusterNode, TestCluster, type TestClusterOptions } from '../../test/support/cluster.ts';
import { shardOf } from '../address.ts';
import { sleep } from '../clock.ts';
import { command, sharedRead } from '../command.ts';
import { kind } from '../kind.ts';
import { slice } from '../slice.ts';
import { type Store, StoreError } from '../store/store.ts';
import type { Hint } from '../transport/transport.ts';

const count = slice({ name: 'count', format: 1, schema: z.number(), initial: 0 });
const newer = slice({ name: 'newer', format: 2, schema: z.string(), initial: '' });

const commands = {
  add: command({
    request: z.number(),
    reply: z.number(),
    creates: true,
    repeat: 'recorded',
    turn: (turn, by) => {
      turn.set(count, turn.get(count) + by);
      return turn.get(count);
    },
  }),
  get: command({ request: z.null(), reply: z.number(), turn: (turn) => turn.get(count) }),
  peek: sharedRead({ request: z.null(), reply: z.number(), answer: (view) => view.get(count) }),
};
const ledger = kind({ name: 'ledger', slices: [count], commands });
const newLedger = kind({
  name: 'ledger',
  slices: [count, newer],
  commands: {
    ...commands,
    label: command({
      request: z.string(),
      reply: z.null(),
      creates: true,
      turn: (turn, text) => {
        turn.set(newer, text);
        return null;
      },
    }),
  },
});
/** Of the former release, which finds a format it does not know. */
const oldLedger = kind({
  name: 'ledger',
  slices: [count, slice({ name: 'newer', format: 1, schema: z.string(), initial: '' })],
  commands,
});

const leaseMs = 10_000;

function cluster(options: Partial<TestClusterOptions> = {}): TestCluster {
  return new TestCluster({ kinds: [ledger], leaseMs, ...options });
}

/** Every shard is served by exactly the nodes named, each with its place. */
function isSettled(made: TestCluster, ids: readonly string[]): boolean {
  const places = made.placesOf(ids);
  return made.nodes.every(({ id, node }) => {
    const place = places.get(id) ?? [];
    return made.held(id).join() === place.join() && node.shardCount === place.length;
  });
}

/** How many nodes answer a question about the actor when they are asked past all routing. */
async function answering(made: TestCluster, id: string): Promise<string[]> {
  const call = { address: { kind: 'ledger', id }, command: 'peek', request: null, callId: 'peek' };
  const answered: string[] = [];
  await Promise.all(
    made.nodes.map(async (node) => {
      const deadlineMs = made.clock.monotonicMs() + 1_000;
      await node.transport.handler?.ask({ ...call, deadlineMs }).then(
        () => answered.push(node.id),
        () => undefined,
      );
    }),
  );
  return answered;
}

/** Asks one actor after another, one call at a time each, until told to stop. */
function callers(made: TestCluster, actors: readonly string[]) {
  const counts = new Map(actors.map((id) => [id, 0]));
  const failures: unknown[] = [];
  let isOver = false;
  let slowestMs = 0;
  const run = async (id: string) => {
    while (!isOver) {
      const askedMs = made.clock.monotonicMs();
      try {
        const reply = await made.actors.get(ledger, id).ask.add(1);
        counts.set(id, (counts.get(id) ?? 0) + 1);
        if (reply !== counts.get(id)) failures.push(`${id}: ${reply} after ${counts.get(id)} calls`);
      } catch (error) {
        failures.push(error);
        return;
      }
      slowestMs = Math.max(slowestMs, made.clock.monotonicMs() - askedMs);
    }
  };
  const running = Promise.all(actors.map(run));
  return {
    failures,
    get slowestMs() {
      return slowestMs;
    },
    async end() {
      isOver = true;
      await made.clock.advance(1_000);
      await running;
      return [...counts.values()];
    },
  };
}

/** Resolves once it is so; what lets time pass is `TestCluster.until`. */
async function until({ clock }: TestCluster, isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(clock, 10);
}

/** Loses the answer of the next statement of this kind, or the statement itself. */
function lose(node: ClusterNode, lost: keyof Store, what: 'answer' | 'statement', from = () => true): void {
  let isLost = false;
  node.schedule = async (operation, apply) => {
    if (operation !== lost || isLost || !from()) return apply();
    isLost = true;
    if (what === 'answer') apply();
    throw new StoreError(what === 'answer' ? 'unknown' : 'unavailable', 'lost by the test');
  };
}

test('a host that joins gets its share when the hosts have stayed the same for half a lease, and not before', async (t) => {
  const made = cluster();
  await made.join('a');
  t.is(made.held('a').length, made.shardCount);
  const b = await made.join('b');
  await made.clock.advance(leaseMs / 2 - 500);
  t.is(made.held('b').length, 0);
  t.false(b.node.isReady);
  await made.clock.advance(leaseMs / 2 + 500);
  t.true(isSettled(made, ['a', 'b']));
  t.true(b.node.isReady);
});

test('the shards of a host that crashed are served by the others within two leases', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b', 'c']);
  t.true(isSettled(made, ['a', 'b', 'c']));
  const id = made.idIn('ledger', made.held('a'));
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
  made.crash(a);
  const crashedMs = made.clock.monotonicMs();
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
  t.true(made.clock.monotonicMs() - crashedMs < 2 * leaseMs);
  await made.clock.advance(leaseMs);
  t.is(made.held('b').length + made.held('c').length, made.shardCount);
});

test('a planned drain moves everything; no call fails, and each takes effect once', async (t) => {
  const made = cluster({ shardCount: 256 });
  const [a] = await made.joinAll(['a', 'b', 'c']);
  const work = callers(
    made,
    Array.from({ length: 24 }, (_, index) => `actor-${index}`),
  );
  await made.clock.advance(200);
  await made.drain(a);
  await made.clock.advance(200);
  const counts = await work.end();
  t.deepEqual(work.failures, []);
  t.true(
    counts.every((calls) => calls > 10),
    counts.join(),
  );
  t.true(work.slowestMs < 1_000, String(work.slowestMs));
  t.is(made.held('a').length, 0);
  t.is(made.held('b').length + made.held('c').length, made.shardCount);
});

for (const operation of ['setDraining', 'nodes', 'release'] as const) {
  test(`a drain goes on when its ${operation} fails once`, async (t) => {
    const made = cluster();
    const [a, b] = await made.joinAll(['a', 'b']);
    lose(a, operation, 'statement');
    a.statements.length = 0;
    await made.drain(a);
    t.is(a.node.leavingShardCount, 0);
    t.deepEqual(a.statements.filter((each) => each === 'release' || each === 'leave').slice(-2), [
      'release',
      'leave',
    ]);
    await made.clock.advance(100);
    t.is(b.node.shardCount, made.shardCount);
  });
}

test('a drain ends in time when the database is away', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  a.schedule = async () => {
    throw new StoreError('unavailable', 'lost by the test');
  };
  const startedMs = made.clock.monotonicMs();
  await made.drain(a, 5_000);
  t.true(made.clock.monotonicMs() - startedMs <= 5_100);
});

test('what one drain asks of all hosts is bounded, however many batches it has', async (t) => {
  const made = cluster({ shardCount: 1_024 });
  const ids = ['a', 'b', 'c', 'd'] as const;
  const [a, ...others] = await made.joinAll(ids);
  const looks = () =>
    others.map(({ statements }) => statements.filter((operation) => operation === 'buryExpired').length);
  const before = looks();
  const startedMs = made.clock.monotonicMs();
  await made.drain(a);
  await made.clock.advance(200);
  const tookMs = made.clock.monotonicMs() - startedMs;
  const perHost = looks().map((count, at) => count - (before[at] ?? 0));
  t.true(
    perHost.every((count) => count <= 4 + tookMs / 20),
    `${perHost} in ${tookMs} ms`,
  );
  t.is(
    others.reduce((sum, { node }) => sum + node.shardCount, 0),
    made.shardCount,
  );
});

test('shards leave in batches, each out of service before it is released and claimed before the next one follows', async (t) => {
  const made = cluster({ shardCount: 256 });
  const [a, b] = await made.joinAll(['a', 'b']);
  const share = made.held('a').length;
  const steps: string[] = [];
  const sizes: number[] = [];
  const unroute = a.transport.unroute.bind(a.transport);
  a.transport.unroute = (shards) => {
    steps.push('out of service');
    sizes.push(shards.length);
    unroute(shards);
  };
  a.schedule = async (operation, apply) => {
    if (operation === 'release') steps.push('release');
    return apply();
  };
  await made.drain(a);
  t.deepEqual(
    steps,
    sizes.flatMap(() => ['out of service', 'release']),
  );
  t.is(
    sizes.reduce((sum, size) => sum + size, 0),
    share,
  );
  t.deepEqual([sizes.length, Math.max(...sizes)], [Math.ceil(share / 64), 64]);
  await made.clock.advance(100);
  t.is(b.node.shardCount, made.shardCount);
});

test('a shard leaves when the turns and commits under way at it have finished', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const id = made.idIn('ledger', made.held('a'));
  await made.until(made.actors.get(ledger, id).ask.add(1));
  const done: string[] = [];
  a.schedule = async (operation, apply) => {
    if (operation === 'commit') await sleep(made.clock, 200);
    if (operation === 'commit' || operation === 'release') done.push(operation);
    return apply();
  };
  const added = a.actors.get(ledger, id).ask.add(1);
  await made.clock.advance(1);
  const drained = made.drain(a);
  t.is(await made.until(added), 2);
  await drained;
  t.is(done[0], 'commit');
  t.is(await made.until(made.actors.get(ledger, id).ask.get(null)), 2);
});

test('what is not finished in time is dropped: whatever of it was on its way is settled by the next owner', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const id = made.idIn('ledger', made.held('a'));
  await made.until(made.actors.get(ledger, id).ask.add(1));
  a.schedule = async (operation, apply) => {
    if (operation === 'commit') await sleep(made.clock, 60_000);
    return apply();
  };
  const added = a.actors.get(ledger, id).ask.add(1);
  await made.clock.advance(1);
  await made.drain(a);
  t.is(await made.until(added), 2);
  await made.clock.advance(60_000);
  t.is(await made.until(made.actors.get(ledger, id).ask.get(null)), 2);
});

for (const what of ['answer', 'statement'] as const) {
  test(`a release whose ${what} is lost is made again soon; meanwhile nobody serves the shard, then its next owner`, async (t) => {
    const made = cluster();
    const a = await made.join('a');
    await made.clock.advance(leaseMs);
    const id = made.idIn('ledger', made.placesOf(['a', 'b']).get('b') ?? []);
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
    await made.join('b');
    lose(a, 'release', what);
    await made.until(until(made, () => a.node.leavingShardCount > 0));
    t.deepEqual(await answering(made, id), []);
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
    t.true(isSettled(made, ['a', 'b']));
    t.deepEqual(await answering(made, id), ['b']);
  });

  test(`a claim whose ${what} is lost is made again, and its shards are served`, async (t) => {
    const made = cluster();
    const b = await made.join('b');
    const c = await made.join('c');
    lose(c, 'claim', what, () => b.statements.includes('release'));
    await made.clock.advance(leaseMs);
    t.true(isSettled(made, ['b', 'c']));
    t.true(c.node.isReady);
    const id = made.idIn('ledger', made.held('c'));
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
    t.deepEqual(await answering(made, id), ['c']);
  });
}

test('a hand-over that can never be released ends with the lease of its host', async (t) => {
  const made = cluster();
  const a = await made.join('a');
  const b = await made.join('b');
  a.schedule = async (operation, apply) => {
    if (operation === 'release') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  await made.clock.advance(leaseMs);
  const stuck = a.node.leavingShardCount;
  t.true(stuck > 0);
  const before = a.statements.filter((operation) => operation === 'release').length;
  await made.clock.advance(leaseMs);
  const attempts = a.statements.filter((operation) => operation === 'release').length - before;
  t.true(attempts > 5 && attempts <= 20, String(attempts));
  t.true(a.node.isReady);
  t.false(b.node.isReady);
  made.crash(a);
  await made.clock.advance(2 * leaseMs);
  t.is(made.held('b').length, made.shardCount);
  t.true(b.node.isReady);
});

test('of two hosts never both answer, whatever happens to either', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const ids = Array.from({ length: 8 }, (_, index) => `actor-${index}`);
  for (const id of ids) await made.until(made.actors.get(ledger, id).ask.add(1));
  const watch = async (forMs: number) => {
    for (let passedMs = 0; passedMs < forMs; passedMs += 250) {
      await made.clock.advance(250);
      for (const id of ids) {
        const answered = await made.until(answering(made, id));
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
  a.schedule = async (operation, apply) => {
    if (operation === 'renew') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  await watch(1.5 * leaseMs);
  a.schedule = async (_operation, apply) => apply();
  await watch(2 * leaseMs);
  t.true(isSettled(made, ['a', 'b']));
});

test('free shards that the host they belong to does not take are served by another after a lease, and go home when the hosts change', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const place = made.held('a');
  a.schedule = async (operation, apply) => {
    if (operation === 'claim') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  const { incarnation } = made.database.nodes()[0] as { incarnation: string };
  made.database.release(
    incarnation,
    made.database.shards().filter(({ shard }) => place.includes(shard)),
  );
  await made.clock.advance(leaseMs / 2);
  t.is(b.node.shardCount, made.shardCount - place.length);
  await made.clock.advance(2 * leaseMs);
  t.is(b.node.shardCount, made.shardCount);
  a.schedule = async (_operation, apply) => apply();
  await made.clock.advance(2 * leaseMs);
  t.is(b.node.shardCount, made.shardCount);
  await made.join('c');
  await made.clock.advance(2 * leaseMs);
  t.true(isSettled(made, ['a', 'b', 'c']));
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
  t.true(isSettled(made, ['a', 'b']));
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

test('hints that come in storms lead to few looks, and those of a newer release to none', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const looks = () => a.statements.filter((operation) => operation === 'buryExpired').length;
  const hint = (of: object) => a.transport.handler?.hinted(of as Hint);
  a.schedule = async (operation, apply) => {
    if (operation === 'buryExpired') await sleep(made.clock, 400);
    return apply();
  };
  const before = looks();
  for (let at = 0; at < 1_000; at += 5) {
    hint({ hint: 'nodes' });
    await made.clock.advance(5);
  }
  await made.clock.advance(1_500);
  t.true(looks() - before <= 5, String(looks() - before));
  a.schedule = async (_operation, apply) => apply();
  while (a.node.lookAgeMs > 50) await made.clock.advance(10);
  const settledLooks = looks();
  hint({ hint: 'of a newer release' });
  hint({ hint: 'claimed', shards: [0], host: 'x' });
  hint({ hint: 'freed', shards: made.held('b') });
  await made.clock.advance(100);
  t.is(looks(), settledLooks);
  hint({ hint: 'freed', shards: made.held('a') });
  await made.clock.advance(100);
  t.is(looks(), settledLooks + 1);
});

test('a host cut off from the others goes on looking after its shards', async (t) => {
  const made = cluster();
  const a = made.create('a');
  a.transport.cut();
  await a.node.start();
  t.is(a.node.shardCount, made.shardCount);
  await made.clock.advance(2 * leaseMs);
  t.true(a.node.lookAgeMs < leaseMs);
  t.true(a.node.isReady);
});

test('a host is not ready once it has not looked for a lease', async (t) => {
  const made = cluster();
  const a = await made.join('a');
  t.true(a.node.isReady);
  a.schedule = async (operation, apply) => {
    if (operation === 'nodes') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  await made.clock.advance(1.5 * leaseMs);
  t.true(a.node.hasLease);
  t.false(a.node.isReady);
});

test('a host stays ready while another hands over slowly what belongs to it now', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  a.schedule = async (operation, apply) => {
    if (operation === 'release') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  made.database.setDraining('a', true);
  await made.clock.advance(leaseMs);
  t.true(a.node.leavingShardCount > 0);
  t.true(b.node.isReady);
});
