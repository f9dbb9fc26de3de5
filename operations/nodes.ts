/** Describes the nodes and shards of the cluster to operators, from what the database says of them. */
import {
  type ClusterListShardsRequest,
  type ClusterListShardsResponse,
  type Node,
  NodeState,
  type Shard,
} from '../proto/generated/scriptorium/v1/cluster.ts';
import type { NodeReport, ShardReport } from '../runtime/operations.ts';
import { notFound } from './errors.ts';
import { numberToken, pageOf } from './pages.ts';

/** The nodes, ordered by name. */
export function nodesOf(nodes: readonly NodeReport[], shards: readonly ShardReport[]): Node[] {
  const counts = countByIncarnation(shards);
  return nodes.toSorted(byId).map((node) => ({
    id: node.id,
    incarnation: node.incarnation ?? '',
    address: node.address,
    roles: node.roles,
    version: node.version,
    state: stateOf(node),
    leaseExpiresInMs: node.incarnation === null ? 0 : Math.max(0, Math.round(node.expiresInMs)),
    shards: counts.get(node.incarnation) ?? 0,
  }));
}

/** Whether another node could take over the shards of `node`. */
export function hasOtherHost(nodes: readonly NodeReport[], node: string): boolean {
  return nodes.some((other) => other.id !== node && stateOf(other) === NodeState.LIVE && other.runsActors);
}

export function listedShards(
  nodes: readonly NodeReport[],
  rows: readonly ShardReport[],
  shardCount: number,
  { node, list, pageSize, pageToken }: ClusterListShardsRequest,
): ClusterListShardsResponse {
  if (node !== '' && !nodes.some(({ id }) => id === node)) throw notFound('There is no node with that name.');
  const counts = countByIncarnation(rows);
  const owners = nodes
    .filter(({ incarnation }) => incarnation !== null && counts.has(incarnation))
    .toSorted(byId);
  const held = owners.reduce((sum, { incarnation }) => sum + (counts.get(incarnation) ?? 0), 0);
  const ofNode = ({ id }: { id: string }) => node === '' || id === node;
  const after = numberToken(pageToken);
  const shards = list ? everyShard(owners, rows, shardCount) : [];
  const page = pageOf(
    shards.filter((shard) => ofNode({ id: shard.node })),
    { pageSize, pageToken },
    ({ shard }) => shard > after,
    ({ shard }) => String(shard),
  );
  return {
    shardCount,
    freeShards: shardCount - held,
    nodes: owners.filter(ofNode).map(({ id, incarnation }) => ({
      node: id,
      incarnation: incarnation ?? '',
      shards: counts.get(incarnation) ?? 0,
    })),
    shards: page.rows,
    nextPageToken: page.nextPageToken,
  };
}

/** All shards, also those that no node has ever claimed. */
function everyShard(
  owners: readonly NodeReport[],
  rows: readonly ShardReport[],
  shardCount: number,
): Shard[] {
  const rowOf = new Map(rows.map((row) => [row.shard, row]));
  const living = new Set(owners.map(({ incarnation }) => incarnation));
  return Array.from({ length: shardCount }, (_, shard) => {
    const row = rowOf.get(shard);
    const epoch = row?.epoch ?? 0;
    if (row === undefined || !living.has(row.incarnation)) return { shard, node: '', incarnation: '', epoch };
    return { shard, node: row.node, incarnation: row.incarnation, epoch };
  });
}

function stateOf({ incarnation, draining, expiresInMs }: NodeReport): NodeState {
  if (incarnation === null) return NodeState.GONE;
  if (expiresInMs <= 0) return NodeState.EXPIRED;
  return draining ? NodeState.DRAINING : NodeState.LIVE;
}

function countByIncarnation(rows: readonly ShardReport[]): ReadonlyMap<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { incarnation } of rows) counts.set(incarnation, (counts.get(incarnation) ?? 0) + 1);
  return counts;
}

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
