import type { Clock } from '../clock.ts';
import type { Logger } from '../ports.ts';
import { StoreError } from '../store/store.ts';

/** Runs `sweep` now and again, sooner on request, and never twice at once. */
export class SweepLoop {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #sweep: () => Promise<number>;
  #cancel: () => void = () => {};
  #nextAtMs = Number.POSITIVE_INFINITY;
  #running = false;
  #stopped = true;

  /** `sweep` resolves to the milliseconds until its next run. */
  constructor(options: { readonly clock: Clock; readonly logger: Logger }, sweep: () => Promise<number>) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#sweep = sweep;
  }

  start(): void {
    this.#stopped = false;
    this.within(0);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Makes sure that a sweep runs within `delayMs`. */
  within(delayMs: number): void {
    const atMs = this.#clock.monotonicMs() + Math.max(0, delayMs);
    if (this.#stopped || atMs >= this.#nextAtMs) return;
    this.#cancel();
    this.#nextAtMs = atMs;
    this.#cancel = this.#clock.schedule(Math.max(0, delayMs), () => void this.#run());
  }

  async #run(): Promise<void> {
    if (this.#running) {
      this.#nextAtMs = Number.POSITIVE_INFINITY;
      this.within(10);
      return;
    }
    this.#running = true;
    this.#nextAtMs = Number.POSITIVE_INFINITY;
    let againMs = 1_000;
    try {
      againMs = await this.#sweep();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // At the end the store closes while a sweep may still run.
      if (!this.#stopped) {
        this.#logger.warn({ failure: error.failure }, 'a sweep failed; it will be tried again');
      }
    } finally {
      this.#running = false;
    }
    this.within(againMs);
  }
}
