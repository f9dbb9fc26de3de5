/**
 * Picks the events worth a line among many equal ones: the first, and then one in each interval with the number of events. While a
 * database is away, thousands of calls fail a second, and a line for each would fill a disk.
 */
import type { Clock } from './clock.ts';

const secondMs = 1_000;
/** Further causes within one interval are counted together. */
const causesMax = 100;
const others = 'others';

interface LoggedCause {
  readonly atMs: number;
  unlogged: number;
}

export class SampledLog {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #everyMs: number;
  readonly #logged = new Map<string, LoggedCause>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, everyMs = secondMs) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** How many events of this cause the next line reports, with this one. Undefined if no line should be written. */
  times(cause: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#logged.has(cause) || this.#hasCapacity(nowMs) ? cause : others;
    const logged = this.#logged.get(known);
    if (logged !== undefined && nowMs - logged.atMs < this.#everyMs) {
      logged.unlogged += 1;
      return undefined;
    }
    this.#logged.set(known, { atMs: nowMs, unlogged: 0 });
    return (logged?.unlogged ?? 0) + 1;
  }

  #hasCapacity(nowMs: number): boolean {
    if (this.#logged.size < causesMax) return true;
    for (const [cause, { atMs }] of this.#logged)
      if (nowMs - atMs >= this.#everyMs) this.#logged.delete(cause);
    return this.#logged.size < causesMax;
  }
}
