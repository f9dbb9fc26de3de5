/**
 * Whether the other side of a connection moves bytes at a least pace while it is waited for. What it takes us to
 * produce or to use them does not count against it.
 */
import type { Clock } from '../../runtime/clock.ts';

export interface LeastPace {
  /** So many bytes in each such time, the first beginning when the wait does. */
  readonly bytes: number;
  readonly windowMs: number;
}

export class Pace {
  readonly #least: LeastPace;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #bytes = 0;
  /** When the present window began; undefined while nobody waits. */
  #sinceMs: number | undefined;

  constructor(least: LeastPace, clock: Pick<Clock, 'monotonicMs'>) {
    this.#least = least;
    this.#clock = clock;
  }

  /** The other side is waited for, from now on unless it was already. */
  wait(): void {
    if (this.#sinceMs !== undefined) return;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#bytes = 0;
  }

  rest(): void {
    this.#sinceMs = undefined;
  }

  moved(bytes: number): void {
    this.#bytes += bytes;
  }

  /** To be asked about every second. */
  isTooSlow(nowMs: number): boolean {
    if (this.#sinceMs === undefined || nowMs - this.#sinceMs < this.#least.windowMs) return false;
    if (this.#bytes < this.#least.bytes) return true;
    this.#sinceMs = nowMs;
    this.#bytes = 0;
    return false;
  }
}
