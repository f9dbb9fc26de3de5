/** Several nodes over one model database, with one clock that tests move, connected by an in-memory network. */

import { shardOf } from '../../runtime/address.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Provided } from '../../runtime/dependency.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { defaultLimits, type Limits } from '../../runtime/host/limits.ts';
import { Node } from '../../runtime/host/node.ts';
import { noMetrics, type RuntimeMetrics } from '../../runtime/host/runtime-metrics.ts';
import type { Kind } from '../../runtime/kind.ts';
import { placementOf } from '../../runtime/ownership/placement.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { type NodeRow, type Store, StoreError } from '../../runtime/store/store.ts';
import type { AskCall } from '../../runtime/transport/transport.ts';
import { drainPromises, FakeClock } from './clock.ts';
import { ClusterNetwork, type ClusterTransport, TestProcess } from './cluster-network.ts';
import { ModelDatabase, ModelStore, type Schedule } from './model-store/model-store.ts';
import { SeededRandom } from './random.ts';

export interface TestClusterOptions {
  readonly kinds: readonly Kind[];
  readonly provided?: readonly Provided[];
  readonly shardCount?: number;
  readonly leaseMs?: number;
  readonly limits?: Partial<Limits>;
  readonly metrics?: RuntimeMetrics;
}

export interface JoinOptions extends Partial<Omit<NodeRow, 'id' | 'incarnation'>> {
  readonly kinds?: readonly Kind[];
}

export interface ClusterNode {
  readonly id: string;
  readonly node: Node;
  readonly process: TestProcess;
  readonly transport: ClusterTransport;
  /** Handles of a gateway in the same process. */
  readonly actors: Actors;
  /** Why this process had to end. */
  readonly rejections: unknown[];
  /** Every statement this node sent, in order. */
  readonly statements: (keyof Store)[];
  /** Runs between the statements of this node and their effect. */
  schedule: Schedule;
}

export class TestCluster {
  readonly clock = new FakeClock();
  readonly random = new SeededRandom(1);
  readonly database = new ModelDatabase(this.clock);
  readonly shardCount: number;
  readonly leaseMs: number;
  readonly nodes: ClusterNode[] = [];
  readonly network: ClusterNetwork;
  /** Handles of a gateway of its own. */
  readonly actors: Actors;
  readonly #options: TestClusterOptions;

  constructor(options: TestClusterOptions) {
    this.#options = options;
    this.shardCount = options.shardCount ?? 32;
    this.leaseMs = options.leaseMs ?? 10_000;
    this.network = new ClusterNetwork(this.clock, this.shardCount);
    this.actors = this.#actorsOver(this.network.join());
  }

