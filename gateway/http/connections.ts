/**
 * How many connections of clients are open, sockets included, and that there are never more than the process
 * has file descriptors for: without any left, the database and the data directory could not be reached
 * either. One too many is closed before anything is read from it; open ones go on.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { HttpResponse, TemplatedApp } from './uws.ts';

export interface ConnectionsOptions {
  readonly connectionsMax: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: { warn(fields: object, message: string): void };
}

/** One line for all that are refused in this time. */
const quietMs = 60_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  #toldMs = Number.NEGATIVE_INFINITY;
  open = 0;
  refused = 0;

  constructor(app: Pick<TemplatedApp, 'filter'>, options: ConnectionsOptions) {
    this.#options = options;
    const count = (res: HttpResponse, change: number): void => {
      this.open += change;
      if (change > 0 && this.open > options.connectionsMax) this.#refuse(res);
    };
    app.filter(count);
  }

  /** The library reports the end only of those that never became sockets. */
  socketClosed(): void {
    this.open -= 1;
  }

  #refuse(res: HttpResponse): void {
    const { connectionsMax, clock, log } = this.#options;
    this.refused += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#toldMs >= quietMs) {
      this.#toldMs = nowMs;
      log.warn({ connectionsMax, refused: this.refused }, 'too many connections: new ones are closed');
    }
    // Its end is reported like any other, and so it is no longer counted.
    res.close();
  }
}
