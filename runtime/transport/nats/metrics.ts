import type { Registry } from 'prom-client';
import { meterOf } from '../../meter.ts';
import type { Logger } from '../../ports.ts';
import type { FrameError, FrameKind } from './frame.ts';

/** What the transport counts. Labels are kinds and reasons, never ids. */
export interface TransportMetrics {
  frame(direction: 'in' | 'out', kind: FrameKind): void;
  rejected(reason: RejectedReason): void;
  /** A call ended without an answer. */
  unknownOutcome(): void;
  disconnected(connection: ConnectionName): void;
  wakeFailed(): void;
}

/**
 * `mac`: no process of this cluster sent it there. `stale`: it was sent too long ago, by one of the two clocks. `expired`: it
 * came when its caller no longer waited. `undeliverable`: NATS did not take it.
 */
export type RejectedReason = FrameError['reason'] | 'shard-count' | 'expired' | 'undeliverable';
export type ConnectionName = 'control' | 'bulk';

export const noTransportMetrics: TransportMetrics = {
  frame() {},
  rejected() {},
  unknownOutcome() {},
  disconnected() {},
  wakeFailed() {},
};

/** Read when metrics are collected. */
export interface TransportGauges {
  readonly isConnected: boolean;
  /** Whether actors run here. */
  readonly isServing: boolean;
  readonly isWakeStreamAvailable: boolean;
  readonly callsInFlight: number;
  readonly heldBytes: number;
}

/** In Prometheus form. `gauges` gives undefined before the transport is open. */
export function prometheusTransportMetrics(
  registry: Registry,
  gauges: () => TransportGauges | undefined,
): TransportMetrics {
  const { collectedCounter, counter, gauge: anyGauge } = meterOf(registry);
  const gauge = (name: string, help: string, read: (now: TransportGauges) => number | undefined) =>
    anyGauge(name, help, () => {
      const now = gauges();
      return now === undefined ? 0 : read(now);
    });
  gauge('scriptorium_transport_connected', 'Whether this process reaches NATS', (now) =>
    Number(now.isConnected),
  );
  // A gateway has no wake-ups, so there is nothing to alert on.
  gauge('scriptorium_transport_wake_stream_available', 'Whether wake-ups go over JetStream', (now) =>
    now.isServing ? Number(now.isWakeStreamAvailable) : undefined,
  );
  gauge(
    'scriptorium_transport_calls_in_flight',
    'Calls to other processes that wait for an answer',
    (now) => now.callsInFlight,
  );
  gauge('scriptorium_transport_held_bytes', 'Large messages that wait to be fetched', (now) => now.heldBytes);
  // Finding a counter by its labels costs as much as a frame.
  const frames = { in: new Map<string, number>(), out: new Map<string, number>() };
  collectedCounter(
    'scriptorium_transport_frames_total',
    'Frames by direction and kind',
    ['direction', 'kind'],
    (reported) => {
      for (const [direction, counts] of Object.entries(frames)) {
        for (const [kind, count] of counts) reported.inc({ direction, kind }, count);
      }
    },
  );
  const rejected = counter(
    'scriptorium_transport_rejected_frames_total',
    'Frames that were not taken, by reason',
    ['reason'],
  );
  const unknown = counter(
    'scriptorium_transport_unknown_outcomes_total',
    'Calls to other processes that were not answered',
  );
  const lost = counter('scriptorium_transport_disconnects_total', 'Connections to NATS that were lost', [
    'connection',
  ]);
  const wakes = counter(
    'scriptorium_transport_failed_wakes_total',
    'Wake-ups that did not go out, or were not delivered',
  );
  return {
    frame(direction, kind) {
      const counts = frames[direction];
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    },
    rejected: (reason) => rejected.inc({ reason }),
    unknownOutcome: () => unknown.inc(),
    disconnected: (connection) => lost.inc({ connection }),
    wakeFailed: () => wakes.inc(),
  };
}

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
  readonly #logged = new Set<RejectedReason>();

  constructor(metrics: TransportMetrics, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  count(reason: RejectedReason): void {
    this.#metrics.rejected(reason);
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    const meaning = meanings[reason];
    this.#logger.warn(
      { reason, ...(meaning !== undefined && { meaning }) },
      'a frame was not taken: others like it are counted and not told',
    );
  }
}
