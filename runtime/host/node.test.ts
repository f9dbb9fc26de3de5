import test from 'ava';
import { z } from 'zod';
import { type ClusterNode, TestCluster } from '../../test/kit/cluster.ts';
import { count, ledgerCommands } from '../../test/kit/ledger.ts';
import { sleep } from '../clock.ts';
import { workflow } from '../command.ts';
import { RetryableError } from '../errors.ts';
import { kind } from '../kind.ts';
import { NodeIdInUseError } from '../ownership/lease.ts';
import { StoreError } from '../store/store.ts';

const { add } = ledgerCommands;

const ledger = kind({
  name: 'ledger',
  slices: [count],
  commands: {
    add,
    /** Has another actor take part before its own step. */
    relay: workflow(
      { request: z.object({ to: z.string(), by: z.number() }), reply: z.number() },
      {
        creates: true,
        run: async (workflow, { to, by }) => {
          const reply = await workflow.actors.get({ name: 'ledger', commands: { add } }, to).ask.add(by);
          await workflow.turn({ turn: (turn) => turn.set(count, reply), recorded: true });
          return reply;
        },
      },
    ),
  },
});

const leaseMs = 10_000;
const cluster = () => new TestCluster({ kinds: [ledger], leaseMs });

/** Asks a host past all routing. */
function askDirectly(made: TestCluster, node: ClusterNode, id: string, request: object): Promise<unknown> {
  const deadlineMs = made.clock.monotonicMs() + 1_000;
  const call = { address: { kind: 'ledger', id }, command: 'add', request: 1, callId: 'direct', deadlineMs };
  const { handler } = node.transport;
  return handler === undefined
    ? Promise.reject(new Error('serves nothing'))
    : handler.ask({ ...call, ...request });
}

test('a host that was paused for longer than its lease answers nothing on waking, and joins again as another incarnation', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const id = made.idIn('ledger', made.held('a'));
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
  const before = made.database.nodes().find((node) => node.id === 'a')?.incarnation;
  a.process.pause();
  await made.clock.advance(2 * leaseMs);
  t.is(b.node.shardCount, made.shardCount);
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
  a.process.resume();
  const pending = [{}, { command: '$inspect', request: null }].map((what) => askDirectly(made, a, id, what));
  for (const answer of pending) await t.throwsAsync(made.until(answer));
  await made.clock.advance(2 * leaseMs);
  const after = made.database.nodes().find((node) => node.id === 'a')?.incarnation;
  t.not(after, before);
  t.true(a.node.isReady);
  t.deepEqual(made.held('a'), made.shardsOf(['a', 'b']).get('a') ?? []);
  t.deepEqual(
    [...a.transport.routed].sort((x, y) => x - y),
    made.held('a'),
  );
  t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 3);
  t.deepEqual(a.rejections, []);
});

for (const jumpMs of [3_600_000, -3_600_000]) {
  test(`a node whose clock jumps by ${jumpMs} ms answers nothing it may not, and serves on as the incarnation it is`, async (t) => {
    const made = cluster();
    const [a] = await made.joinAll(['a', 'b']);
    const id = made.idIn('ledger', made.held('a'));
    const before = made.database.nodes()[0]?.incarnation;
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 1);
    a.process.jump(jumpMs);
    t.is(a.node.hasLease, jumpMs < 0);
    t.is(await made.until(made.actors.get(ledger, id).ask.add(1)), 2);
    t.is(made.database.nodes()[0]?.incarnation, before);
    t.true(a.node.isReady);
  });
}

test('callers in a process that lost its lease are answered by the next owner', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const id = made.idIn('ledger', made.held('a'));
  t.is(await made.until(a.actors.get(ledger, id).ask.add(1)), 1);
  let isAway = true;
  a.schedule = async (method, apply) => {
    if (method === 'commit') return new Promise(() => undefined);
    if (method === 'renew' && isAway) throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  const atTheCommit = a.actors.get(ledger, id).ask.add(1);
  await made.clock.advance(1);
  const behindIt = a.actors.get(ledger, id).ask.add(1);
  while (made.held('b').length < made.shardCount) await made.clock.advance(500);
  t.true(b.node.isReady);
  isAway = false;
  const replies = await made.until(Promise.all([atTheCommit, behindIt]));
  t.deepEqual(replies.sort(), [2, 3]);
});

test('a second process under the same node id is rejected, and the first one goes on', async (t) => {
  const made = cluster();
  const first = await made.join('a');
  const second = made.create('a');
  const started = t.throwsAsync(second.node.start(), { instanceOf: NodeIdInUseError });
  await made.until(started);
  t.true(first.node.isReady);
  t.is(await made.until(made.actors.get(ledger, 'x').ask.add(1)), 1);
  t.deepEqual(first.rejections, []);
});

