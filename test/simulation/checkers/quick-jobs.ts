/** A quick job runs soon after its start, however long the runs of another job hang. */

import { recoveryMs } from '../storage-faults.ts';
import type { SimulatedTime } from '../time.ts';
import type { Report } from './checker.ts';
import type { Durable } from './durable.ts';

/** Not longer: a host that is well at both ends was so in between. */
const delayMaxMs = recoveryMs;

export class QuickJobChecker {
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #time: SimulatedTime;
  #healthyHostOf: (counter: string) => string | undefined = () => undefined;

  constructor(report: Report, durable: Durable, time: SimulatedTime) {
    this.#report = report;
    this.#durable = durable;
    this.#time = time;
  }

  /** `healthyHostOf`: the host of a counter, unless something is wrong with it. */
  watch(healthyHostOf: (counter: string) => string | undefined): void {
    this.#healthyHostOf = healthyHostOf;
  }

  started(op: string, counter: string): void {
    const host = this.#healthyHostOf(counter);
    if (host === undefined) return;
    this.#time.after(delayMaxMs, () => {
      if (this.#healthyHostOf(counter) !== host) return;
      const journal =
        this.#durable.slice<readonly string[]>({ kind: 'counter', id: counter }, 'journal') ?? [];
      if (!journal.includes(`ran:${op}`))
        this.#report(`${op} at ${counter} did not run within ${delayMaxMs} ms`);
    });
  }
}
