/** The actors that a gateway is subscribed to, found by actor, by shard and by host. */
import { type Address, addressKey } from '../address.ts';
import type { RepairCause } from '../events.ts';

export interface ActorSubscription {
  readonly key: string;
  readonly actor: Address;
  readonly shard: number;
  /** The incarnation that answered the last registration. */
  host: string | undefined;
  /** The id in the answer to the last registration. Another id means that the host has dropped the registration since. */
  registration: string | undefined;
  /** When it must be renewed. */
  dueMs: number;
  /** When it must be registered again. */
  checkMs: number;
  /** When the first session of its subscribers ends by its age. */
  endsMs: number;
  /** Why it waits for a new registration. */
  repairCause: RepairCause | undefined;
  isRegistering: boolean;
  /** An event of the actor may have been lost, and no registration has made up for that yet. */
  isBehind: boolean;
}

export class SubscriptionIndex {
  readonly #byActor = new Map<string, ActorSubscription>();
  readonly #byShard = new Map<number, Set<ActorSubscription>>();

  get size(): number {
    return this.#byActor.size;
  }

  get all(): Iterable<ActorSubscription> {
    return this.#byActor.values();
  }

  get shards(): Iterable<number> {
    return this.#byShard.keys();
  }

  get(actor: Address): ActorSubscription | undefined {
    return this.#byActor.get(addressKey(actor));
  }

  /** False for a subscription that was removed, even if the actor has a new one. */
  has(subscription: ActorSubscription): boolean {
    return this.#byActor.get(subscription.key) === subscription;
  }

  ofShard(shard: number): readonly ActorSubscription[] {
    return [...(this.#byShard.get(shard) ?? [])];
  }

  where(concerns: (subscription: ActorSubscription) => boolean): readonly ActorSubscription[] {
    return [...this.#byActor.values()].filter(concerns);
  }

  /** Undefined if this gateway subscribes to no actor of the host. */
  anyOf(host: string): ActorSubscription | undefined {
    for (const subscription of this.#byActor.values()) if (subscription.host === host) return subscription;
    return undefined;
  }

  add(subscription: ActorSubscription): void {
    const { key, shard } = subscription;
    this.#byActor.set(key, subscription);
    this.#byShard.set(shard, (this.#byShard.get(shard) ?? new Set()).add(subscription));
  }

  remove(subscription: ActorSubscription): void {
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

/** Subscriptions that wait for their registration, by shard. Those taken from a shard at once go in one message. */
export class RegistrationQueue {
  readonly #byShard = new Map<number, Set<ActorSubscription>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Those that have waited longest come first. */
  get shards(): readonly number[] {
    return [...this.#byShard.keys()];
  }

  add(subscription: ActorSubscription): void {
    const waiting = this.#byShard.get(subscription.shard) ?? new Set();
    if (waiting.has(subscription)) return;
    this.#byShard.set(subscription.shard, waiting.add(subscription));
    this.#size += 1;
  }

  delete(subscription: ActorSubscription): void {
    const { shard } = subscription;
    const waiting = this.#byShard.get(shard);
    if (waiting?.delete(subscription) !== true) return;
    this.#size -= 1;
    if (waiting.size === 0) this.#byShard.delete(shard);
  }

  /** Takes at most this many subscriptions of a shard. The rest of the shard goes behind the other shards. */
  take(shard: number, most: number): readonly ActorSubscription[] {
    const waiting = this.#byShard.get(shard);
    if (waiting === undefined || most <= 0) return [];
    const batch = [...waiting].slice(0, most);
    for (const subscription of batch) this.delete(subscription);
    if (waiting.size === 0) return batch;
    this.#byShard.delete(shard);
    this.#byShard.set(shard, waiting);
    return batch;
  }

  clear(): void {
    this.#byShard.clear();
    this.#size = 0;
  }
}
