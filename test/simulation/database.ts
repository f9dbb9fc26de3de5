/** The model database with a window: observers see every activation and every commit at its moment. */
import type { Address } from '../../runtime/address.ts';
import type { ActivationResult, Commit, HeldShard, NodeRow } from '../../runtime/store/store.ts';
import { ModelDatabase } from '../kit/model-store/model-store.ts';
import { startOfTimeMs } from './process.ts';
import type { SimulatedTime } from './time.ts';

export interface DatabaseWatcher {
  registered(incarnation: string): void;
  activated(address: Address, epoch: number): void;
  committed(commit: Commit): void;
  claimed(incarnation: string, epoch: number, shards: readonly number[]): void;
  /** The shards that a release has freed. */
  freed(shards: readonly number[]): void;
}

/** It may jump by any amount. */
export class DatabaseClock {
  readonly #time: SimulatedTime;
  #offsetMs = 0;
  #latestMs = 0;

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  set offsetMs(offsetMs: number) {
    this.#latestMs = this.latestMs();
    this.#offsetMs = offsetMs;
  }

  nowMs(): number {
    return startOfTimeMs + this.#time.nowMs + this.#offsetMs;
  }

  /** The latest time that it has shown so far. */
  latestMs(): number {
    return Math.max(this.#latestMs, this.nowMs());
  }
}

export class WatchedDatabase extends ModelDatabase {
  readonly #watcher: DatabaseWatcher;

  constructor(clock: { nowMs(): number }, watcher: DatabaseWatcher) {
    super(clock);
    this.#watcher = watcher;
  }

  override register(node: NodeRow, started: number, leaseMs: number, isPredecessorDead: boolean): number {
    const heldForMs = super.register(node, started, leaseMs, isPredecessorDead);
    if (heldForMs === 0) this.#watcher.registered(node.incarnation);
    return heldForMs;
  }

  override claim(nodeId: string, incarnation: string, shards: readonly number[]) {
    const claimed = super.claim(nodeId, incarnation, shards);
    if (claimed.shards.length > 0) this.#watcher.claimed(incarnation, claimed.epoch, claimed.shards);
    return claimed;
  }

  override release(incarnation: string, held: readonly HeldShard[]): void {
    const before = new Set(this.#claimedShards());
    super.release(incarnation, held);
    for (const shard of this.#claimedShards()) before.delete(shard);
    if (before.size > 0) this.#watcher.freed([...before]);
  }

  #claimedShards(): readonly number[] {
    return this.shards().flatMap(({ shard, incarnation }) => (incarnation === '' ? [] : [shard]));
  }

  override activate(address: Address, epoch: number, create: boolean, shard: number): ActivationResult {
    const activation = super.activate(address, epoch, create, shard);
    if (activation.outcome === 'active') this.#watcher.activated(address, epoch);
    return activation;
  }

  override commit(commits: readonly Commit[]): ReadonlySet<number> {
    const passed = super.commit(commits);
    for (const index of passed) {
      const commit = commits[index];
      if (commit !== undefined) this.#watcher.committed(commit);
    }
    return passed;
  }
}
