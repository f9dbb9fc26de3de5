import type { Logger } from '../../ports.ts';
import type { RejectedReason, TransportMetrics } from './metrics.ts';

/** Explanations for operators, for the reasons that need them. */
const meanings: Partial<Record<RejectedReason, string>> = {
  version: 'a process of another release, which this one cannot talk to',
  mac: 'something outside this cluster publishes to its NATS',
  stale: 'the clocks of two machines differ by minutes, or old messages are replayed',
};

/** Rejected messages. Each is counted, and each reason is logged only once, because there may be many. */
export class RejectedFrames {
  readonly #metrics: TransportMetrics;
  readonly #logger: Logger;
  readonly #told = new Set<RejectedReason>();

  constructor(metrics: TransportMetrics, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  count(reason: RejectedReason): void {
    this.#metrics.rejected(reason);
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    const meaning = meanings[reason];
    this.#logger.warn(
      { reason, ...(meaning !== undefined && { meaning }) },
      'a frame was not taken: others like it are counted and not told',
    );
  }
}
