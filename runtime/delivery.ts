/** What the delivery of timers and of tells has in common: sweeps, bounded concurrency, attempts. */
import type { Address } from './address.ts';
import type { Clock } from './clock.ts';
import { ActorError, TerminalError } from './errors.ts';
import type { Kind } from './kind.ts';
import type { Limits } from './limits.ts';
import type { Message, Outcome } from './message.ts';
import type { Logger, RuntimeMetrics } from './ports.ts';
import { type Store, StoreError } from './store/store.ts';

export interface DeliveryOptions {
  readonly kinds: readonly Kind[];
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  deliver(address: Address, message: Message): void;
  /** The shards whose rows are this host's to deliver. */
  shards(): readonly number[];
}

/** Milliseconds to wait before attempt `attempts` + 1: one second doubling up to ten minutes. */
export function retryPauseMs(attempts: number): number {
  return Math.min(600_000, 1_000 * 2 ** attempts);
}

/** Whether the turn itself is to blame. What the runtime could not do now is simply tried again at the next sweep. */
export function isFaultOfTurn(error: unknown): boolean {
  return !(error instanceof ActorError) || error instanceof TerminalError;
}

/** Runs `sweep` now and again, sooner when asked, never twice at once. */
export class Sweeper {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #sweep: () => Promise<number>;
  #cancel: () => void = () => {};
  #nextAtMs = Number.POSITIVE_INFINITY;
  #running = false;
  #stopped = true;

  /** `sweep` resolves to the milliseconds until it wants to run again. */
  constructor(options: Pick<DeliveryOptions, 'clock' | 'logger'>, sweep: () => Promise<number>) {
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

  /** Makes sure of a sweep within `delayMs`. */
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
      this.#logger.warn({ failure: error.failure }, 'a sweep failed; it will be tried again');
    } finally {
      this.#running = false;
    }
    this.within(againMs);
  }
}

/** More rows that failed than this are not remembered: it bounds what a sweep reads. */
const failedMax = 10_000;

/**
 * Rows under way to their actors: none twice, and at most so many at once.
 *
 * Sweeps read from the oldest row on, so rows that cannot be delivered (of a kind this release does not know, of an
 * actor whose state cannot be loaded) would soon be all that a sweep sees. Those that failed are remembered: sweeps
 * read so many more rows, and try them after all others, the one that failed longest ago first.
 */
export class UnderWay {
  readonly #keys = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#keys.size >= this.#max;
  }

  /** False when the row is under way already or there is no room. */
  begin(key: string): boolean {
    if (this.isFull || this.#keys.has(key)) return false;
    this.#keys.add(key);
    return true;
  }

  end(key: string, wasDelivered: boolean): void {
    this.#keys.delete(key);
    this.#failed.delete(key);
    if (wasDelivered) return;
    this.#failed.add(key);
    const [oldest] = this.#failed;
    if (this.#failed.size > failedMax && oldest !== undefined) this.#failed.delete(oldest);
  }

  /** How many rows a sweep is to read to see some that have not failed, if there are any. */
  get rowsToRead(): number {
    return this.#max * 2 + this.#failed.size;
  }

  /** What a sweep has read, in the order to try it. `areAll`: there are no other rows. */
  inOrder<T>(rows: readonly T[], keyOf: (row: T) => string, areAll: boolean): readonly T[] {
    if (this.#failed.size === 0) return rows;
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    const again: T[] = [];
    for (const key of this.#failed) {
      const row = byKey.get(key);
      if (row !== undefined) again.push(row);
      else if (areAll) this.#failed.delete(key);
    }
    return [...rows.filter((row) => !this.#failed.has(keyOf(row))), ...again];
  }
}

export function outcomeOf(run: (settle: (outcome: Outcome) => void) => void): Promise<Outcome> {
  return new Promise((resolve) => run(resolve));
}
