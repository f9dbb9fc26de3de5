/** The load of the nemesis against a Service of Kubernetes: devices, people with vaults and files, one history. */
import { join } from 'node:path';
import { check } from '../cluster/checker/checker.ts';
import type { Violation } from '../cluster/checker/violation.ts';
import { finishAll } from '../cluster/finish.ts';
import { History } from '../cluster/history.ts';
import { Circles } from '../cluster/people/circles.ts';
import { Tally } from '../cluster/tally.ts';
import { Workload } from '../cluster/workload.ts';

/** For one attempt. */
const timeoutMs = 10_000;
/** The quota of an account's files: small, so that uploads race for it. */
export const fileBytesMax = 150_000;

export interface LoadOptions {
  readonly url: string;
  readonly folder: string;
  readonly seed: number;
  readonly users: number;
  readonly circles: number;
  /** Between two actions of a device, on average. */
  readonly pauseMs: number;
}

export interface Checked {
  readonly violations: readonly Violation[];
  /** The obstacles that kept devices from finishing. */
  readonly unfinished: readonly string[];
}

export class Load {
  readonly tally = new Tally();
  readonly #history: History;
  readonly #parts: readonly [Workload, Circles];

  private constructor({ url, folder, seed, users, circles, pauseMs }: LoadOptions) {
    this.#history = new History(join(folder, 'history.jsonl'));
    const { tally } = this;
    const common = { gateways: [url], history: this.#history, seed, tally, pauseMs, timeoutMs };
    this.#parts = [
      new Workload({ ...common, users, devicesOfEach: 2 }),
      new Circles({ ...common, circles, limitBytes: fileBytesMax }),
    ];
  }

  static async start(options: LoadOptions): Promise<Load> {
    const load = new Load(options);
    for (const part of load.#parts) await part.open();
    for (const part of load.#parts) part.start();
    return load;
  }

  async finish(): Promise<Checked> {
    const unfinished = await finishAll(this.#parts);
    this.#history.flush();
    return { violations: check(this.#history.entries), unfinished };
  }

  abandon(): void {
    for (const part of this.#parts) part.abandon();
    this.#history.flush();
  }
}
