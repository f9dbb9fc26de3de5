/**
 * Once the server runs, all output is the log, line by line. That includes what Node and libraries would write
 * themselves, so that a log collector can read all of it.
 */
import { format } from 'node:util';
import type { Logger } from '../runtime/ports.ts';

const consoleLevels = {
  debug: 'info',
  log: 'info',
  info: 'info',
  warn: 'warn',
  trace: 'warn',
  error: 'error',
} as const;

type ConsoleMethod = keyof typeof consoleLevels;

export function captureOutput(
  logger: Logger,
  node: Pick<NodeJS.Process, 'on' | 'removeAllListeners'>,
  console: Pick<Console, ConsoleMethod>,
): void {
  // Node's own listener would write them as text.
  node.removeAllListeners('warning');
  node.on('warning', ({ name, message }) => logger.warn({ warning: name }, message));
  for (const [method, level] of Object.entries(consoleLevels)) {
    console[method as ConsoleMethod] = (...words: unknown[]) =>
      logger[level]({ console: method }, format(...words));
  }
}
