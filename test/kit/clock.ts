import type { Clock } from '../../runtime/clock.ts';

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that stands still until it is told to move. Both its clocks move together unless the wall is set. */
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

  /** How many timers wait. */
  get timers(): number {
    return this.#scheduled.size;
  }

  /** Moves the wall clock alone, as an operator or a time server would. */
  jumpWall(byMs: number): void {
    this.#wallAheadMs += byMs;
  }

  /**
   * Moves time, firing what falls due in its order, and lets everything that follows from each firing run before
   * the next.
   */
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
   * Moves time at once, as over a process that was suspended: what fell due meanwhile fires once, in its order, and
   * what repeats itself every second has missed all the others.
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

/** Lets every promise that can go on without time or the outside world do so. */
export async function drainPromises(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
