import type { Clock } from '../../runtime/clock.ts';

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/**
 * A clock that stands still until a test moves it. Both its clocks move together unless the test sets the wall clock.
 */
export class FakeClock implements Clock {
  #monotonicMs = 0;
  #wallAheadMs: number;
  #order = 0;
  readonly #scheduled = new Set<Scheduled>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#wallAheadMs = startMs;
  }

  nowMs(): number {
    return Math.floor(this.#monotonicMs + this.#wallAheadMs);
  }

  nowMicros(): number {
    return Math.floor((this.#monotonicMs + this.#wallAheadMs) * 1_000);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  schedule(delayMs: number, fire: () => void): () => void {
    this.#order += 1;
    const entry = { atMs: this.#monotonicMs + Math.max(0, delayMs), order: this.#order, fire };
    this.#scheduled.add(entry);
    return () => this.#scheduled.delete(entry);
  }

  /** The number of waiting timers. */
  get timers(): number {
    return this.#scheduled.size;
  }

  /** Moves the wall clock alone, as an operator or a time server would. */
  jumpWall(byMs: number): void {
    this.#wallAheadMs += byMs;
  }

  /** Moves time and fires due timers in order. After each, everything that follows from it runs before the next. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#monotonicMs + byMs;
    await drainPromises();
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#scheduled.delete(next);
      this.#monotonicMs = Math.max(this.#monotonicMs, next.atMs);
      next.fire();
      await drainPromises();
    }
    this.#monotonicMs = untilMs;
  }

  /**
   * Moves time at once, as if the process had been suspended. Everything that fell due meanwhile fires once, in
   * order; repeating timers have missed all other times.
   */
  async leap(byMs: number): Promise<void> {
    await drainPromises();
    this.#monotonicMs += byMs;
    await this.advance(0);
  }

  #next(untilMs: number): Scheduled | undefined {
    let first: Scheduled | undefined;
    for (const entry of this.#scheduled) {
      if (entry.atMs > untilMs) continue;
      if (
        first === undefined ||
        entry.atMs < first.atMs ||
        (entry.atMs === first.atMs && entry.order < first.order)
      ) {
        first = entry;
      }
    }
    return first;
  }
}

/** Lets every promise continue that needs neither time nor the outside world. */
export async function drainPromises(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
