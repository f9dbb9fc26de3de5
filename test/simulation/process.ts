/**
 * One run of a host's process: its clocks, and the door through which everything outside reaches it. Nothing enters
 * a paused process until it goes on, and nothing ever enters a dead one.
 *
 * A `stopped` process finds on waking that both its clocks have gone on; a `suspended` one (its machine slept) that
 * its monotonic clock stood still and its wall clock did not.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { SimulatedTime } from './time.ts';

export const startOfTimeMs = Date.UTC(2026, 0, 1);

export class SimulatedProcess implements Clock {
  readonly name: string;
  readonly #time: SimulatedTime;
  readonly #wallSkewMs: number;
  #state: 'running' | 'paused' | 'dead' = 'running';
  #waiting: (() => void)[] = [];
  #pausedAtMs = 0;
  #suspended = false;
  #sleptMs = 0;

  constructor(name: string, time: SimulatedTime, wallSkewMs: number) {
    this.name = name;
    this.#time = time;
    this.#wallSkewMs = wallSkewMs;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  get pausedForMs(): number {
    return this.isPaused ? this.#time.nowMs - this.#pausedAtMs : 0;
  }

  enter(what: () => void): void {
    if (this.#state === 'running') what();
    else if (this.#state === 'paused') this.#waiting.push(what);
  }

  pause(suspended: boolean): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#suspended = suspended;
    this.#pausedAtMs = this.#time.nowMs;
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    if (this.#suspended) this.#sleptMs += this.#time.nowMs - this.#pausedAtMs;
    for (const what of this.#waiting.splice(0)) this.#time.after(0, () => this.enter(what));
  }

  kill(): void {
    this.#state = 'dead';
    this.#waiting = [];
  }

  nowMs(): number {
    return Math.floor(this.#wallMs());
  }

  nowMicros(): number {
    return Math.floor(this.#wallMs() * 1_000);
  }

  monotonicMs(): number {
    return this.#time.nowMs - this.#sleptMs;
  }

  schedule(delayMs: number, fire: () => void): () => void {
    let cancelled = false;
    // A callback that waits at the door of a paused process can still be cancelled from inside.
    const cancel = this.#time.after(delayMs, () => this.enter(() => cancelled || fire()));
    return () => {
      cancelled = true;
      cancel();
    };
  }

  #wallMs(): number {
    return startOfTimeMs + this.#time.nowMs + this.#wallSkewMs;
  }
}
