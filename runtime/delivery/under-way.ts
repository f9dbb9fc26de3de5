/** More rows that failed than this are not remembered: it bounds what a sweep reads. */
const failedMax = 10_000;

/**
 * Rows under way to their actors: none twice, and at most so many at once.
 *
 * Sweeps read from the oldest row on, so rows that cannot be delivered (of a kind this release does not know, of an
 * actor whose state cannot be loaded) would soon be all that a sweep sees. Those that failed are remembered: sweeps
 * read so many more rows, and try them after all others, the one that failed longest ago first.
 */
export class UnderWay {
  readonly #keys = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#keys.size >= this.#max;
  }

  /** False when the row is under way already or there is no room. */
  begin(key: string): boolean {
    if (this.isFull || this.#keys.has(key)) return false;
    this.#keys.add(key);
    return true;
  }

  end(key: string, wasDelivered: boolean): void {
    this.#keys.delete(key);
    this.#failed.delete(key);
    if (wasDelivered) return;
    this.#failed.add(key);
    const [oldest] = this.#failed;
    if (this.#failed.size > failedMax && oldest !== undefined) this.#failed.delete(oldest);
  }

  /** How many rows a sweep is to read to see some that have not failed, if there are any. */
  get rowsToRead(): number {
    return this.#max * 2 + this.#failed.size;
  }

  /** What a sweep has read, in the order to try it. `areAll`: there are no other rows. */
  inOrder<T>(rows: readonly T[], keyOf: (row: T) => string, areAll: boolean): readonly T[] {
    if (this.#failed.size === 0) return rows;
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    const again: T[] = [];
    for (const key of this.#failed) {
      const row = byKey.get(key);
      if (row !== undefined) again.push(row);
      else if (areAll) this.#failed.delete(key);
    }
    return [...rows.filter((row) => !this.#failed.has(keyOf(row))), ...again];
  }
}
