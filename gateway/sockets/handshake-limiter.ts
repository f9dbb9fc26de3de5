/**
 * Limits how many clients connect in a second. Each connecting client is counted twice: for its token or ticket, and for the
 * handshake with it. After a crash tens of thousands connect at once. Without a limit, every other request waits for all of them.
 *
 * Every few milliseconds a few clients proceed, in the order in which they came. A busy event loop comes to this later. It does
 * not make up for the lost time, which would keep it busy. A client waits only a few seconds for the answer to its AUTH, but the
 * limit has already delayed its ticket. A client that has left meanwhile still takes its turn, and its answer is dropped.
 *
 * Invariant: no client waits longer than its request may take. Otherwise every waiting client would be refused, connect again,
 * and wait behind its own former request for ever. So a client that comes when too many wait is refused at once.
 */
import { type Clock, systemClock } from '../../runtime/clock.ts';

/**
 * 800 a second: 16,000 clients are back in 23 s, and each costs 0.3 ms twice. At 1,600 a second, other requests took twice as
 * long (docs/benchmarks.md, "Idle sockets by the thousand").
 */
export const handshakesPerTurn = 4;
export const turnMs = 5;
/** For 20 s. A request is given up after 25 s (`requestDeadlineMs`). */
export const waitingMax = 16_000;

export class HandshakeLimiter {
  readonly #clock: Pick<Clock, 'schedule'>;
  #waiting: ((proceed: true) => void)[] = [];
  #left = handshakesPerTurn;
  #isTurnDue = false;

  constructor(clock: Pick<Clock, 'schedule'> = systemClock) {
    this.#clock = clock;
  }

  /**
   * Resolves to true when the next client may proceed, or at once to false: too many wait, and this client should come again
   * later.
   */
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
    const admitted = this.#waiting.splice(0, handshakesPerTurn);
    this.#left = handshakesPerTurn - admitted.length;
    if (admitted.length > 0) this.#expectTurn();
    for (const proceed of admitted) proceed(true);
  }
}
