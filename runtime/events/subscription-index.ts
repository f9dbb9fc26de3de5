/** The actors that a gateway is subscribed to, found by actor, by shard and by host. */
import { type Address, addressKey } from '../address.ts';
import type { RepairCause } from '../events.ts';

export interface Subscription {
  readonly key: string;
  readonly actor: Address;
  readonly shard: number;
  /** The incarnation that answered the last registration. */
  host: string | undefined;
  /** When it is renewed at the latest. */
  dueMs: number;
  /** When it is registered anew at the latest. */
  checkMs: number;
  /** When the first of what its subscribers have of it ends by its age. */
  endsMs: number;
  /** Why it waits to be registered anew. */
  wanted: RepairCause | undefined;
  isRegistering: boolean;
  /** An event of it may have been lost, and no registration has made up for that yet. */
  isBehind: boolean;
}

export class SubscriptionIndex {
  readonly #byActor = new Map<string, Subscription>();
  readonly #byShard = new Map<number, Set<Subscription>>();

  get size(): number {
    return this.#byActor.size;
  }

  get all(): Iterable<Subscription> {
    return this.#byActor.values();
  }

  get shards(): Iterable<number> {
    return this.#byShard.keys();
  }

  get(actor: Address): Subscription | undefined {
    return this.#byActor.get(addressKey(actor));
  }

  /** False for one that was removed, though the actor may be subscribed to again. */
  has(subscription: Subscription): boolean {
    return this.#byActor.get(subscription.key) === subscription;
  }

  ofShard(shard: number): readonly Subscription[] {
    return [...(this.#byShard.get(shard) ?? [])];
  }

  where(concerns: (subscription: Subscription) => boolean): readonly Subscription[] {
    return [...this.#byActor.values()].filter(concerns);
  }

  /** Undefined where this gateway is subscribed to no actor of the host. */
  anyOf(host: string): Subscription | undefined {
    for (const subscription of this.#byActor.values()) if (subscription.host === host) return subscription;
    return undefined;
  }

  add(subscription: Subscription): void {
    const { key, shard } = subscription;
    this.#byActor.set(key, subscription);
    this.#byShard.set(shard, (this.#byShard.get(shard) ?? new Set()).add(subscription));
  }

  remove(subscription: Subscription): void {
    const { key, shard } = subscription;
    this.#byActor.delete(key);
    const ofShard = this.#byShard.get(shard);
    ofShard?.delete(subscription);
    if (ofShard?.size === 0) this.#byShard.delete(shard);
  }

  clear(): void {
    this.#byActor.clear();
    this.#byShard.clear();
  }
}
