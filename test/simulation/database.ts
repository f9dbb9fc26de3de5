/** The model database with a window: whoever watches sees every activation and every commit at its moment. */
import type { Address } from '../../runtime/address.ts';
import { ModelDatabase } from '../../runtime/store/model.ts';
import type { Activation, Commit } from '../../runtime/store/store.ts';

export interface DatabaseWatcher {
  activated(address: Address, epoch: number): void;
  committed(commit: Commit): void;
}

export class WatchedDatabase extends ModelDatabase {
  readonly #watcher: DatabaseWatcher;
  readonly #owners = new Map<number, string>();

  constructor(clock: { nowMs(): number }, watcher: DatabaseWatcher) {
    super(clock);
    this.#watcher = watcher;
  }

  /** The incarnation that claimed this shard last. */
  ownerOf(shard: number): string | undefined {
    return this.#owners.get(shard);
  }

  override claim(nodeId: string, incarnation: string, shards: readonly number[]) {
    const claimed = super.claim(nodeId, incarnation, shards);
    for (const shard of claimed.shards) this.#owners.set(shard, incarnation);
    return claimed;
  }

  override activate(address: Address, epoch: number, create: boolean): Activation {
    const activation = super.activate(address, epoch, create);
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
