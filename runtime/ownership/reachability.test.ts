import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { TestCluster } from '../../test/kit/cluster.ts';
import { testNode } from '../../test/kit/host.ts';
import { ledger } from '../../test/kit/ledger.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { StoreError } from '../store/store.ts';
import { Reachability } from './reachability.ts';

const leaseMs = 10_000;

const three = async () => {
  const made = new TestCluster({ kinds: [ledger], leaseMs });
  const nodes = await made.joinAll(['a', 'b', 'c']);
  return { made, nodes };
};

test('a host that nobody can reach gives its shards to those who can be, within two leases, and gets them back', async (t) => {
  const { made, nodes } = await three();
  const [a, b, c] = nodes;
  const share = a.node.shardCount;
  t.true(share > 0);
  a.transport.cut();
  await made.clock.advance(2 * leaseMs);
  t.is(a.node.shardCount, 0);
  t.true(a.node.hasLease);
  t.is(b.node.shardCount + c.node.shardCount, made.shardCount);
  a.transport.heal();
  await made.clock.advance(1.5 * leaseMs);
  t.is(a.node.shardCount, share);
});

test('a host whose clock is wrong says that it is not connected, once that has lasted, and takes it back', async (t) => {
  const clock = new FakeClock();
  const said: boolean[] = [];
  let isClockRight = false;
  const reachability = new Reachability({
    clock,
    leaseMs,
    node: testNode(new SeededRandom(1)),
    transport: { isConnected: true, reachesOthers: true },
    store: { setConnected: async (_id, _incarnation, connected) => void said.push(connected) },
    isClockRight: () => isClockRight,
  });
  t.false(await reachability.correct(true));
  await clock.advance(leaseMs);
  t.true(await reachability.correct(true));
  isClockRight = true;
  t.true(await reachability.correct(false));
  t.deepEqual(said, [false, true]);
});

test('a short cut moves nothing', async (t) => {
  const { made, nodes } = await three();
  const before = made.database.shards();
  const [a] = nodes;
  a.transport.cut();
  await made.clock.advance(leaseMs / 4);
  a.transport.heal();
  await made.clock.advance(2 * leaseMs);
  t.deepEqual(made.database.shards(), before);
});

test('where nobody can reach anybody, all keep what they have', async (t) => {
  const { made, nodes } = await three();
  const before = made.database.shards();
  for (const { transport } of nodes) transport.cut();
  await made.clock.advance(5 * leaseMs);
  for (const { transport } of nodes) transport.heal();
  await made.clock.advance(2 * leaseMs);
  t.deepEqual(made.database.shards(), before);
});

test('a statement that nobody answered is taken back from the database', async (t) => {
  const clock = new FakeClock();
  const transport = { isConnected: false, reachesOthers: true };
  const changes: boolean[] = [];
  const store = {
    async setConnected(_id: string, _incarnation: string, connected: boolean) {
      changes.push(connected);
      if (!connected) throw new StoreError('unknown', 'lost by the test');
    },
  };
  const node = testNode(new SeededRandom(1));
  const reachability = new Reachability({ clock, store, node, leaseMs, transport });
  t.false(await reachability.correct(true));
  await clock.advance(leaseMs / 2);
  await t.throwsAsync(reachability.correct(true), { instanceOf: StoreError });
  transport.isConnected = true;
  t.true(await reachability.correct(false));
  t.false(await reachability.correct(true));
  t.deepEqual(changes, [false, true]);
});

test('a statement that comes late and says what is no longer so is put right', async (t) => {
  const { made, nodes } = await three();
  const [a] = nodes;
  const share = a.node.shardCount;
  const row = made.database.nodes().find(({ id }) => id === 'a');
  made.database.setConnected('a', row?.incarnation ?? '', false);
  await made.clock.advance(2 * leaseMs);
  t.true(made.database.nodes().every(({ connected }) => connected));
  t.is(a.node.shardCount, share);
});
