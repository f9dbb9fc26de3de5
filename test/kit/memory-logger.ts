/** A log that a test can search. It writes out errors and their causes. */
import type { Logger } from '../../runtime/ports.ts';

export function memoryLogger() {
  const lines: string[] = [];
  const write = (fields: object, message: string) =>
    void lines.push(`${JSON.stringify(fields)} ${Object.values(fields).map(String)} ${message}`);
  return { lines, logger: { info: write, warn: write, error: write } satisfies Logger };
}
