/**
 * How long this host has seen the database without a break.
 *
 * After an outage longer than a lease, every lease is over by database time. The first host that comes back would declare all
 * others dead, although they are about to renew their leases. Only a host that has seen the database for a whole lease knows
 * that the others could have seen it, too.
 */
export class Sight {
  readonly #leaseMs: number;
  #sinceMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /**
   * The database has answered. Call this when a reconciliation begins, and with each of its answers. With a slow database
   * reconciliations take long, and would otherwise never be close enough to each other.
   */
  seen(nowMs: number): void {
    if (nowMs - this.#lastMs > this.#leaseMs / 2) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  /** The database has answered again and again for a whole lease. */
  hasLasted(nowMs: number): boolean {
    return nowMs - this.#lastMs <= this.#leaseMs / 2 && nowMs - this.#sinceMs >= this.#leaseMs;
  }
}
