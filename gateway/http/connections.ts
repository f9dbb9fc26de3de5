/**
 * Counts the open client connections, sockets included, and keeps them below the number of file descriptors of the
 * process. Without a free descriptor, the server could not reach the database or the data directory either. It closes
 * a surplus connection before reading anything from it; open ones go on.
 *
 * Above half of the bound, connections are scarce. Then one network may open no more than its share of them.
 * Connections also end with their answers, so each client must connect again and is counted again. Proxies are
 * exempt: the connections of all clients come from their addresses.
 *
 * Accepts count for seconds only. A connection that is used for longer, by a slow request or as a socket, is held. It
 * counts for its network until that use ends. A network that holds its share opens no more.
 */
import type { Clock } from '../../runtime/clock.ts';
import { Counts } from './counts.ts';
import type { HttpResponse, TemplatedApp } from './uws.ts';

export interface ConnectionsOptions {
  readonly connectionsMax: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The network at the other end; undefined: a proxy. */
  readonly networkOf: (res: HttpResponse) => string | undefined;
  readonly log: { warn(fields: object, message: string): void };
}

/** Nothing to release, because connections of a proxy are not counted. */
const holdsNothing = () => {};

/** The log has one line for all refusals within this time. */
const quietMs = 60_000;
/** The share of all connections that one network may open while they are scarce. */
const networkShare = 1 / 4;

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #accepts: RecentAccepts;
  /** Connections that are held, by network. */
  readonly #held = new Counts();
  readonly #share: number;
  #loggedMs = Number.NEGATIVE_INFINITY;
  open = 0;
  refused = 0;
  /** Connections refused because their network had used its share. */
  refusedByShare = 0;

  constructor(app: Pick<TemplatedApp, 'filter'>, options: ConnectionsOptions) {
    this.#options = options;
    this.#accepts = new RecentAccepts(options.clock, options.connectionsMax);
    this.#share = Math.ceil(options.connectionsMax * networkShare);
    const count = (res: HttpResponse, change: number): void => {
      this.open += change;
      if (change > 0) this.#accept(res);
    };
    app.filter(count);
  }

  /** Whether the connection ends with its answer. */
  endsConnection(res: HttpResponse): boolean {
    return this.#areScarce && this.#options.networkOf(res) !== undefined;
  }

  /** The function it returns ends the hold. */
  hold(res: HttpResponse): () => void {
    const network = this.#options.networkOf(res);
    if (network === undefined) return holdsNothing;
    this.#held.add(network, 1);
    return () => this.#held.add(network, -1);
  }

  /** The library reports the end only of connections that never became sockets. */
  socketClosed(): void {
    this.open -= 1;
  }

  get #areScarce(): boolean {
    return this.open * 2 > this.#options.connectionsMax;
  }

  #accept(res: HttpResponse): void {
    if (this.open > this.#options.connectionsMax) this.#refuse(res);
    else if (this.#areScarce && !this.#isWithinShare(res)) {
      this.refusedByShare += 1;
      this.#refuse(res);
    }
  }

  #isWithinShare(res: HttpResponse): boolean {
    const network = this.#options.networkOf(res);
    if (network === undefined) return true;
    return this.#held.of(network) < this.#share && this.#accepts.take(network, this.#share);
  }

  #refuse(res: HttpResponse): void {
    const { connectionsMax, clock, log } = this.#options;
    this.refused += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#loggedMs >= quietMs) {
      this.#loggedMs = nowMs;
      const { refused, refusedByShare } = this;
      log.warn({ connectionsMax, refused, refusedByShare }, 'too many connections: new ones are closed');
    }
    // The library reports its end like any other, which ends the count.
    res.close();
  }
}

/** Longer than the 14 s after which the library closes an idle connection at the latest. */
export const windowMs = 16_000;

/**
 * Counts the connections that each network has opened in the present window and in the one before it. So a network never has more
 * idle ones open than this count. An exact count is impossible, because the library does not say whose connection ends.
 */
class RecentAccepts {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #networksMax: number;
  #current = new Map<string, number>();
  #previous = new Map<string, number>();
  #turnsMs = 0;

  /** Networks beyond `networksMax` in one window are not counted: a crowd is not one network that takes everything. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, networksMax: number) {
    this.#clock = clock;
    this.#networksMax = networksMax;
  }

  /** Counts one more, unless the network has `share` already. */
  take(network: string, share: number): boolean {
    this.#turn();
    const current = this.#current.get(network) ?? 0;
    if (current + (this.#previous.get(network) ?? 0) >= share) return false;
    if (current > 0 || this.#current.size < this.#networksMax) this.#current.set(network, current + 1);
    return true;
  }

  #turn(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#turnsMs) return;
    this.#previous = nowMs < this.#turnsMs + windowMs ? this.#current : new Map();
    this.#current = new Map();
    this.#turnsMs = nowMs + windowMs;
  }
}
