/** Subscriptions that wait for their registration, by shard. Those taken from a shard at once go in one message. */
import type { Subscription } from './subscription-index.ts';

export class RegistrationQueue {
  readonly #byShard = new Map<number, Set<Subscription>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Those that have waited longest come first. */
  get shards(): readonly number[] {
    return [...this.#byShard.keys()];
  }

  add(subscription: Subscription): void {
    const waiting = this.#byShard.get(subscription.shard) ?? new Set();
    if (waiting.has(subscription)) return;
    this.#byShard.set(subscription.shard, waiting.add(subscription));
    this.#size += 1;
  }

  delete(subscription: Subscription): void {
    const { shard } = subscription;
    const waiting = this.#byShard.get(shard);
    if (waiting?.delete(subscription) !== true) return;
    this.#size -= 1;
    if (waiting.size === 0) this.#byShard.delete(shard);
  }

  /** Takes some subscriptions of a shard, up to a number. The rest of the shard goes behind the other shards. */
  take(shard: number, most: number): readonly Subscription[] {
    const waiting = this.#byShard.get(shard);
    if (waiting === undefined || most <= 0) return [];
    const taken = [...waiting].slice(0, most);
    for (const subscription of taken) this.delete(subscription);
    if (waiting.size === 0) return taken;
    this.#byShard.delete(shard);
    this.#byShard.set(shard, waiting);
    return taken;
  }

  clear(): void {
    this.#byShard.clear();
    this.#size = 0;
  }
}
