/**
 * The hosts of the cluster as this one last saw them, where each shard belongs among them, and whether that has been so
 * for long enough to move what is served well where it is.
 *
 * Shards are for the hosts that the others can reach. Where no host is connected, as when all of the broker is away, all
 * are as good as each other and keep what they have.
 *
 * Where every host is to drain nobody is left to take their shards: they keep what they have, and what one of them
 * loses is for the others to take.
 *
 * Mixed versions: nodes register their release (`version`) and the formats of stored state that they read (`formats`),
 * for operators to see. Up to now there is one format, which every release reads and writes, so that any host can have
 * any shard and placement asks for neither. A release that brings a second one writes the first until all live nodes
 * read both; a host that meets stored state of a newer format all the same gives the shard back (`ownership.ts`), and
 * takes it again at the earliest when the hosts or their formats have changed.
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

export class Membership {
  readonly #options: MembershipOptions;
  /** Those that may have shards, as they register: one that started anew may do what it could not before. */
  #hosts = '';
  #hostCount = 0;
  #hasOthers = false;
  #placement: readonly (string | undefined)[] = [];
  /** Hosts that have renewed their lease lately. */
  #lively: ReadonlySet<string> = new Set();
  #changedAtMs = 0;
  #soonestExpiryMs = Number.POSITIVE_INFINITY;
  #isDraining = false;
  /** Shards that were taken because the host they belong to did not: they stay until the hosts change. */
  readonly #adopted = new Set<number>();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** This node is to have no shards. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Others are there and are not to drain. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  get hostCount(): number {
    return this.#hostCount;
  }

  /** Milliseconds until the first lease of another host ends that has not ended yet, as the database said last. */
  get soonestExpiryMs(): number {
    return this.#soonestExpiryMs;
  }

  /** Takes in what the database says now. True: the hosts are others than before. */
  update(nodes: readonly LiveNode[]): boolean {
    const { clock, node, shardCount, leaseMs } = this.#options;
    const live = nodes.filter(({ incarnation, roles }) => incarnation !== null && runsActors(roles));
    const others = live.filter(({ id, expiresInMs }) => id !== node.id && expiresInMs > 0);
    this.#soonestExpiryMs = Math.min(...others.map(({ expiresInMs }) => expiresInMs));
    const staying = live.filter(({ draining }) => !draining);
    const reachable = staying.filter(({ connected }) => connected);
    const takers = [reachable, staying, live].find((hosts) => hosts.length > 0) ?? [];
    this.#hasOthers = staying.some(({ id }) => id !== node.id);
    this.#isDraining = takers !== live && live.some(({ id, draining }) => id === node.id && draining);
    this.#lively = new Set(takers.filter(({ expiresInMs }) => expiresInMs > leaseMs / 2).map(({ id }) => id));
    const hosts = takers.map(({ id, incarnation, formats }) => `${id} ${incarnation} ${formats}`).join();
    if (hosts === this.#hosts) return false;
    this.#hosts = hosts;
    this.#hostCount = takers.length;
    this.#placement = placementOf(
      takers.map(({ id }) => id),
      shardCount,
    );
    this.#changedAtMs = clock.monotonicMs();
    this.#adopted.clear();
    return true;
  }

  /** Undefined: no host is there to take it. */
  hostOf(shard: number): string | undefined {
    return this.#placement[shard];
  }

  /** These shards are here now; those that belong elsewhere stay for the time being. */
  adopt(shards: readonly number[]): void {
    for (const shard of shards) {
      if (this.hostOf(shard) !== this.#options.node.id) this.#adopted.add(shard);
    }
  }

  /** Every shard to its host now, however short a time it has been that. */
  rebalanceNow(): void {
    this.#changedAtMs = Number.NEGATIVE_INFINITY;
    this.#adopted.clear();
  }

  /** Whether a shard that is here is to go where it belongs. */
  shouldLeave(shard: number): boolean {
    const { clock, node, leaseMs } = this.#options;
    const host = this.hostOf(shard);
    if (host === undefined || host === node.id || !this.#lively.has(host)) return false;
    if (this.#isDraining) return true;
    return !this.#adopted.has(shard) && clock.monotonicMs() - this.#changedAtMs >= leaseMs / 2;
  }
}
