/**
 * One run of a process: its clocks, and the gate through which everything outside reaches it. Nothing enters a paused
 * process until it resumes, and nothing ever enters a dead one.
 *
 * When a `stopped` process wakes, both its clocks have gone on. When a `suspended` one wakes (its machine slept), its
 * monotonic clock and its timers stood still and its wall clock did not.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { SimulatedTime } from './time.ts';

export const startOfTimeMs = Date.UTC(2026, 0, 1);

/** A timer is never early by more than this, the possible rounding error. */
const roundingMs = 1e-3;

export interface ProcessClocks {
  readonly wallSkewMs: number;
  /** How fast the monotonic clock runs. */
  readonly rate: number;
}

export class SimulatedProcess implements Clock {
  readonly name: string;
  readonly #time: SimulatedTime;
  readonly #rate: number;
  #wallOffsetMs: number;
  #state: 'running' | 'paused' | 'dead' = 'running';
  #waiting: (() => void)[] = [];
  #whenDead: (() => void)[] = [];
  #pausedAtMs = 0;
  #suspended = false;
  #sleptMs: number;

  constructor(name: string, time: SimulatedTime, { wallSkewMs, rate }: ProcessClocks) {
    this.name = name;
    this.#time = time;
    this.#wallOffsetMs = wallSkewMs;
    this.#rate = rate;
    this.#sleptMs = time.nowMs;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  get isRunning(): boolean {
    return this.#state === 'running';
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
    for (const tell of this.#whenDead.splice(0)) tell();
  }

  /** Notifies those outside who wait for something from it. */
  onDeath(tell: () => void): void {
    if (this.isDead) tell();
    else this.#whenDead.push(tell);
  }

  /** Somebody sets the wall clock. */
  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  nowMs(): number {
    return Math.floor(this.#wallMs());
  }

  nowMicros(): number {
    return Math.floor(this.#wallMs() * 1_000);
  }

  monotonicMs(): number {
    return (this.#time.nowMs - this.#sleptMs) * this.#rate;
  }

  schedule(delayMs: number, fire: () => void): () => void {
    const dueMs = this.monotonicMs() + Math.max(0, delayMs);
    let cancelled = false;
    let cancel = () => {};
    const wait = () => {
      const leftMs = dueMs - this.monotonicMs();
      cancel = this.#time.after(leftMs / this.#rate, () => this.enter(arrived));
    };
    // A callback that waits at the gate of a paused process can still be cancelled from inside.
    const arrived = () => {
      if (cancelled) return;
      if (dueMs - this.monotonicMs() > roundingMs) wait();
      else fire();
    };
    wait();
    return () => {
      cancelled = true;
      cancel();
    };
  }

  #wallMs(): number {
    return startOfTimeMs + this.#time.nowMs + this.#wallOffsetMs;
  }
}
