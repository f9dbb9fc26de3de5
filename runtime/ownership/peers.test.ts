import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { TestCluster } from '../../test/kit/cluster.ts';
import { testNode } from '../../test/kit/host.ts';
import { ledger } from '../../test/kit/ledger.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import type { LiveNode } from '../store/store.ts';
import type { Hint } from '../transport/transport.ts';
import { Peers } from './peers.ts';

const leaseMs = 10_000;

test('hosts that hear each other count nobody as unreachable, however long nothing else happens', async (t) => {
  const made = new TestCluster({ kinds: [ledger], leaseMs });
  const [a, b] = await made.joinAll(['a', 'b']);
  await made.clock.advance(20 * leaseMs);
  t.is(a.node.unreachableHostCount, 0);
  t.is(b.node.unreachableHostCount, 0);
});

test('a host that is at the database and on another broker is noticed by both sides, and forgotten when it leaves', async (t) => {
  const made = new TestCluster({ kinds: [ledger], leaseMs });
  const [a] = await made.joinAll(['a']);
  const stray = made.create('stray');
  stray.transport.cut();
  await stray.node.start();
  await made.clock.advance(leaseMs);
  t.is(a.node.unreachableHostCount, 0);
  await made.clock.advance(2 * leaseMs);
  t.is(a.node.unreachableHostCount, 1);
  t.is(stray.node.unreachableHostCount, 1);
  stray.transport.heal();
  await made.clock.advance(leaseMs);
  t.is(a.node.unreachableHostCount, 0);
  stray.transport.cut();
  await made.clock.advance(3 * leaseMs);
  t.is(a.node.unreachableHostCount, 1);
  await made.until(stray.node.drain(1_000));
  await made.clock.advance(leaseMs);
  t.is(a.node.unreachableHostCount, 0);
});

/** One host among others that the database knows, by hand. */
function startPeers() {
  const clock = new FakeClock();
  const random = new SeededRandom(1);
  const said: Hint[] = [];
  const peers = new Peers({
    clock,
    leaseMs,
    node: testNode(random, 'own'),
    transport: { hint: (hint) => void said.push(hint) },
  });
  const all: readonly LiveNode[] = Array.from({ length: 1_000 }, (_, at) => ({
    ...testNode(random, `other-${at}`),
    draining: false,
    connected: true,
    expiresInMs: leaseMs,
  }));
  const others = (count: number) => all.slice(0, count);
  /** As hosts reconcile: four times a lease. */
  const pass = async (nodes: readonly LiveNode[], ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += leaseMs / 4) {
      await clock.advance(leaseMs / 4);
      peers.update(nodes);
    }
  };
  return { peers, said, others, pass };
}

test('a host says that it is there the less often the more hosts there are, so that each hears ten in a second', async (t) => {
  for (const [count, least, most] of [
    [2, 23, 25],
    [300, 3, 4],
    [1_000, 1, 2],
  ] as const) {
    const { said, others, pass } = startPeers();
    await pass(others(count), 120_000);
    t.true(said.length >= least && said.length <= most, `${count} others: ${said.length}`);
  }
});

test('among many hosts one that was not heard for four turns is unreachable, and where most leave none is for that', async (t) => {
  const { peers, others, pass } = startPeers();
  await pass(others(300), 110_000);
  t.is(peers.unreachableCount, 0);
  await pass(others(2), 2 * leaseMs);
  t.is(peers.unreachableCount, 0);
  await pass(others(2), leaseMs);
  t.is(peers.unreachableCount, 2);
  const many = startPeers();
  await many.pass(many.others(300), 130_000);
  t.is(many.peers.unreachableCount, 300);
});
