/**
 * Unchanged-since markers. A marker says that an actor has committed nothing since the marker was set. Only the host that may
 * change the actor knows this. While the marker holds, what a reader has found in the actor's rows holds, so the reader does
 * not ask again.
 *
 *   set      with the activation, and again with the outcome of each commit
 *   cleared  before the next commit is sent; a marker is also void once the shard has left this host
 *
 * Invariants
 *   - A marker is set behind a barrier of this host's epoch. So while it holds, no commit that an earlier owner still has on the
 *     way can apply. It is not set while a commit may be on the way, or while the outcome of the last one is unknown.
 *   - So it outlasts the actor's stay in memory: only commits made here can change the actor's rows.
 *
 * Markers are neither stored nor told to others. A host that starts has none and asks the database. It does the same for an
 * actor whose marker it dropped for lack of room.
 */
import { type Address, addressKey } from '../address.ts';

/** Each takes about 200 bytes. */
const markersMax = 100_000;

export interface UnchangedSinceOptions {
  /** Undefined if this host does not serve the shard. */
  epochOf(shard: number): number | undefined;
  readonly markersMax?: number;
}

/** The actor that a marker belongs to. */
interface OwnedActor {
  readonly address: Address;
  readonly shard: number;
  readonly epoch: number;
}

export class UnchangedSince {
  readonly shard: number;
  readonly epoch: number;
  isCleared = false;

  constructor({ shard, epoch }: OwnedActor) {
    this.shard = shard;
    this.epoch = epoch;
  }
}

export class UnchangedSinceMarkers {
  readonly #options: UnchangedSinceOptions;
  /** Keyed by the actor's address, in the order in which they were set. */
  readonly #markers = new Map<string, UnchangedSince>();

  constructor(options: UnchangedSinceOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#markers.size;
  }

  /** No change of the actor's rows is on the way, and `clear` is called before any other. */
  set(actor: OwnedActor): void {
    const key = addressKey(actor.address);
    const before = this.#markers.get(key);
    if (before !== undefined && this.holds(before)) return;
    this.clear(actor);
    this.#markers.set(key, new UnchangedSince(actor));
    if (this.#markers.size > (this.#options.markersMax ?? markersMax)) this.#dropOldest();
  }

  /** Call it before a change is sent to the database. */
  clear({ address }: Pick<OwnedActor, 'address'>): void {
    const key = addressKey(address);
    const marker = this.#markers.get(key);
    if (marker === undefined) return;
    marker.isCleared = true;
    this.#markers.delete(key);
  }

  /** The actor's marker. Undefined if nothing is known of the actor here. */
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
