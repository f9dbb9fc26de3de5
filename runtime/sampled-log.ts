/**
 * Picks the events worth a line among many equal ones: the first, and then one a second with the number of events. While a
 * database is away, thousands of calls fail a second, and a line for each would fill a disk.
 */
import type { Clock } from './clock.ts';

const everyMs = 1_000;
/** Further causes within a second are counted together. */
const causesMax = 100;
const others = 'others';

interface Told {
  readonly atMs: number;
  untold: number;
}

export class SampledLog {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #told = new Map<string, Told>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** How many events of this cause a line stands for, with this one. Undefined if no line should be written. */
  times(cause: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#told.has(cause) || this.#hasRoom(nowMs) ? cause : others;
    const told = this.#told.get(known);
    if (told !== undefined && nowMs - told.atMs < everyMs) {
      told.untold += 1;
      return undefined;
    }
    this.#told.set(known, { atMs: nowMs, untold: 0 });
    return (told?.untold ?? 0) + 1;
  }

  #hasRoom(nowMs: number): boolean {
    if (this.#told.size < causesMax) return true;
    for (const [cause, { atMs }] of this.#told) if (nowMs - atMs >= everyMs) this.#told.delete(cause);
    return this.#told.size < causesMax;
  }
}
