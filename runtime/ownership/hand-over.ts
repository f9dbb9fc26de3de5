/**
 * The planned hand-over of shards to other hosts.
 *
 * Batches leave one at a time. Stop taking calls -> give jobs back, finish turns, flush commits, drop the actors -> release the
 * batch in the database, by epoch -> tell the others. The next host among them claims it. From the first step to the release no
 * host serves the batch. Calls to it are answered "moved" and are repeated.
 *
 * A shard is released only when no turn of it runs here. Turns that took too long were dropped. The barrier of the next owner's
 * activations settles their commits in flight.
 *
 * A release that fails, or whose answer is lost, is sent again until the database has answered or the lease is over. However
 * late it comes, its epoch keeps it from freeing a shard that was claimed anew. Crash at any step: the lease expires, another
 * host declares the incarnation dead, and its shards are free.
 */
import { type Clock, sleep } from '../clock.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { Logger } from '../ports.ts';
import { type HeldShard, type NodeRow, type Store, StoreError } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';

/** The most shards that leave together. */
const batchMax = 64;
/** The time for turns and commits of leaving shards. Then they are dropped. */
const quiesceMs = 5_000;
const retryPauseMs = 500;

export interface HandOverOptions {
  readonly store: Pick<Store, 'release'>;
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly transport: Pick<Transport, 'unroute' | 'hint'>;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  /** Lets work in flight at actors of these shards finish within this time, and drops the actors from memory. */
  readonly quiesce: (shards: ReadonlySet<number>, withinMs: number) => Promise<void>;
  /** Takes shards that should leave out of service, up to this number. */
  readonly stopIntake: (max: number) => readonly HeldShard[];
}

export class HandOver {
  readonly #options: HandOverOptions;
  /** Shards out of service that are not known to be released, with their epochs. */
  readonly #leaving = new Map<number, number>();
  #running: Promise<void> | undefined;
  #ended = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#leaving.size;
  }

  has(shard: number): boolean {
    return this.#leaving.has(shard);
  }

  /** Hands over batch by batch until no shard is left that should leave. */
  run(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  stop(): void {
    this.#ended = true;
    this.#leaving.clear();
  }

  async #runAll(): Promise<void> {
    const { metrics, logger, clock } = this.#options;
    while (!this.#ended) {
      const batch = this.#batch();
      if (batch.length === 0) return;
      try {
        await this.release(batch);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        logger.warn({ failure: error.failure }, 'shards could not be released; it is tried again');
        await sleep(clock, retryPauseMs);
        continue;
      }
      if (this.#ended) return;
      for (const { shard } of batch) this.#leaving.delete(shard);
      metrics.handedOver(batch.length);
      logger.info({ shards: batch.length }, 'handed shards over');
      await sleep(clock, 0);
    }
  }

  /** The next batch, with the rest of one whose release failed. */
  #batch(): readonly HeldShard[] {
    const more = this.#options.stopIntake(batchMax - this.#leaving.size);
    for (const { shard, epoch } of more) this.#leaving.set(shard, epoch);
    return [...this.#leaving].map(([shard, epoch]) => ({ shard, epoch }));
  }

  /** Releases shards that are out of service. @throws StoreError */
  async release(held: readonly HeldShard[]): Promise<void> {
    const { store, node, transport, quiesce } = this.#options;
    const shards = held.map(({ shard }) => shard);
    transport.unroute(shards);
    await quiesce(new Set(shards), quiesceMs);
    // The next incarnation of this process may have routed them here again.
    if (this.#ended) return;
    await store.release(node.incarnation, held);
    transport.hint({ hint: 'freed', shards });
  }
}
