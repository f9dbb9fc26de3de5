/**
 * One line per request: method, the route's pattern, status, duration and request id. Never the path as sent, the
 * query, a header, an address or a body, as any of them may hold what belongs to a person.
 *
 * Ordinary requests are logged at `debug`: at full speed a line each would cost as much as the request. What failed
 * on the server's side is logged at `warn`, an unexpected error with its stack at `error`.
 */
import type { Logger } from 'pino';
import { loggable } from '../../runtime/errors.ts';
import type { AnyRoute } from './route.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

export class AccessLog {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  answered(route: AnyRoute | undefined, status: number, durationMs: number, requestId: string): void {
    const level = status >= 500 ? 'warn' : 'debug';
    if (!this.#log.isLevelEnabled(level)) return;
    this.#log[level]({ ...subject(route, requestId), status, durationMs: Math.round(durationMs) }, 'request');
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
