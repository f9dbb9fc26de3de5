import test from 'ava';
import { ActorRank } from '../proto/generated/scriptorium/v1/cluster.ts';
import type { NodeReport, ShardReport } from '../runtime/operations.ts';
import { clusterHandlers } from './cluster.ts';

type Options = Parameters<typeof clusterHandlers>[0];

const shardCount = 65_536;
const nodeCount = 300;

const nodes: readonly NodeReport[] = Array.from({ length: nodeCount }, (_, index) => ({
  id: `node-${index}`,
  incarnation: `run-${index}`,
  address: '',
  roles: 'host',
  runsActors: true,
  version: '',
  draining: false,
  expiresInMs: 10_000,
}));
const shards: readonly ShardReport[] = Array.from({ length: shardCount }, (_, shard) => ({
  shard,
  epoch: 1,
  node: `node-${shard % nodeCount}`,
  incarnation: `run-${shard % nodeCount}`,
}));

test('the actors of a large cluster are listed without a search for the address of a certain shard', async (t) => {
  const asked: string[] = [];
  const options = {
    shardCount,
    cluster: { nodes: async () => nodes, shards: async () => shards },
    actors: {
      get: (_kind: unknown, id: string) => ({
        ask: {
          $top: async () => {
            asked.push(id);
            return { node: `node-${asked.length - 1}`, actors: [] };
          },
        },
      }),
    },
  };
  const { listTopActors } = clusterHandlers(options as unknown as Options);
  const { silentNodes } = await listTopActors({ by: ActorRank.UNSPECIFIED, limit: 1 }, {});
  t.deepEqual(silentNodes, []);
  t.is(new Set(asked).size, nodeCount);
  // Each number is one hash. The first address of a certain shard takes 65,536 hashes on average, for each node.
  const hashes = asked.map((id) => Number(id.replace('any-', '')));
  t.true(Math.max(...hashes) < 10_000);
});
