/**
 * The pace at which clients that dial go on: once for their token or ticket, and once to be let in with it. After a crash
 * tens of thousands dial at once. Without a pace, every other request waits for all of them.
 *
 * Every few milliseconds a few clients go on, in the order in which they came. A busy event loop comes to it later and makes up
 * for the lost time, within a bound. A client waits only a few seconds for the answer to its AUTH. A client that has left
 * meanwhile still takes its turn: its answer is dropped.
 */
import { type Clock, systemClock } from '../../runtime/clock.ts';

/** At 0.3 ms for each, they leave half of the time to everything else. */
export const dialsPerTurn = 8;
export const turnMs = 5;
export const turnsMadeUpMax = 20;

type PaceClock = Pick<Clock, 'monotonicMs' | 'schedule'>;

export class DialPace {
  readonly #clock: PaceClock;
  #waiting: (() => void)[] = [];
  #left = dialsPerTurn;
  #isTurnDue = false;
  #turnedMs = 0;

  constructor(clock: PaceClock = systemClock) {
    this.#clock = clock;
  }

  /** Resolves when the next client may go on. The deadline of its request bounds how long it is of use. */
  next(): Promise<void> {
    this.#expectTurn();
    if (this.#left === 0) return new Promise((proceed) => this.#waiting.push(proceed));
    this.#left -= 1;
    return Promise.resolve();
  }

  #expectTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.#turnedMs = this.#clock.monotonicMs();
    this.#clock.schedule(turnMs, () => this.#turn());
  }

  #turn(): void {
    this.#isTurnDue = false;
    const turns = Math.floor((this.#clock.monotonicMs() - this.#turnedMs) / turnMs);
    const admitted = this.#waiting.splice(0, dialsPerTurn * Math.min(turnsMadeUpMax, Math.max(1, turns)));
    this.#left = Math.max(0, dialsPerTurn - admitted.length);
    if (admitted.length > 0) this.#expectTurn();
    for (const proceed of admitted) proceed();
  }
}
