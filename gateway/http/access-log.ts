/**
 * Writes one line per request: method, the route's pattern, status, duration and request id. It never logs the path
 * as sent, the query, a header, an address or a body, as any of them may hold personal data.
 *
 * Ordinary requests are logged at `debug`: at full speed a line each would cost as much as the request. Failures of
 * the server are logged at `warn`, an unexpected error with its stack at `error`. One cause makes many replies
 * with 503 or 504, and a line for each would slow an overloaded server further. So they get one line a second for each
 * cause, or for each route whose handler has refused by itself. Sockets that the server closes without a close frame get one line a
 * minute for each reason: devices fall asleep all the time, and their sockets end as `silent`.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../runtime/clock.ts';
import { loggable } from '../../runtime/errors.ts';
import { SampledLog } from '../../runtime/sampled-log.ts';
import type { AnyRoute } from './route.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

const unavailable: readonly number[] = [503, 504];
const cutEveryMs = 60_000;

export class AccessLog {
  readonly #log: Log;

  readonly #refused: SampledLog;
  readonly #cut: SampledLog;

  constructor(log: Log, clock: Pick<Clock, 'monotonicMs'>) {
    this.#log = log;
    this.#refused = new SampledLog(clock);
    this.#cut = new SampledLog(clock, cutEveryMs);
  }

  answered({
    route,
    status,
    durationMs,
    requestId,
    reason,
  }: {
    readonly route: AnyRoute | undefined;
    readonly status: number;
    readonly durationMs: number;
    readonly requestId: string;
    readonly reason: string | undefined;
  }): void {
    const fields = () => ({ ...subject(route, requestId), status, durationMs: Math.round(durationMs) });
    if (unavailable.includes(status)) {
      const times = this.#refused.times(reason ?? route?.path ?? '');
      if (times !== undefined) this.#log.warn({ ...fields(), reason, times }, 'not answered now');
      return;
    }
    const level = status >= 500 ? 'warn' : 'debug';
    if (this.#log.isLevelEnabled(level)) this.#log[level](fields(), 'request');
  }

  /** The server has closed a socket without a close frame. */
  socketCut(reason: string): void {
    const times = this.#cut.times(reason);
    if (times !== undefined) this.#log.info({ reason, times }, 'socket closed without a close frame');
  }

  failed(route: AnyRoute | undefined, requestId: string, error: unknown): void {
    this.#log.error({ ...subject(route, requestId), error: loggable(error) }, 'request failed unexpectedly');
  }
}

const subject = (route: AnyRoute | undefined, requestId: string) => ({
  requestId,
  method: route?.method,
  route: route?.path,
});