test('a node that wakes to find another process in its place ends, and leaves that one in peace', async (t) => {
  const made = cluster();
  const first = await made.join('a');
  t.is(await made.until(made.actors.get(ledger, 'x').ask.add(1)), 1);
  first.process.pause();
  first.transport.cut();
  await made.clock.advance(leaseMs + 1_000);
  const second = await made.join('a');
  first.process.resume();
  const drained = first.node.drain(5_000);
  await made.clock.advance(5_000);
  await drained;
  first.transport.heal();
  await made.clock.advance(leaseMs);
  t.false(made.database.nodes()[0]?.draining);
  t.true(second.node.isReady);
  t.is(await made.until(made.actors.get(ledger, 'x').ask.add(1)), 2);
});

test('a node that wakes beside its replacement and tries to join again is told that it was replaced', async (t) => {
  const made = cluster();
  const first = await made.join('a');
  first.process.pause();
  await made.clock.advance(leaseMs + 1_000);
  const second = await made.join('a');
  first.process.resume();
  await made.clock.advance(4 * leaseMs);
  t.true(first.rejections[0] instanceof NodeIdInUseError);
  t.is(first.rejections.length, 1);
  t.true(second.node.isReady);
});

test('a node joins again when the database is back, however long it was away', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const away: ClusterNode['schedule'] = async () => {
    throw new StoreError('unavailable', 'lost by the test');
  };
  a.schedule = away;
  b.schedule = away;
  await made.clock.advance(6 * leaseMs);
  a.schedule = async (_method, apply) => apply();
  b.schedule = a.schedule;
  await made.clock.advance(3 * leaseMs);
  t.true(a.node.isReady && b.node.isReady);
  t.is(await made.until(made.actors.get(ledger, 'x').ask.add(1)), 1);
});

test('a node that is to end while it registers leaves no lease behind', async (t) => {
  const made = cluster();
  const first = made.create('a');
  first.schedule = async (method, apply) => {
    if (method === 'register') await sleep(made.clock, 500);
    return apply();
  };
  const started = t.throwsAsync(first.node.start());
  await made.clock.advance(100);
  await made.until(first.node.drain(1_000));
  await made.clock.advance(2_000);
  await started;
  const second = made.create('a');
  await made.until(second.node.start());
  t.true(second.node.isReady);
  t.true(made.clock.monotonicMs() < leaseMs / 2);
});

test('a node that is to end while it registers has given its lease back when its drain is over', async (t) => {
  const made = cluster();
  const node = made.create('a');
  node.schedule = async (method, apply) => {
    if (method === 'register') await sleep(made.clock, 500);
    return apply();
  };
  const started = t.throwsAsync(node.node.start());
  await made.clock.advance(100);
  await made.until(node.node.drain(1_000));
  // The process ends with its drain, and sends nothing after it.
  t.is(made.database.nodes()[0]?.incarnation, null);
  await made.until(started);
});

test('a node that is to end while a silent database does not answer its registration waits for a third of its lease', async (t) => {
  const made = cluster();
  const node = made.create('a');
  node.schedule = async () => {
    await sleep(made.clock, 2 * leaseMs);
    throw new StoreError('unknown', 'no answer came');
  };
  const started = t.throwsAsync(node.node.start());
  await made.clock.advance(100);
  await made.until(node.node.drain(1_000));
  t.true(made.clock.monotonicMs() <= leaseMs / 3 + 200);
  t.deepEqual(node.statements, ['register']);
  await made.until(started);
});

test('a node that is to end while it waits for its predecessor never registers', async (t) => {
  const made = cluster();
  const first = await made.join('a');
  const second = made.create('a');
  const started = t.throwsAsync(second.node.start());
  await made.clock.advance(100);
  await made.until(second.node.drain(1_000));
  made.crash(first);
  await made.clock.advance(3 * leaseMs);
  await started;
  t.is(second.statements.filter((method) => method === 'register').length, 2);
});

test('an ask by a step of a workflow keeps its effect when the workflow fails', async (t) => {
  const made = cluster();
  const [a, b] = await made.joinAll(['a', 'b']);
  const from = made.idIn('ledger', made.held('a'));
  const to = made.idIn('ledger', made.held('b'));
  a.schedule = async (method, apply) => {
    if (method === 'activate') throw new StoreError('unavailable', 'lost by the test');
    return apply();
  };
  const relayed = made.until(made.actors.get(ledger, from).ask.relay({ to, by: 5 }, { deadlineMs: 3_000 }));
  const error = await t.throwsAsync(relayed, { instanceOf: RetryableError });
  t.is((error as RetryableError).outcome, 'unknown');
  t.is(await made.until(b.actors.get(ledger, to).ask.add(0)), 5);
});
