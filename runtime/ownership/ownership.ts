/**
 * Which shards this host owns, and under which epochs (design 4.3).
 *
 * A shard belongs to an incarnation, under the epoch of the batch it was claimed in. Expired incarnations are buried
 * first (from then on their renewals fail), and only shards that no live incarnation holds can be claimed. What is
 * missing is claimed again and again until nothing is. On one node that is everything, once, at start.
 */
import type { Clock } from '../clock.ts';
import type { Logger } from '../ports.ts';
import { type NodeRow, type Store, StoreError } from '../store/store.ts';

export interface OwnershipOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly shardCount: number;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** Newly claimed shards: their timers and tells are this host's business now. */
  readonly onClaimed: (shards: readonly number[]) => void;
}

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #epochs = new Map<number, number>();
  #cancel: () => void = () => {};
  #ended = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** Claims what is free now, and goes on claiming what becomes free. @throws StoreError */
  async start(): Promise<void> {
    await this.#claim();
    this.#scheduleClaim();
  }

  /** The epoch under which this host owns a shard; undefined when it does not. */
  epochOf(shard: number): number | undefined {
    return this.#epochs.get(shard);
  }

  get shards(): readonly number[] {
    return [...this.#epochs.keys()];
  }

  get isComplete(): boolean {
    return this.#epochs.size === this.#options.shardCount;
  }

  stop(): void {
    this.#ended = true;
    this.#cancel();
    this.#epochs.clear();
  }

  #scheduleClaim(): void {
    if (this.#ended) return;
    const { clock, leaseMs } = this.#options;
    this.#cancel = clock.schedule(leaseMs / 2, () => void this.#claimAgain());
  }

  async #claimAgain(): Promise<void> {
    try {
      if (!this.isComplete) await this.#claim();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#options.logger.warn({ failure: error.failure }, 'free shards could not be claimed');
    }
    this.#scheduleClaim();
  }

  async #claim(): Promise<void> {
    const { store, node, shardCount, onClaimed } = this.#options;
    await store.buryExpired();
    const missing = Array.from({ length: shardCount }, (_, shard) => shard).filter(
      (shard) => !this.#epochs.has(shard),
    );
    const claimed = await store.claim(node.id, node.incarnation, missing);
    if (this.#ended) return;
    for (const shard of claimed.shards) this.#epochs.set(shard, claimed.epoch);
    if (claimed.shards.length > 0) onClaimed(claimed.shards);
  }
}
