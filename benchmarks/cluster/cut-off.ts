/**
 * What the former users of a node notice once other nodes have taken over, while that node cannot reach the database.
 * It still reaches NATS. The users sync through the other nodes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Bystanders } from '../../test/cluster/bystanders.ts';
import { syncsOfOthers } from '../../test/cluster/checker/bystanders.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { History } from '../../test/cluster/history.ts';
import { percentile } from '../../test/cluster/tally.ts';
import { balanced } from './moves.ts';

const usersCount = 36;
const cutLeases = 6;

export async function syncsDuringCut(cluster: Cluster): Promise<Record<string, number>> {
  const [cut] = cluster.nodes;
  if (cut === undefined) throw new Error('a cluster without nodes');
  const bystanders = await Bystanders.open(cluster.gateways, usersCount);
  await balanced(cluster);
  const history = new History();
  cut.links.database.cut();
  const healed = pause(cutLeases * cluster.leaseMs).then(() => cut.links.database.heal());
  await bystanders.watch(cluster, cut, history, healed);
  const first = history.entries.find((entry) => entry.event === 'cut-off');
  const atOthers = new Set(first?.others);
  const syncs = [...syncsOfOthers(history.entries)].filter(({ user }) => !atOthers.has(user));
  const waits = syncs.map(({ tookMs }) => tookMs);
  return {
    'former users': new Set(syncs.map(({ user }) => user)).size,
    'their syncs after the take-over': syncs.length,
    'ms p50': percentile(waits, 0.5),
    '… p99': percentile(waits, 0.99),
    '… longest': Math.max(...waits),
    failed: syncs.filter(({ status }) => status !== 200).length,
  };
}
