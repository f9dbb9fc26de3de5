/**
 * Lulls: of the actors that others visit, the times in which they change nothing, as the one host knows that may change
 * them. What a visit has found holds until the lull it was made in is over, so nobody has to visit again before.
 *
 *   begins   with the activation, and again with the outcome of each commit
 *   is over  before the next commit is sent; or when the shard leaves, which makes whatever was known of it void
 *
 * Invariants
 *   - A lull begins behind a barrier of this host's epoch, so nothing that an earlier owner still has on the way can apply in
 *     it. It does not begin while a commit may be on the way, nor where the outcome of the last is unknown.
 *   - So it outlasts the actor's stay in memory: its rows change by commits that are made here, or not at all.
 *
 * Nothing of this is written or told to others. A host that starts knows of no lull and asks the database, as does one
 * that has forgotten some for want of room.
 */
import { type Address, addressKey } from '../address.ts';

/** Each takes about 200 bytes. */
const lullsMax = 100_000;

export interface LullsOptions {
  /** Undefined: the shard is not served here. */
  epochOf(shard: number): number | undefined;
  readonly lullsMax?: number;
}

/** Whose it is. */
interface Owned {
  readonly address: Address;
  readonly shard: number;
  readonly epoch: number;
}

export class Lull {
  readonly shard: number;
  readonly epoch: number;
  isOver = false;

  constructor({ shard, epoch }: Owned) {
    this.shard = shard;
    this.epoch = epoch;
  }
}

export class Lulls {
  readonly #options: LullsOptions;
  /** By the actor's address. The first began before all others. */
  readonly #lulls = new Map<string, Lull>();

  constructor(options: LullsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#lulls.size;
  }

  /** Nothing that may change the actor's rows is on the way, and nothing will be but what `end` is told of. */
  begin(actor: Owned): void {
    const key = addressKey(actor.address);
    const before = this.#lulls.get(key);
    if (before !== undefined && this.lasts(before)) return;
    this.end(actor);
    this.#lulls.set(key, new Lull(actor));
    if (this.#lulls.size > (this.#options.lullsMax ?? lullsMax)) this.#forgetFirst();
  }

  /** To be called before the database hears of a change. */
  end({ address }: Pick<Owned, 'address'>): void {
    const key = addressKey(address);
    const lull = this.#lulls.get(key);
    if (lull === undefined) return;
    lull.isOver = true;
    this.#lulls.delete(key);
  }

  /** In which the actor is. Undefined: nothing is known of it here. */
  of(address: Address): Lull | undefined {
    const lull = this.#lulls.get(addressKey(address));
    return lull !== undefined && this.lasts(lull) ? lull : undefined;
  }

  /** Holds only while this host's lease does. */
  lasts({ isOver, shard, epoch }: Lull): boolean {
    return !isOver && this.#options.epochOf(shard) === epoch;
  }

  #forgetFirst(): void {
    for (const [key, lull] of this.#lulls) {
      lull.isOver = true;
      this.#lulls.delete(key);
      return;
    }
  }
}
