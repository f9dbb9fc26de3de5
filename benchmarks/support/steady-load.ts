/**
 * An open load: requests start at a steady rate whether or not earlier ones have been answered. So a pause of the
 * server shows as the latency of all requests in it.
 */
import { newItem } from './api-client.ts';
import { median, quantile } from './figures.ts';

export interface SteadyLoadOptions {
  readonly ratePerSecond: number;
  /** The next request. Resolves to its status; rejects when the connection broke. */
  readonly request: (index: number) => Promise<number>;
}

export interface Sample {
  /** Since the load began. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** 0: the connection broke. */
  readonly status: number;
}

const tickMs = 10;

export class SteadyLoad {
  readonly samples: Sample[] = [];
  readonly #options: SteadyLoadOptions;
  readonly #beganAtMs = performance.now();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #started = 0;

  constructor(options: SteadyLoadOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Milliseconds since the load began. */
  get nowMs(): number {
    return performance.now() - this.#beganAtMs;
  }

  /** Resolves when every started request is answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
  }

  #tick(): void {
    const due = (this.nowMs / 1_000) * this.#options.ratePerSecond;
    while (this.#started < due) {
      const one = this.#one(this.#started).finally(() => this.#inFlight.delete(one));
      this.#inFlight.add(one);
      this.#started += 1;
    }
  }

  async #one(index: number): Promise<void> {
    const startedMs = this.nowMs;
    const status = await this.#options.request(index).catch(() => 0);
    this.samples.push({ startedMs, durationMs: this.nowMs - startedMs, status });
  }
}

export interface Summary {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The requests that began in this stretch. */
export function summary(samples: readonly Sample[], fromMs: number, toMs: number): Summary {
  const within = samples.filter(({ startedMs }) => startedMs >= fromMs && startedMs < toMs);
  const durations = within.map(({ durationMs }) => durationMs);
  return {
    requests: within.length,
    failed: within.filter(({ status }) => status !== 200).length,
    p50Ms: median(durations),
    p99Ms: quantile(durations, 0.99),
    maxMs: quantile(durations, 1),
  };
}

/** The syncs before something happened, and those meanwhile. */
export const syncFigures = (before: Summary, meanwhile: Summary): Record<string, number> => ({
  'syncs before, p99 ms': before.p99Ms,
  'syncs meanwhile, p50 ms': meanwhile.p50Ms,
  'syncs meanwhile, p99 ms': meanwhile.p99Ms,
  'syncs meanwhile, p99, times the p99 before': meanwhile.p99Ms / before.p99Ms,
  'syncs meanwhile, the slowest, ms': meanwhile.maxMs,
});

/** Every second request saves an item, the others carry nothing. */
export const mixedItems = (index: number) => (index % 2 === 0 ? [newItem()] : []);
