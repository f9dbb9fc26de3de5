import type { Logger } from '../../ports.ts';
import type { RejectedReason, TransportMetrics } from './metrics.ts';

/** What an operator makes of a reason that may need one. */
const meanings: Partial<Record<RejectedReason, string>> = {
  version: 'a process of another release, which this one cannot talk to',
  mac: 'somebody who is no process of this cluster speaks to its NATS',
  stale: 'the clocks of two machines differ by minutes, or somebody sends old messages again',
};

/** What came and was not taken: always counted, and told once for each reason, as there may be many of a kind. */
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
