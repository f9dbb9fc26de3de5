import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { testNode } from '../../test/kit/host.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import type { LiveNode } from '../store/store.ts';
import { ClusterMembership } from './membership.ts';

const leaseMs = 9_000;
const random = new SeededRandom(1);

function live(id: string): LiveNode {
  return { ...testNode(random, id), draining: false, connected: true, expiresInMs: leaseMs };
}

test('an adopted shard goes back to its host when that has started anew, however soon it did', async (t) => {
  const clock = new FakeClock();
  const [a, b] = [live('a'), live('b')];
  const membership = new ClusterMembership({
    clock,
    node: { ...testNode(random, 'a') },
    shardCount: 16,
    leaseMs,
  });
  membership.update([a, b]);
  const shards = Array.from({ length: 16 }, (_, shard) => shard).filter(
    (shard) => membership.hostOf(shard) === 'b',
  );
  t.true(shards.length > 0);
  membership.adopt(shards);
  await clock.advance(leaseMs);
  t.true(shards.every((shard) => !membership.shouldLeave(shard)));
  membership.update([a, live('b')]);
  await clock.advance(leaseMs);
  t.true(shards.every((shard) => membership.shouldLeave(shard)));
});
