/** What clients notice while shards move: one of three nodes is drained as planned, or killed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '../../test/cluster/cluster.ts';
import type { ClusterNode } from '../../test/cluster/node.ts';
import { SteadyLoad, type Summary, summary } from '../support/steady-load.ts';
import { registerUsers, syncsOver } from './workers.ts';

const ratePerSecond = 200;
const beforeMs = 5_000;
const pollMs = 20;

/** Clients stay on two gateways while the third node hands its shards over and leaves. */
export async function plannedHandOver(cluster: Cluster): Promise<Record<string, number>> {
  return withLoad(cluster, async (leaving, load) => {
    const shards = (await leaving.metric('scriptorium_shards')) ?? 0;
    const beganMs = load.nowMs;
    const drained = leaving.drain();
    await untilMoved(cluster, leaving);
    const movedMs = load.nowMs - beganMs;
    await drained;
    const during = { fromMs: beganMs - 500, toMs: beganMs + movedMs + 1_000 };
    return { figures: { 'shards that moved': shards, 'ms until all are with others': movedMs }, ...during };
  });
}

/** Clients stay on two gateways while the third node is killed. */
export async function crashTakeOver(cluster: Cluster): Promise<Record<string, number>> {
  return withLoad(cluster, async (leaving, load) => {
    const beganMs = load.nowMs;
    await leaving.kill();
    await untilMoved(cluster, leaving);
    const movedMs = load.nowMs - beganMs;
    const during = { fromMs: beganMs - 500, toMs: beganMs + movedMs + 1_000 };
    const figures = {
      'ms until all shards are with others': movedMs,
      'in lease times': movedMs / cluster.leaseMs,
    };
    return { figures, ...during };
  });
}

type Leave = (
  leaving: ClusterNode,
  load: SteadyLoad,
) => Promise<{ figures: Record<string, number>; fromMs: number; toMs: number }>;

async function withLoad(cluster: Cluster, leave: Leave): Promise<Record<string, number>> {
  const [leaving, ...staying] = cluster.nodes;
  if (leaving === undefined) throw new Error('a cluster without nodes');
  const gateways = staying.map(({ url }) => url);
  const accounts = await registerUsers(gateways[0] ?? '');
  await balanced(cluster);
  const load = new SteadyLoad({ ratePerSecond, request: syncsOver(gateways, accounts) });
  await pause(beforeMs);
  const { figures, fromMs, toMs } = await leave(leaving, load);
  await pause(Math.max(0, toMs - load.nowMs));
  await load.stop();
  return {
    ...figures,
    ...named('before', summary(load.samples, 1_000, fromMs)),
    ...named('during', summary(load.samples, fromMs, toMs)),
  };
}

function named(when: string, { requests, failed, p50Ms, p99Ms, maxMs }: Summary): Record<string, number> {
  return {
    [`requests ${when}`]: requests,
    [`failed ${when}`]: failed,
    [`p50 ms ${when}`]: p50Ms,
    [`p99 ms ${when}`]: p99Ms,
    [`max ms ${when}`]: maxMs,
  };
}

/** Resolves once every node has a share of the shards. */
export async function balanced(cluster: Cluster): Promise<void> {
  const share = async (node: ClusterNode) => (await node.metric('scriptorium_shards')) ?? 0;
  for (;;) {
    const shares = await Promise.all(cluster.nodes.map(share));
    if (shares.every((shards) => shards > 0) && sum(shares) === 1_024) return;
    await pause(pollMs);
  }
}

async function untilMoved(cluster: Cluster, leaving: ClusterNode): Promise<void> {
  const staying = cluster.nodes.filter((node) => node !== leaving);
  for (;;) {
    const shares = await Promise.all(
      staying.map(async (node) => (await node.metric('scriptorium_shards')) ?? 0),
    );
    if (sum(shares) === 1_024) return;
    await pause(pollMs);
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
