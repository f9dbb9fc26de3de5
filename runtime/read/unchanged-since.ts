/**
 * Unchanged-since markers. A marker says that an actor has committed nothing since the marker was set. Only the host that may
 * change the actor knows this. What a reader of other owners' rows has found holds as long as the marker does, so the reader
 * does not ask again.
 *
 *   set      with the activation, and again with the outcome of each commit
 *   cleared  before the next commit is sent; a marker is also void once the shard has left this host
 *
 * Invariants
 *   - A marker is set behind a barrier of this host's epoch, so nothing that an earlier owner still has on the way can apply
 *     while it holds. It is not set while a commit may be on the way, nor where the outcome of the last is unknown.
 *   - So it outlasts the actor's stay in memory: the actor's rows change by commits that are made here, or not at all.
 *
 * Markers are neither written nor told to others. A host that starts has none and asks the database. It does the same where it
 * has dropped a marker for want of room.
 */
import { type Address, addressKey } from '../address.ts';

/** Each takes about 200 bytes. */
const markersMax = 100_000;

export interface UnchangedSinceOptions {
  /** Undefined: the shard is not served here. */
  epochOf(shard: number): number | undefined;
  readonly markersMax?: number;
}

/** Whose it is. */
interface Owned {
  readonly address: Address;
  readonly shard: number;
  readonly epoch: number;
}

export class UnchangedSince {
  readonly shard: number;
  readonly epoch: number;
  isCleared = false;

  constructor({ shard, epoch }: Owned) {
    this.shard = shard;
    this.epoch = epoch;
  }
}

export class UnchangedSinceMarkers {
  readonly #options: UnchangedSinceOptions;
  /** By the actor's address. The first was set before all others. */
  readonly #markers = new Map<string, UnchangedSince>();

  constructor(options: UnchangedSinceOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#markers.size;
  }

  /** Nothing that may change the actor's rows is on the way, and nothing will be but what `clear` is told of. */
  set(actor: Owned): void {
    const key = addressKey(actor.address);
    const before = this.#markers.get(key);
    if (before !== undefined && this.holds(before)) return;
    this.clear(actor);
    this.#markers.set(key, new UnchangedSince(actor));
    if (this.#markers.size > (this.#options.markersMax ?? markersMax)) this.#dropOldest();
  }

  /** To be called before the database hears of a change. */
  clear({ address }: Pick<Owned, 'address'>): void {
    const key = addressKey(address);
    const marker = this.#markers.get(key);
    if (marker === undefined) return;
    marker.isCleared = true;
    this.#markers.delete(key);
  }

  /** The actor's marker. Undefined: nothing is known of the actor here. */
  of(address: Address): UnchangedSince | undefined {
    const marker = this.#markers.get(addressKey(address));
    return marker !== undefined && this.holds(marker) ? marker : undefined;
  }

  /** False once this host's lease is over. */
  holds({ isCleared, shard, epoch }: UnchangedSince): boolean {
    return !isCleared && this.#options.epochOf(shard) === epoch;
  }

  #dropOldest(): void {
    for (const [key, marker] of this.#markers) {
      marker.isCleared = true;
      this.#markers.delete(key);
      return;
    }
  }
}
