/** `scriptorium.v1.Cluster`: calls of operators about nodes, shards, single actors and the backlog. */
import {
  ActorPhase,
  ActorRank,
  ActorWaitsFor,
  type ClusterService,
} from '../proto/generated/scriptorium/v1/cluster.ts';
import { type Address, shardOf } from '../runtime/address.ts';
import {
  type ActorReport,
  actorOperations,
  type DeadTimer,
  type NodeReport,
  type ActorRank as RuntimeRank,
  type ShardReport,
} from '../runtime/operations.ts';
import type { Handlers } from './calls.ts';
import { failedPrecondition, notFound } from './errors.ts';
import { addressField, limitField, textField, uuidField } from './fields.ts';
import type { InternalApiOptions } from './internal-api-options.ts';
import { hasOtherHost, listedShards, nodesOf } from './nodes.ts';
import { pageOf } from './pages.ts';

type Options = Pick<InternalApiOptions, 'cluster' | 'actors' | 'shardCount' | 'readiness' | 'logger'>;

export function clusterHandlers(options: Options): Handlers<ClusterService> {
  return {
    ...nodeHandlers(options),
    ...actorHandlers(options),
    ...topHandlers(options),
    ...backlogHandlers(options),
  };
}

const noSuchNode = () => notFound('There is no live node with that name.');

function nodeHandlers({ cluster, shardCount, readiness, logger }: Options) {
  async function setDraining(node: string, draining: boolean): Promise<void> {
    if (!(await cluster.setDraining(node, draining))) throw noSuchNode();
    logger.info({ drained: node, draining }, 'an operator has changed whether a node drains');
  }

  return {
    async listNodes(request) {
      const [nodes, shards, { checks }] = await Promise.all([
        cluster.nodes(),
        cluster.shards(),
        readiness.report(),
      ]);
      const { rows, nextPageToken } = pageOf(
        nodesOf(nodes, shards),
        request,
        ({ id }) => id > request.pageToken,
        ({ id }) => id,
      );
      return { nodes: rows, nextPageToken, checks };
    },

    async listShards(request) {
      const [nodes, shards] = await Promise.all([cluster.nodes(), cluster.shards()]);
      return listedShards(nodes, shards, shardCount, request);
    },

    /** Two simultaneous drains may still leave no host; this guards against slips, not attacks. */
    async drainNode({ node, allowLast }) {
      const id = textField('node', node);
      const nodes = await cluster.nodes();
      if (!nodes.some((each) => each.id === id && each.incarnation !== null)) throw noSuchNode();
      if (!allowLast && !hasOtherHost(nodes, id)) {
        throw failedPrecondition('No other node would take its shards: it would keep them until one comes.');
      }
      await setDraining(id, true);
      return {};
    },

    async undrainNode({ node }) {
      await setDraining(textField('node', node), false);
      return {};
    },

    async rebalance() {
      cluster.rebalance();
      logger.info({}, 'an operator asked for a rebalance');
      return {};
    },
  } satisfies Partial<Handlers<ClusterService>>;
}

const phases: Readonly<Record<ActorReport['phase'], ActorPhase>> = {
  passive: ActorPhase.PASSIVE,
  activating: ActorPhase.ACTIVATING,
  active: ActorPhase.ACTIVE,
  settling: ActorPhase.SETTLING,
};
const waits: Readonly<Record<ActorReport['waitsFor'], ActorWaitsFor>> = {
  nothing: ActorWaitsFor.NOTHING,
  activation: ActorWaitsFor.ACTIVATION,
  commit: ActorWaitsFor.COMMIT,
  outcome: ActorWaitsFor.OUTCOME,
};

const ranks: Partial<Record<ActorRank, RuntimeRank>> = {
  [ActorRank.TURNS]: 'turns',
  [ActorRank.WAITING]: 'waiting',
};

/** With so many addresses for each shard, a single shard is missed once in three thousand times. */
const triesPerShard = 8;

