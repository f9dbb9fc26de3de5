/**
 * Whether the other side of a connection moves bytes at a minimum throughput while we wait for it. The time that we take to
 * produce or use them does not count against it.
 */
import type { Clock } from '../../runtime/clock.ts';

export interface MinimumThroughput {
  /** This many bytes in each window, the first starting with the wait. */
  readonly bytes: number;
  readonly windowMs: number;
}

export class ThroughputWatch {
  readonly #least: MinimumThroughput;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #bytes = 0;
  /** When the present window began. Undefined while this side does not wait. */
  #sinceMs: number | undefined;

  constructor(least: MinimumThroughput, clock: Pick<Clock, 'monotonicMs'>) {
    this.#least = least;
    this.#clock = clock;
  }

  /** We wait for the other side, from now on unless we already did. */
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

  /** Call about every second. */
  isTooSlow(nowMs: number): boolean {
    if (this.#sinceMs === undefined || nowMs - this.#sinceMs < this.#least.windowMs) return false;
    if (this.#bytes < this.#least.bytes) return true;
    this.#sinceMs = nowMs;
    this.#bytes = 0;
    return false;
  }
}
