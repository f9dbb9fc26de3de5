/** More rows that failed, or were put off, than this are not passed over: it bounds what a sweep reads. */
const passedOverMax = 10_000;
/** Rows that are kept while others of their actor are in flight; more are read anew by later sweeps. */
const waitingMax = 1_000;

interface Share<Row> {
  inFlight: number;
  /** By key, in the order to try them. */
  readonly waiting: Map<string, Row>;
}

/**
 * Rows on their way to their actors: none twice, and a bounded number in all and to one actor, so that an actor that is stuck
 * leaves room for others. What an actor has beyond its share follows when there is room.
 *
 * Sweeps read from the oldest row on. Rows that cannot be delivered, because this release does not know their kind or the actor's
 * state cannot be loaded, would soon be all that a sweep sees. So rows that failed are remembered: a sweep reads so many rows
 * more and tries the failed ones last, the one that failed longest ago first. Likewise a sweep reads past rows that wait for
 * others of their actor.
 */
export class InFlight<Row> {
  /** The actor of each. */
  readonly #keys = new Map<string, string>();
  readonly #shares = new Map<string, Share<Row>>();
  readonly #failed = new Set<string>();
  #waiting = 0;
  /** Rows of the last sweep that found the queue full. */
  #putOff = 0;
  readonly #max: number;
  readonly #ofActorMax: number;

  constructor(max: number, ofActorMax: number) {
    this.#max = max;
    this.#ofActorMax = ofActorMax;
  }

  get isFull(): boolean {
    return this.#keys.size >= this.#max;
  }

  /** False when the row is in flight already or there is no room; in its actor's share there may be later. */
  begin(key: string, actor: string, row: Row): boolean {
    if (this.isFull || this.#keys.has(key)) return false;
    const share = this.#shares.get(actor) ?? { inFlight: 0, waiting: new Map<string, Row>() };
    if (share.inFlight >= this.#ofActorMax) {
      this.#wait(share, key, row);
      return false;
    }
    this.#keys.set(key, actor);
    share.inFlight += 1;
    this.#shares.set(actor, share);
    return true;
  }

  /** Gives the row that is to follow in the share of its actor, if there is one. */
  end(key: string, wasDelivered: boolean): Row | undefined {
    this.#failed.delete(key);
    if (!wasDelivered) this.#noteFailed(key);
    const actor = this.#keys.get(key) ?? '';
    this.#keys.delete(key);
    const share = this.#shares.get(actor);
    if (share === undefined) return undefined;
    share.inFlight -= 1;
    const [next] = share.waiting;
    if (next !== undefined) {
      share.waiting.delete(next[0]);
      this.#waiting -= 1;
    } else if (share.inFlight === 0) this.#shares.delete(actor);
    return next?.[1];
  }

  /** How many rows a sweep is to read that can be tried. */
  get room(): number {
    return this.#max * 2;
  }

  /** How many more it is to read, as so many have failed or wait. */
  get passedOver(): number {
    return this.#failed.size + this.#waiting + Math.min(this.#putOff * 2, passedOverMax);
  }

  /** What a sweep has read, in the order to try it. `areAll`: there are no other rows. */
  inOrder(rows: readonly Row[], keyOf: (row: Row) => string, areAll: boolean): readonly Row[] {
    this.#putOff = 0;
    if (this.#failed.size === 0) return rows;
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    const again: Row[] = [];
    for (const key of this.#failed) {
      const row = byKey.get(key);
      if (row !== undefined) again.push(row);
      else if (areAll) this.#failed.delete(key);
    }
    return [...rows.filter((row) => !this.#failed.has(keyOf(row))), ...again];
  }

  forgetWaiting(): void {
    for (const { waiting } of this.#shares.values()) waiting.clear();
    this.#waiting = 0;
  }

  #wait(share: Share<Row>, key: string, row: Row): void {
    if (share.waiting.has(key)) return;
    if (this.#waiting >= waitingMax) {
      this.#putOff += 1;
      return;
    }
    share.waiting.set(key, row);
    this.#waiting += 1;
  }

  #noteFailed(key: string): void {
    this.#failed.add(key);
    const [oldest] = this.#failed;
    if (this.#failed.size > passedOverMax && oldest !== undefined) this.#failed.delete(oldest);
  }
}