/** For each of these nodes an address in one of its shards. No actor has it, so the host that owns it answers for itself. */
function anyAddresses(
  nodes: readonly NodeReport[],
  shards: readonly ShardReport[],
  shardCount: number,
): ReadonlyMap<string, Address> {
  const ownerOf = new Map(shards.map(({ shard, node }) => [shard, node]));
  const wanted = new Set(nodes.map(({ id }) => id));
  const found = new Map<string, Address>();
  for (let number = 0; wanted.size > 0 && number < shardCount * triesPerShard; number += 1) {
    const address = { kind: 'user', id: `any-${number}` };
    const node = ownerOf.get(shardOf(address, shardCount)) ?? '';
    if (wanted.delete(node)) found.set(node, address);
  }
  return found;
}

function topHandlers({ cluster, actors, shardCount }: Options) {
  return {
    async listTopActors({ by, limit }, ask) {
      const request = { by: ranks[by] ?? 'bytes', limit: limitField('limit', limit) } as const;
      const shards = await cluster.shards();
      const owners = new Set(shards.map(({ node }) => node));
      const nodes = (await cluster.nodes()).filter(
        ({ id, incarnation }) => incarnation !== null && owners.has(id),
      );
      const addresses = [...anyAddresses(nodes, shards, shardCount).values()];
      const tops = await Promise.allSettled(
        addresses.map((address) => actorOperations(actors, address).$top(request, ask)),
      );
      // The new owner of a shard that has just moved answers for it, and may have been asked for another shard as well.
      const answered = new Map(
        tops.flatMap((top) =>
          top.status === 'fulfilled' ? [[top.value.node, top.value.actors] as const] : [],
        ),
      );
      return {
        actors: [...answered].flatMap(([node, top]) =>
          top.map(({ kind, id, heldBytes, ...actor }) => ({
            actor: { kind, id },
            node,
            heldBytes: Math.round(heldBytes),
            ...actor,
          })),
        ),
        silentNodes: nodes.map(({ id }) => id).filter((id) => !answered.has(id)),
      };
    },
  } satisfies Partial<Handlers<ClusterService>>;
}

function actorHandlers({ actors }: Options) {
  return {
    async findActor({ actor }, ask) {
      const report = await actorOperations(actors, addressField('actor', actor)).$inspect(null, ask);
      return {
        ...report,
        phase: phases[report.phase],
        waitsFor: waits[report.waitsFor],
        heldBytes: Math.round(report.heldBytes),
        idleMs: Math.round(report.idleMs),
        version: report.version,
      };
    },

    async evictActor({ actor }, ask) {
      return { evicted: await actorOperations(actors, addressField('actor', actor)).$evict(null, ask) };
    },

    async reviveTimer({ actor, name }, ask) {
      const operations = actorOperations(actors, addressField('actor', actor));
      const revived = await operations.$reviveTimer({ name: textField('name', name) }, ask);
      if (!revived) throw notFound('That actor has no dead timer with that name.');
      return {};
    },

    async reviveTell({ target, tellId }, ask) {
      const operations = actorOperations(actors, addressField('target', target));
      const revived = await operations.$reviveTell({ tellId: uuidField('tell_id', tellId) }, ask);
      if (!revived) throw notFound('That actor has no dead tell with that id.');
      return {};
    },
  } satisfies Partial<Handlers<ClusterService>>;
}

function backlogHandlers({ cluster }: Options) {
  return {
    async listBacklog(request) {
      const backlog = await cluster.backlog(limitField('limit', request.limit));
      return {
        ...backlog,
        deadTimers: backlog.deadTimers.map(deadTimer),
        deadTells: [...backlog.deadTells],
      };
    },
  } satisfies Partial<Handlers<ClusterService>>;
}

const deadTimer = ({ dueMs, ...timer }: DeadTimer) => ({ ...timer, due: new Date(dueMs) });
