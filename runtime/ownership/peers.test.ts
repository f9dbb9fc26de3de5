import test from 'ava';
import { TestCluster } from '../../test/kit/cluster.ts';
import { ledger } from '../../test/kit/ledger.ts';

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
