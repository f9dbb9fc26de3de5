/**
 * The hosts of the cluster as this one last saw them, and where each shard belongs among them. It also tells whether the hosts have
 * stayed the same for long enough to move shards that other hosts still serve.
 *
 * Shards go to hosts that the others can reach. If no host is connected, as when the whole broker is away, all hosts are equal
 * and keep their shards.
 *
 * If every host is to drain, no other host can take their shards. So they keep their shards, and take over those of a host that
 * dies.
 *
 * Mixed versions: nodes register their release (`version`) and the formats of stored state that they read (`formats`), for
 * operators to see. So far there is one format, which every release reads and writes. Any host can have any shard, and
 * placement considers neither. A release that brings a second format writes the first until all live nodes read both. A host
 * that still meets stored state of a newer format releases the shard (`ownership.ts`). It takes the shard again only after the
 * hosts or their formats have changed.
 */
import type { Clock } from '../clock.ts';
import type { LiveNode, NodeRow } from '../store/store.ts';
import { placementOf } from './placement.ts';

export interface MembershipOptions {
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly shardCount: number;
  readonly leaseMs: number;
}

/** The roles that run actors, as a node's row names them. */
export const runsActors = (roles: string): boolean => roles === 'all' || roles === 'host';

export class ClusterMembership {
  readonly #options: MembershipOptions;
  /**
   * The hosts that may have shards, as registered: name, run and formats. A host that started anew may read more formats than
   * before.
   */
  #hosts = '';
  #hostCount = 0;
  #hasOthers = false;
  #placement: readonly (string | undefined)[] = [];
  /** Hosts that have renewed their lease lately. */
  #renewedLately: ReadonlySet<string> = new Set();
  #changedAtMs = 0;
  #soonestExpiryMs = Number.POSITIVE_INFINITY;
  #isDraining = false;
  /** Shards taken because the host that they belong to did not take them. They stay until the hosts change. */
  readonly #adopted = new Set<number>();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** True if this node should have no shards. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** True if there are other hosts that do not drain. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  get hostCount(): number {
    return this.#hostCount;
  }

  /** Milliseconds until the next lease of another host ends, by the last answer of the database. */
  get soonestExpiryMs(): number {
    return this.#soonestExpiryMs;
  }

  /** Takes in the database's latest list. Returns whether the hosts have changed. */
  update(nodes: readonly LiveNode[]): boolean {
    const { clock, node, shardCount, leaseMs } = this.#options;
    const live = nodes.filter(({ incarnation, roles }) => incarnation !== null && runsActors(roles));
    const others = live.filter(({ id, expiresInMs }) => id !== node.id && expiresInMs > 0);
    this.#soonestExpiryMs = Math.min(...others.map(({ expiresInMs }) => expiresInMs));
    const staying = live.filter(({ draining }) => !draining);
    const reachable = staying.filter(({ connected }) => connected);
    const eligible = [reachable, staying, live].find((hosts) => hosts.length > 0) ?? [];
    this.#hasOthers = staying.some(({ id }) => id !== node.id);
    this.#isDraining = eligible !== live && live.some(({ id, draining }) => id === node.id && draining);
    this.#renewedLately = new Set(
      eligible.filter(({ expiresInMs }) => expiresInMs > leaseMs / 2).map(({ id }) => id),
    );
    const hosts = eligible.map(({ id, incarnation, formats }) => `${id} ${incarnation} ${formats}`).join();
    if (hosts === this.#hosts) return false;
    this.#hosts = hosts;
    this.#hostCount = eligible.length;
    this.#placement = placementOf(
      eligible.map(({ id }) => id),
      shardCount,
    );
    this.#changedAtMs = clock.monotonicMs();
    this.#adopted.clear();
    return true;
  }

  /** Undefined if there is no host to take it. */
  hostOf(shard: number): string | undefined {
    return this.#placement[shard];
  }

  /** Call it when this host owns these shards. Those that belong to other hosts stay here for the time being. */
  adopt(shards: readonly number[]): void {
    for (const shard of shards) {
      if (this.hostOf(shard) !== this.#options.node.id) this.#adopted.add(shard);
    }
  }

  /** Moves every shard to its host now, even if that assignment is new. */
  rebalanceNow(): void {
    this.#changedAtMs = Number.NEGATIVE_INFINITY;
    this.#adopted.clear();
  }

  /** Whether a shard of this host should go to the host where it belongs. */
  shouldLeave(shard: number): boolean {
    const { clock, node, leaseMs } = this.#options;
    const host = this.hostOf(shard);
    if (host === undefined || host === node.id || !this.#renewedLately.has(host)) return false;
    if (this.#isDraining) return true;
    return !this.#adopted.has(shard) && clock.monotonicMs() - this.#changedAtMs >= leaseMs / 2;
  }
}
