/** Clients of counters that do slow work: jobs of few names, started again while they run, and stopped. */
import type { SeededRandom } from '../kit/random.ts';
import type { History } from './checkers/history.ts';
import type { Gateway } from './gateway.ts';
import { startOfTimeMs } from './process.ts';
import type { SimulatedTime } from './time.ts';

export interface SlowJobClientOptions {
  readonly name: string;
  readonly counters: readonly string[];
  readonly gateway: Gateway;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly history: History;
  /** Most of the work hangs. */
  readonly hangs: boolean;
}

const names = ['x', 'y'];
/** One host that runs one job at a time finishes all of them before the simulation gives up. */
const callsMax = 12;
const thinkMs = 500;
const hangMs = 6_000;

export class SlowJobClient {
  readonly #options: SlowJobClientOptions;
  #calls = 0;

  constructor(options: SlowJobClientOptions) {
    this.#options = options;
  }

  async work(untilMs: number): Promise<void> {
    const { time, random } = this.#options;
    while (this.#calls < callsMax && time.nowMs < untilMs) {
      await this.#startOrStop();
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** The checkers judge the outcome of the jobs. */
  async finish(): Promise<undefined> {}

  #startOrStop(): Promise<void> {
    const { random, time, counters } = this.#options;
    const name = random.pick([...names, `of-${this.#calls}`]);
    if (random.chance(0.1)) return this.#request('stopSlowJob', { name });
    const nowMs = Math.floor(startOfTimeMs + time.nowMs);
    return this.#request('startSlowJob', {
      name,
      to: random.pick(counters),
      workMs: random.pick([5, 100, 500, 1_500]),
      trouble: { untilMs: random.chance(0.15) ? nowMs + random.below(4_000) : 0 },
      slow: { untilMs: nowMs + this.#slowForMs() },
    });
  }

  /** A run that begins within this time takes longer than it may. */
  #slowForMs(): number {
    const { random, hangs } = this.#options;
    if (hangs) return random.chance(0.6) ? hangMs : 0;
    return random.chance(0.1) ? random.below(1_000) : 0;
  }

  async #request(command: string, fields: object): Promise<void> {
    const { name, random, history, gateway, counters } = this.#options;
    this.#calls += 1;
    const op = `${name}.${this.#calls}`;
    const counter = random.pick(counters);
    const call = history.begin({ op, counter, what: command, recordedIn: 'journal' });
    const ask = {
      address: { kind: 'counter', id: counter },
      command,
      request: { op, ...fields },
      callId: op,
    };
    const { outcome } = await gateway.ask(ask, random.pick([700, 3_000, 9_000]));
    history.end(call, outcome);
  }
}
