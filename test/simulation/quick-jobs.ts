/** A client of counters that has quick work done, one piece after another, beside those whose work hangs. */
import type { SeededRandom } from '../kit/random.ts';
import type { History } from './checkers/history.ts';
import type { QuickJobChecker } from './checkers/quick-jobs.ts';
import type { Gateway } from './gateway.ts';
import type { SimulatedTime } from './time.ts';

export interface QuickJobClientOptions {
  readonly counters: readonly string[];
  readonly gateway: Gateway;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly history: History;
  readonly quickJobs: QuickJobChecker;
}

const thinkMs = 1_000;
const patienceMs = 5_000;

export class QuickJobClient {
  readonly #options: QuickJobClientOptions;

  constructor(options: QuickJobClientOptions) {
    this.#options = options;
  }

  async work(untilMs: number): Promise<void> {
    const { time, random } = this.#options;
    for (let call = 1; time.nowMs < untilMs; call += 1) {
      await this.#send(`quick.${call}`);
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** The checkers judge the outcome. */
  async finish(): Promise<undefined> {}

  async #send(op: string): Promise<void> {
    const { random, history, gateway, quickJobs, counters } = this.#options;
    const counter = random.pick(counters);
    const call = history.begin({ op, counter, what: 'startQuickJob', recordedIn: 'journal' });
    const address = { kind: 'counter', id: counter };
    const request = { op, name: op };
    const { outcome } = await gateway.ask(
      { address, command: 'startQuickJob', request, callId: op },
      patienceMs,
    );
    history.end(call, outcome);
    if (outcome === 'done') quickJobs.started(op, counter);
  }
}
