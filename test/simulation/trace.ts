/** What happened, for whoever replays a failing seed. Costs nothing unless it is on. */
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
}
