import type { Logger } from '../../runtime/ports.ts';

/** The events, for somebody who replays a failing seed. Costs nothing unless it is on. */
export class Trace {
  readonly #nowMs: () => number;
  readonly #on: boolean;
  readonly lines: string[] = [];

  constructor(on: boolean, nowMs: () => number) {
    this.#on = on;
    this.#nowMs = nowMs;
  }

  add(line: () => string): void {
    if (this.#on) this.lines.push(`${this.#nowMs().toFixed(1).padStart(9)}  ${line()}`);
  }

  /** Includes the log of a process. */
  loggerOf(name: string): Logger {
    const log = (fields: object, message: string) =>
      this.add(() => `${name} logs: ${message} ${JSON.stringify(fields)}`);
    return { info: log, warn: log, error: log };
  }
}
