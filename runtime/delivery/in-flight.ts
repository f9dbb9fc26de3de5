/** The most failed or deferred rows that a sweep reads past. It bounds what a sweep reads. */
const passedOverMax = 10_000;
/** The most rows kept while others of their actor are in flight. Later sweeps read the rest again. */
const waitingMax = 1_000;

interface ActorRows<Row> {
  inFlight: number;
  /** Keyed by the key of the row, in the order to try them. */
  readonly waiting: Map<string, Row>;
}

/**
 * Rows on their way to their actors. No row is in flight twice. Their number is bounded in all and for one actor, so that an
 * actor that is stuck leaves room for others. Rows beyond the share of their actor follow when there is room.
 *
 * Sweeps read from the oldest row on. Some rows cannot be delivered, because this release does not know their kind or cannot
 * load the actor's state. A sweep would soon see nothing else. So failed rows are remembered. A sweep reads that many rows
 * more, and tries the failed ones last, beginning with the earliest failure. Likewise a sweep reads past rows that wait for
 * others of their actor.
 */
export class InFlight<Row> {
  /** The actor of each row in flight. */
  readonly #keys = new Map<string, string>();
  readonly #shares = new Map<string, ActorRows<Row>>();
  readonly #failed = new Set<string>();
  #waiting = 0;
  /** The number of rows of the last sweep that found no free slot. */
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

  /** False if the row is in flight already or there is no room. Its actor's share may have room later. */
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

  /** Returns the row that follows in the share of its actor, if there is one. */
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

  /** How many rows that can be tried a sweep should read. */
  get capacity(): number {
    return this.#max * 2;
  }

  /** How many more rows a sweep should read, because that many have failed or wait. */
  get passedOver(): number {
    return this.#failed.size + this.#waiting + Math.min(this.#putOff * 2, passedOverMax);
  }

  /** The rows of a sweep, in the order to try them. `areAll`: there are no other rows. */
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

  #wait(share: ActorRows<Row>, key: string, row: Row): void {
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
