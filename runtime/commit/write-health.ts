/**
 * Whether the database takes writes, judged by the commits of a host. A full or read-only database still answers reads, and a
 * small write may still find room, so the share of failed commits counts. If there are no more commits, the last one decides
 * until another passes.
 */
import type { Clock } from '../clock.ts';

const periodMs = 10_000;
const failedShareMax = 1 / 10;

interface Period {
  readonly beganMs: number;
  passed: number;
  failed: number;
}

export class WriteHealth {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #current: Period;
  #before: Period;
  #hasLastFailed = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#current = this.#newPeriod();
    this.#before = this.#current;
  }

  passed(): void {
    this.#hasLastFailed = false;
    this.#now().passed += 1;
  }

  /** The database could not take a batch, or the outcome is unknown. */
  failed(): void {
    this.#hasLastFailed = true;
    this.#now().failed += 1;
  }

  get isGood(): boolean {
    const periods = new Set([this.#now(), this.#before]);
    const failed = sum(periods, (period) => period.failed);
    const all = failed + sum(periods, (period) => period.passed);
    return all === 0 ? !this.#hasLastFailed : failed <= all * failedShareMax;
  }

  #now(): Period {
    const endedMs = this.#clock.monotonicMs() - periodMs;
    if (this.#current.beganMs > endedMs) return this.#current;
    this.#before = this.#current.beganMs > endedMs - periodMs ? this.#current : this.#newPeriod();
    this.#current = this.#newPeriod();
    return this.#current;
  }

  #newPeriod(): Period {
    return { beganMs: this.#clock.monotonicMs(), passed: 0, failed: 0 };
  }
}

function sum(periods: Iterable<Period>, of: (period: Period) => number): number {
  let total = 0;
  for (const period of periods) total += of(period);
  return total;
}
