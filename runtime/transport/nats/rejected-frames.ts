import type { Logger } from '../../ports.ts';
import type { RejectedReason, TransportMetrics } from './metrics.ts';

/** Frames that were not accepted: always counted, and logged once per reason, as there may be many of a kind. */
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
    this.#logger.warn({ reason }, 'a frame was not taken: others like it are counted and not told');
  }
}
