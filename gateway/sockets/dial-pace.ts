/**
 * The pace at which clients that dial go on: once for their token or ticket, and once to be let in with it. After a crash
 * tens of thousands dial at once. Without a pace, every other request waits for all of them.
 *
 * Every few milliseconds a few clients go on, in the order in which they came. A busy event loop comes to it later. It does not make
 * up for the lost time, which would keep it busy. A client waits only a few seconds for the answer to its AUTH, but it has got its
 * ticket at the same pace. A client that has left meanwhile still takes its turn: its answer is dropped.
 *
 * Invariant: no client waits longer than its request may take. Otherwise all that wait would be refused by then, dial again, and
 * wait behind the turns of their former requests for ever. So a client that comes when too many wait is refused at once.
 */
import { type Clock, systemClock } from '../../runtime/clock.ts';

/**
 * 600 a second: 20,000 clients are back in 40 s, and each costs 0.3 ms twice. At 1,600 a second, requests beside them took twice
 * as long (docs/benchmarks.md, "Idle sockets by the thousand").
 */
export const dialsPerTurn = 3;
export const turnMs = 5;
/** For 20 s. A request is given up after 25 s (`requestDeadlineMs`). */
export const waitingMax = 12_000;

export class DialPace {
  readonly #clock: Pick<Clock, 'schedule'>;
  #waiting: ((mayGoOn: true) => void)[] = [];
  #left = dialsPerTurn;
  #isTurnDue = false;

  constructor(clock: Pick<Clock, 'schedule'> = systemClock) {
    this.#clock = clock;
  }

  /** Resolves when the next client may go on. False, at once: too many wait, and this client should come again later. */
  next(): Promise<boolean> {
    this.#expectTurn();
    if (this.#waiting.length >= waitingMax) return Promise.resolve(false);
    if (this.#left === 0) return new Promise((proceed) => this.#waiting.push(proceed));
    this.#left -= 1;
    return Promise.resolve(true);
  }

  #expectTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.#clock.schedule(turnMs, () => this.#turn());
  }

  #turn(): void {
    this.#isTurnDue = false;
    const admitted = this.#waiting.splice(0, dialsPerTurn);
    this.#left = dialsPerTurn - admitted.length;
    if (admitted.length > 0) this.#expectTurn();
    for (const proceed of admitted) proceed(true);
  }
}