  /** A node that has yet to start. */
  create(id: string, { kinds = this.#options.kinds, ...row }: JoinOptions = {}): ClusterNode {
    const { random, shardCount, leaseMs } = this;
    const process = new TestProcess(this.clock);
    const transport = this.network.join(process);
    const rejections: unknown[] = [];
    const statements: (keyof Store)[] = [];
    const made = { schedule: (async (_method, apply) => apply()) as Schedule };
    const schedule: Schedule = async (method, apply) => {
      statements.push(method);
      await undefined;
      try {
        return await made.schedule(method, apply);
      } finally {
        await process.entered();
      }
    };
    const node = new Node({
      kinds,
      provided: this.#options.provided ?? [],
      store: new ModelStore(this.database, schedule),
      transport,
      clock: process,
      random,
      limits: { ...defaultLimits, ...this.#options.limits },
      metrics: this.#options.metrics ?? noMetrics,
      logger: silentLogger,
      node: { id, address: '', roles: 'all', version: '0', formats: '1', ...row },
      shardCount,
      leaseMs,
      isPredecessorDead: false,
      onRejected: (error) => void rejections.push(error),
    });
    const actors = this.#actorsOver(transport);
    const clusterNode = Object.assign(made, { id, node, process, transport, actors, rejections, statements });
    this.nodes.push(clusterNode);
    return clusterNode;
  }

  /** A node that serves, although it may still lack its share if others hold it. */
  async join(id: string, options?: JoinOptions): Promise<ClusterNode> {
    const node = this.create(id, options);
    await node.node.start();
    return node;
  }

  /** Nodes that serve, each with its share. */
  async joinAll<const Ids extends readonly string[]>(ids: Ids): Promise<{ [At in keyof Ids]: ClusterNode }> {
    const nodes: ClusterNode[] = [];
    for (const id of ids) nodes.push(await this.join(id));
    await this.clock.advance(1.5 * this.leaseMs);
    return nodes as { [At in keyof Ids]: ClusterNode };
  }

  /** Lets time pass until it has ended. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    await drainPromises();
    while (!isOver) await this.clock.advance(10);
    return promise;
  }

  drain({ node }: ClusterNode, withinMs = 20_000): Promise<void> {
    return this.until(node.drain(withinMs));
  }

  /** Ends a node like the death of its process. */
  crash(node: ClusterNode): void {
    node.process.pause();
    node.transport.stop();
    node.transport.cut();
  }

  /** The shards that belong to each of these nodes while they are the hosts. */
  shardsOf(ids: readonly string[]): ReadonlyMap<string, readonly number[]> {
    const shards = [...placementOf(ids, this.shardCount).entries()];
    return new Map(ids.map((id) => [id, shards.filter(([, host]) => host === id).map(([shard]) => shard)]));
  }

  /** The shards that live incarnations of this node hold, according to the database. */
  held(id: string): readonly number[] {
    const live = new Set(this.database.nodes().map(({ incarnation }) => incarnation));
    const rows = this.database.shards().filter((row) => row.node === id && live.has(row.incarnation));
    return rows.map(({ shard }) => shard);
  }

  /** An id of an actor of this kind, in one of these shards. */
  idIn(kind: string, shards: readonly number[]): string {
    for (let index = 0; ; index += 1) {
      const id = `actor-${index}`;
      if (shards.includes(shardOf({ kind, id }, this.shardCount))) return id;
    }
  }

  #actorsOver(transport: ClusterTransport): Actors {
    const { random } = this;
    const { defaultDeadlineMs } = defaultLimits;
    return createActors({ transport, clock: transport.process, random, defaultDeadlineMs });
  }
}

/** Loses the answer to the node's next statement of this kind, or the statement itself. */
export function loseOnce(
  node: ClusterNode,
  lost: keyof Store,
  what: 'answer' | 'statement',
  from = () => true,
): void {
  let isLost = false;
  node.schedule = async (method, apply) => {
    if (method !== lost || isLost || !from()) return apply();
    isLost = true;
    if (what === 'answer') apply();
    throw new StoreError(what === 'answer' ? 'unknown' : 'unavailable', 'lost by the test');
  };
}

/** Resolves once the condition holds. `TestCluster.until` lets time pass. */
export async function becomes({ clock }: TestCluster, isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(clock, 10);
}

/** Every shard is served by exactly the nodes named, each with its share. */
export function isBalanced(made: TestCluster, ids: readonly string[]): boolean {
  const shards = made.shardsOf(ids);
  return made.nodes.every(({ id, node }) => {
    const own = shards.get(id) ?? [];
    return made.held(id).join() === own.join() && node.shardCount === own.length;
  });
}

/** The nodes that answer a read of this actor when the test asks them directly. */
export async function answering(made: TestCluster, call: Omit<AskCall, 'deadlineMs'>): Promise<string[]> {
  const answered: string[] = [];
  const deadlineMs = made.clock.monotonicMs() + 1_000;
  await Promise.all(
    made.nodes.map(async (node) => {
      const pending = node.transport.handler?.ask({ ...call, deadlineMs });
      await pending?.then(
        () => answered.push(node.id),
        () => undefined,
      );
    }),
  );
  return answered;
}
