/**
 * Hints to all processes and events to one gateway. Either may be lost: reconciliation with the database and the gateways'
 * registrations make up for them. This process hears its own hints at once, and not again from the broker. Hints of one process
 * come in order, so a hint that comes again is a replay and is dropped. A hint that was true once would unroute shards until
 * the next reconciliation.
 */
import type { GatewayListener, Hint, HostEvent } from '../transport.ts';
import type { ClusterConnection } from './connection.ts';
import { decodeFrameOf, encodeFrame, type Frame, FrameError, type FrameKind, type FrameOf } from './frame.ts';
import type { RejectedFrames, TransportMetrics } from './metrics.ts';

export interface HintsAndEventsOptions {
  readonly connection: ClusterConnection;
  readonly hintSubject: string;
  readonly gatewaySubject: (gateway: string) => string;
  readonly incarnation: string;
  readonly metrics: TransportMetrics;
  readonly rejected: RejectedFrames;
  /** Called for every hint, also for those that this process sends. */
  readonly onHint: (hint: Hint) => void;
}

/** More processes than a cluster ever has. */
const processesMax = 1_024;

export class HintsAndEvents {
  readonly #options: HintsAndEventsOptions;
  #hints = 0;
  /** The number of the last hint of each other process. */
  readonly #lastHints = new Map<string, number>();
  readonly #gateways = new Map<string, GatewayListener>();

  constructor(options: HintsAndEventsOptions) {
    this.#options = options;
    options.connection.subscribe(options.hintSubject, {
      take: ({ data }) =>
        this.#received(data, 'hint', ({ from, number, hint }) => {
          if (from === options.incarnation) return;
          this.#requireNext(from, number);
          this.#tell(hint);
        }),
    });
  }

  hint(hint: Hint): void {
    const { hintSubject, incarnation } = this.#options;
    this.#tell(hint);
    this.#hints += 1;
    const number = this.#hints;
    this.#publish(hintSubject, { kind: 'hint', from: incarnation, number, hint: writable(hint) });
  }

  publish(gateway: string, event: HostEvent): void {
    const here = this.#gateways.get(gateway);
    if (here !== undefined) here.event(event);
    else
      this.#publish(this.#options.gatewaySubject(gateway), { kind: 'event', ...event, event: event.event });
  }

  listen(gateway: string, listener: GatewayListener): () => void {
    const { connection, gatewaySubject } = this.#options;
    this.#gateways.set(gateway, listener);
    const unsubscribe = connection.subscribe(gatewaySubject(gateway), {
      take: ({ data }) => this.#received(data, 'event', ({ kind: _, ...event }) => listener.event(event)),
    });
    return () => {
      unsubscribe();
      this.#gateways.delete(gateway);
    };
  }

  /** Call when the connection is back. */
  reconnected(): void {
    for (const listener of this.#gateways.values()) listener.reconnected();
  }

  /** @throws FrameError */
  #requireNext(from: string, number: number): void {
    const last = this.#lastHints.get(from) ?? 0;
    if (number <= last) throw new FrameError('stale', 'a hint that has come before');
    // The process that has been silent for the longest is forgotten first.
    this.#lastHints.delete(from);
    this.#lastHints.set(from, number);
    const [oldest] = this.#lastHints.keys();
    if (this.#lastHints.size > processesMax && oldest !== undefined) this.#lastHints.delete(oldest);
  }

  #tell(hint: Hint): void {
    this.#options.onHint(hint);
    for (const listener of this.#gateways.values()) listener.hinted(hint);
  }

  #publish(subject: string, frame: Frame): void {
    const { connection, metrics, rejected } = this.#options;
    try {
      connection.publish(subject, encodeFrame(frame));
      metrics.frame('out', frame.kind);
    } catch {
      rejected.count('undeliverable');
    }
  }

  #received<K extends FrameKind>(data: Uint8Array, kind: K, take: (frame: FrameOf<K>) => void): void {
    const { metrics, rejected } = this.#options;
    try {
      const frame = decodeFrameOf(data, kind);
      metrics.frame('in', kind);
      take(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      rejected.count(error.reason);
    }
  }
}

const writable = (hint: Hint): FrameOf<'hint'>['hint'] =>
  'shards' in hint ? { ...hint, shards: [...hint.shards] } : hint;
