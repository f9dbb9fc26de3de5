/**
 * The connectivity between processes. A cut blocks messages one way or both. Processes that are cut off in both directions find
 * out after a while, as brokers and their clients do by pings. Until then their messages are lost.
 */
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';

export interface Cut {
  readonly from: (process: SimulatedProcess) => boolean;
  readonly to: (process: SimulatedProcess) => boolean;
  readonly bothWays: boolean;
  readonly forMs: number;
  /** When they find out, if ever. */
  readonly noticedAfterMs: number | undefined;
}

interface Lasting extends Cut {
  readonly sinceMs: number;
}

export class Links {
  readonly #time: SimulatedTime;
  #cuts: Lasting[] = [];

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  cut(cut: Cut): void {
    this.#cuts = [...this.#lasting(), { ...cut, sinceMs: this.#time.nowMs }];
  }

  heal(): void {
    this.#cuts = [];
  }

  passes(from: SimulatedProcess, to: SimulatedProcess): boolean {
    return !this.#lasting().some((cut) => hinders(cut, from, to));
  }

  /** Whether brokers know that these two cannot reach each other. */
  isKnownCut(a: SimulatedProcess, b: SimulatedProcess): boolean {
    const { nowMs } = this.#time;
    return this.#lasting().some(
      (cut) =>
        cut.noticedAfterMs !== undefined &&
        nowMs >= cut.sinceMs + cut.noticedAfterMs &&
        (hinders(cut, a, b) || hinders(cut, b, a)),
    );
  }

  #lasting(): Lasting[] {
    if (this.#cuts.length === 0) return this.#cuts;
    const { nowMs } = this.#time;
    this.#cuts = this.#cuts.filter(({ sinceMs, forMs }) => nowMs < sinceMs + forMs);
    return this.#cuts;
  }
}

function hinders({ from, to, bothWays }: Cut, a: SimulatedProcess, b: SimulatedProcess): boolean {
  return (from(a) && to(b)) || (bothWays && from(b) && to(a));
}
