/**
 * Since when this host has seen the database without a break.
 *
 * After an outage that was longer than a lease, every lease is over by database time. The first host that came back would declare
 * all others dead that are about to renew theirs. Only a host that has seen the database for a whole lease knows that the others
 * could have seen it, too.
 */
export class Sight {
  readonly #leaseMs: number;
  #sinceMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /**
   * The database has answered. Told when a reconciliation began, and of its answers as they come: with a slow database
   * reconciliations take long, and would else never be close enough to each other.
   */
  seen(nowMs: number): void {
    if (nowMs - this.#lastMs > this.#leaseMs / 2) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  /** It has answered again and again for a lease. */
  hasLasted(nowMs: number): boolean {
    return nowMs - this.#lastMs <= this.#leaseMs / 2 && nowMs - this.#sinceMs >= this.#leaseMs;
  }
}
