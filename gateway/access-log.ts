/**
 * One line per request: method, the route's pattern, status, duration and request id. Never the path as sent, the
 * query, a header, an address or a body, as any of them may hold what belongs to a person.
 *
 * Ordinary requests are logged at `debug`: at full speed a line each would cost as much as the request. What failed
 * on the server's side is logged at `warn`, an unexpected error with its stack at `error`.
 */
import type { Logger } from 'pino';
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
    this.#log.error({ ...subject(route, requestId), error: describe(error) }, 'request failed unexpectedly');
  }
}

const subject = (route: AnyRoute | undefined, requestId: string) => ({
  requestId,
  method: route?.method,
  route: route?.path,
});

/** Name, message and stack only: drivers hang values of the failed statement on their errors. */
function describe(error: unknown): { name: string; message: string; stack: string | undefined } {
  if (!(error instanceof Error)) return { name: typeof error, message: 'not an Error', stack: undefined };
  return { name: error.name, message: error.message, stack: error.stack };
}
