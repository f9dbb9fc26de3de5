import test from 'ava';
import { Registry } from 'prom-client';
import { z } from 'zod';
import {
  answering,
  becomes,
  isBalanced,
  loseOnce,
  TestCluster,
  type TestClusterOptions,
} from '../../test/kit/cluster.ts';
import { count, ledger, ledgerCommands } from '../../test/kit/ledger.ts';
import { sleep } from '../clock.ts';
import { command, job, keys, sharedRead, tell, timer, workflow } from '../command.ts';
import { contract } from '../contract.ts';
import { prometheusRuntimeMetrics } from '../host/metrics.ts';
import { kind } from '../kind.ts';
import { StoreError } from '../store/store.ts';
import { table } from '../table.ts';

const leaseMs = 10_000;

function cluster(options: Partial<TestClusterOptions> = {}): TestCluster {
  return new TestCluster({ kinds: [ledger], leaseMs, ...options });
}

const whoAnswers = (made: TestCluster, id: string) =>
  answering(made, { address: { kind: 'ledger', id }, command: 'peek', request: null, callId: 'peek' });

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

for (const method of ['setDraining', 'nodes', 'release'] as const) {
  test(`a drain goes on when its ${method} fails once`, async (t) => {
    const made = cluster();
    const [a, b] = await made.joinAll(['a', 'b']);
    loseOnce(a, method, 'statement');
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
  a.schedule = async (method, apply) => {
    if (method === 'release') steps.push('release');
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

test('a shard leaves when the turns and commits in flight at it have finished', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const id = made.idIn('ledger', made.held('a'));
  await made.until(made.actors.get(ledger, id).ask.add(1));
  const done: string[] = [];
  a.schedule = async (method, apply) => {
    if (method === 'commit') await sleep(made.clock, 200);
    if (method === 'commit' || method === 'release') done.push(method);
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

test('work that is not finished in time is dropped: the next owner settles whatever of it was on its way', async (t) => {
  const made = cluster();
  const [a] = await made.joinAll(['a', 'b']);
  const id = made.idIn('ledger', made.held('a'));
  await made.until(made.actors.get(ledger, id).ask.add(1));
  a.schedule = async (method, apply) => {
    if (method === 'commit') await sleep(made.clock, 60_000);
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
    const id = made.idIn('ledger', made.shardsOf(['a', 'b']).get('b') ?? []);
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
    await made.join('b');
    loseOnce(a, 'release', what);
    await made.until(becomes(made, () => a.node.leavingShardCount > 0));
    t.deepEqual(await whoAnswers(made, id), []);
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
    t.true(isBalanced(made, ['a', 'b']));
    t.deepEqual(await whoAnswers(made, id), ['b']);
  });
}

test('a hand-over that can never be released ends with the lease of its host', async (t) => {
  const made = cluster();
  const a = await made.join('a');
  const b = await made.join('b');
  a.schedule = async (method, apply) => {
    if (method === 'release') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  await made.clock.advance(leaseMs);
  t.true(a.node.leavingShardCount > 0);
  const registry = new Registry();
  prometheusRuntimeMetrics(registry, () => a.node);
  t.regex(
    await registry.metrics(),
    new RegExp(`^scriptorium_shards_leaving ${a.node.leavingShardCount}$`, 'm'),
  );
  t.regex(await registry.metrics(), /^scriptorium_ownership_reconciliation_age_seconds [0-3](\.\d+)?$/m);
  const before = a.statements.filter((method) => method === 'release').length;
  await made.clock.advance(leaseMs);
  const attempts = a.statements.filter((method) => method === 'release').length - before;
  t.true(attempts > 5 && attempts <= 20, String(attempts));
  t.true(a.node.isReady);
  t.false(b.node.isReady);
  made.crash(a);
  await made.clock.advance(2 * leaseMs);
  t.is(made.held('b').length, made.shardCount);
  t.true(b.node.isReady);
});

const mark = table({ name: 'mark', columns: { owner: 'text', name: 'text' }, key: ['owner', 'name'] });

const Clerk = contract({ name: 'clerk', timers: { due: z.null() }, tells: { note: z.null() } });

/** Whose work goes on beyond one turn. */
const clerk = kind({
  name: Clerk.name,
  slices: [count],
  tables: [mark],
  commands: {
    add: ledgerCommands.add,
    get: ledgerCommands.get,
    addTwice: workflow(
      { request: z.number(), reply: z.number() },
      {
        creates: true,
        run: async (workflow, by) => {
          for (let step = 0; step < 2; step += 1) {
            await workflow.turn({
              turn: (turn) => turn.set(count, turn.get(count) + (turn.get(count) < 2 * by ? by : 0)),
            });
          }
          return workflow.turn({ turn: (turn) => turn.get(count) });
        },
      },
    ),
    marks: sharedRead(
      { request: z.null(), reply: z.number() },
      {
        reads: (view) => ({ found: keys(mark, [{ owner: view.self.id, name: 'a' }]) }),
        answer: (view) => view.get(count),
      },
    ),
    remind: command(
      { request: z.number(), reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, inMs) => {
          turn.arm(Clerk.timers.due, turn.nowMs + inMs, null);
          return null;
        },
      },
    ),
    send: command(
      { request: z.string(), reply: z.null() },
      {
        creates: true,
        repeat: 'recorded',
        turn: (turn, to) => {
          turn.tell(Clerk, to).note();
          return null;
        },
      },
    ),
  },
  timers: {
    due: timer(Clerk.timers.due, (turn) => turn.set(count, turn.get(count) + 1)),
  },
  tells: {
    note: tell(Clerk.tells.note, { creates: true, turn: (turn) => turn.set(count, turn.get(count) + 1) }),
  },
});

test('a workflow whose actor leaves between two of its steps goes on at the next owner', async (t) => {
  const made = cluster({ kinds: [clerk] });
  const [a] = await made.joinAll(['a', 'b']);
  const id = made.idIn('clerk', made.held('a'));
  a.schedule = async (method, apply) => {
    if (method === 'commit') await sleep(made.clock, 100);
    return apply();
  };
  const added = made.actors.get(clerk, id).ask.addTwice(5);
  await made.clock.advance(50);
  await made.drain(a);
  t.is(await made.until(added), 10);
});

const Errands = contract({
  name: 'errands',
  commands: { start: { request: z.null(), reply: z.null() } },
  jobs: { run: z.null() },
});

/** Its runs never end. Each notes its host. */
const errandsOn = (host: string, begun: string[]) =>
  kind({
    name: Errands.name,
    slices: [],
    commands: {
      start: command(Errands.commands.start, {
        creates: true,
        turn: (turn) => {
          turn.start(Errands.jobs.run, null);
          return null;
        },
      }),
    },
    jobs: {
      run: job(Errands.jobs.run, {
        timeoutMs: 600_000,
        run: () => {
          begun.push(host);
          return new Promise(() => {});
        },
      }),
    },
  });

for (const when of ['runs', 'has been started, and is not durable yet,'] as const) {
  test(`a job that ${when} while its shard is handed over runs at the next owner, without the wait for its lease`, async (t) => {
    const begun: string[] = [];
    const made = cluster();
    const a = await made.join('a', { kinds: [errandsOn('a', begun)] });
    await made.clock.advance(leaseMs);
    const id = made.idIn('errands', made.shardsOf(['a', 'b']).get('b') ?? []);
    const isHeldUp = when !== 'runs';
    a.schedule = async (method, apply) => {
      if (method === 'commit' && isHeldUp && begun.length === 0)
        await becomes(made, () => a.node.leavingShardCount > 0);
      return apply();
    };
    const started = made.actors.get(Errands, id).ask.start(null);
    await made.clock.advance(10);
    t.is(begun.length, isHeldUp ? 0 : 1);
    await made.join('b', { kinds: [errandsOn('b', begun)] });
    await made.until(becomes(made, () => made.held('b').length > 0));
    await made.clock.advance(1_000);
    await started;
    t.true(isBalanced(made, ['a', 'b']));
    t.deepEqual(begun, isHeldUp ? ['b'] : ['a', 'b']);
  });
}

test('a shared read that waits for its rows while its actor leaves is answered', async (t) => {
  const made = cluster({ kinds: [clerk] });
  const [a] = await made.joinAll(['a', 'b']);
  const id = made.idIn('clerk', made.held('a'));
  await made.until(made.actors.get(clerk, id).ask.add(1));
  a.schedule = async (method, apply) => {
    if (method === 'read') await sleep(made.clock, 1_000);
    return apply();
  };
  const read = made.actors.get(clerk, id).ask.marks(null);
  await made.clock.advance(5);
  await made.drain(a);
  t.is(await made.until(read), 1);
});

test('calls to actors that wait to be activated when they leave are answered by the next owner', async (t) => {
  const made = cluster({ kinds: [clerk], limits: { activationsMax: 1 } });
  const [a] = await made.joinAll(['a', 'b']);
  const ids = made.held('a').map((shard) => made.idIn('clerk', [shard]));
  a.schedule = async (method, apply) => {
    if (method === 'activate') await sleep(made.clock, 4_000);
    return apply();
  };
  const pending = ids.map((id) => made.actors.get(clerk, id).ask.add(1));
  await made.clock.advance(5);
  await made.drain(a, 15_000);
  const replies = await made.until(Promise.all(pending));
  t.true(replies.every((reply) => reply === 1));
});

for (const end of ['drains', 'crashes'] as const) {
  test(`timers and tells of a host that ${end} take effect once each, elsewhere`, async (t) => {
    const made = cluster({ kinds: [clerk] });
    const [a] = await made.joinAll(['a', 'b']);
    const ids = made.held('a').map((shard) => made.idIn('clerk', [shard]));
    const [sender] = ids;
    if (sender === undefined) return t.fail();
    const of = (id: string) => made.actors.get(clerk, id).ask;
    for (const [at, id] of ids.entries()) await made.until(of(id).remind(500 + 20 * at));
    a.schedule = async (method, apply) => {
      if (method === 'pendingTells') throw new StoreError('unavailable', 'lost by the test');
      return apply();
    };
    for (const id of ids) await made.until(of(sender).send(id));
    await made.clock.advance(400);
    if (end === 'drains') await made.drain(a);
    else made.crash(a);
    await made.clock.advance(3 * leaseMs);
    for (const id of ids) t.is(await made.until(of(id).get(null)), 2, id);
    t.like(made.database.backlog(), { pendingTells: 0, pendingTimers: 0, deadTells: 0, deadTimers: 0 });
  });
}
