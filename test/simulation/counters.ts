/** Clients of the counters: appends, tallies, names, transfers by tells, timers, and readings of all of these. */
import type { SeededRandom } from '../kit/random.ts';
import type { Call, History } from './checkers/history.ts';
import type { StalenessChecker } from './checkers/staleness.ts';
import type { Ask, CallOutcome, Gateway } from './gateway.ts';
import { startOfTimeMs } from './process.ts';
import type { SimulatedTime } from './time.ts';

export interface CounterClientOptions {
  readonly name: string;
  readonly counters: readonly string[];
  readonly gateway: Gateway;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly history: History;
  readonly staleness: StalenessChecker;
  readonly thinkMs: number;
  readonly callsMax: number;
  readonly patienceMs: number;
}

const names = ['x', 'y', 'z'];
const finalMs = 10_000;
const finalTries = 20;

export class CounterClient {
  readonly #options: CounterClientOptions;
  #calls = 0;
  #callCount = 0;

  constructor(options: CounterClientOptions) {
    this.#options = options;
  }

  async work(untilMs: number): Promise<void> {
    const { time, random, thinkMs, callsMax } = this.#options;
    for (let count = 0; count < callsMax && time.nowMs < untilMs; count += 1) {
      await this.#doSomething();
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** Once everything is at rest, every counter still answers, with everything that was acknowledged. */
  async finish(): Promise<string | undefined> {
    for (const counter of this.#options.counters) {
      for (const command of ['read', 'peek'] as const) {
        const outcome = await this.#options.gateway.askUntilDone(
          this.#reading(counter, command, 0),
          finalMs,
          finalTries,
        );
        if (outcome.outcome !== 'done') return `${command} of ${counter}: ${outcome.error}`;
      }
    }
    return undefined;
  }

  #doSomething(): Promise<unknown> {
    const { random, counters } = this.#options;
    const counter = random.pick(counters);
    const drawn = random.below(100);
    if (drawn < 11) return this.#operate(counter, 'append', {});
    if (drawn < 28) return this.#operate(counter, 'bump', { name: random.pick(names) }, 'tally');
    if (drawn < 34) return this.#take(counter);
    if (drawn < 38) return this.#operate(counter, 'yieldName', { name: random.pick(names) });
    if (drawn < 52) return this.#transfer(counter);
    if (drawn < 68) return this.#arm(counter);
    if (drawn < 72) return this.#operate(counter, 'disarm', { name: random.pick(names) });
    if (drawn < 73) return this.#operate(counter, 'fail', {});
    if (drawn < 74) return this.#operate(counter, 'spoil', {});
    if (drawn < 77) return this.#relay(counter);
    this.#readBeside(counter, drawn < 88 ? 'read' : 'peek');
    return Promise.resolve();
  }

  /** A client that waits long for a reading must not keep the others from writing meanwhile. */
  #readBeside(counter: string, command: string): void {
    const { random, patienceMs } = this.#options;
    const after = random.chance(0.5) ? 0 : random.below(6);
    void this.#options.gateway.ask(
      this.#reading(counter, command, after),
      random.pick([1_000, patienceMs, 2 * patienceMs]),
    );
  }

  async #operate(
    counter: string,
    what: string,
    fields: object,
    recordedIn: Call['recordedIn'] = 'journal',
    sends?: Call['sends'],
  ): Promise<CallOutcome> {
    const { history } = this.#options;
    const op = this.#nextCall();
    const call = history.begin({
      op,
      counter,
      what,
      recordedIn,
      sends: sends && { ...sends, entry: `${sends.entry}${op}` },
    });
    const outcome = await this.#ask(counter, what, { op, ...fields });
    history.end(call, outcome.outcome);
    return outcome;
  }

  async #take(counter: string): Promise<void> {
    const { history, random } = this.#options;
    const op = this.#nextCall();
    const call = history.begin({ op, counter, what: 'take', recordedIn: 'journal' });
    const outcome = await this.#ask(counter, 'take', { op, name: random.pick(names) });
    // A call that found the name taken wrote nothing and so is not recorded: another copy of the call may yet
    // succeed.
    const refused = outcome.outcome === 'done' && (outcome.value as { op: string }).op !== op;
    history.end(call, refused ? 'unknown' : outcome.outcome);
  }

  #transfer(counter: string): Promise<unknown> {
    const { random, counters } = this.#options;
    const to = random.pick(counters);
    const fields = { to, amount: 1 + random.below(9), trouble: this.#trouble() };
    return this.#operate(counter, 'transfer', fields, 'journal', { to, entry: 'credit:' });
  }

  #arm(counter: string): Promise<unknown> {
    const { random } = this.#options;
    return this.#operate(counter, 'arm', {
      name: random.pick(names),
      dueMs: Math.floor(this.#nowMs() + random.pick([10, 100, 300, 2_000, 9_000]) * random.fraction()),
      trouble: this.#trouble(),
      again: random.pick([0, 0, 0, 1, 2]),
    });
  }

  async #relay(counter: string): Promise<void> {
    const { history, random, counters } = this.#options;
    const to = random.pick(counters);
    const op = this.#nextCall();
    const first = history.begin({ op, counter, what: 'relay', recordedIn: 'journal' });
    const second = history.begin({
      op: `${op}.relayed`,
      counter: to,
      what: 'relayed',
      recordedIn: 'journal',
    });
    const outcome = await this.#ask(counter, 'relay', { op, to });
    // If a call of several steps failed, some steps may have taken effect.
    const fate = outcome.outcome === 'done' ? 'done' : 'unknown';
    history.end(first, fate);
    history.end(second, fate);
  }

  #reading(counter: string, command: string, after: number): Ask {
    const { history, staleness } = this.#options;
    const callId = this.#nextCallId();
    const whole = command === 'read' && after === 0;
    staleness.asksReading(callId, counter, history.acknowledgedAt(counter), whole);
    return { address: { kind: 'counter', id: counter }, command, request: { after }, callId };
  }

  #ask(counter: string, command: string, request: object): Promise<CallOutcome> {
    const { gateway, random } = this.#options;
    const ask = { address: { kind: 'counter', id: counter }, command, request, callId: this.#nextCallId() };
    return gateway.ask(ask, random.pick([700, 3_000, 9_000]));
  }

  #nextCallId(): string {
    this.#callCount += 1;
    return `${this.#options.name}-${this.#callCount}`;
  }

  #trouble(): { untilMs: number } {
    const { random } = this.#options;
    return { untilMs: random.chance(0.15) ? this.#nowMs() + random.below(4_000) : 0 };
  }

  #nowMs(): number {
    return startOfTimeMs + this.#options.time.nowMs;
  }

  #nextCall(): string {
    this.#calls += 1;
    return `${this.#options.name}.${this.#calls}`;
  }
}
