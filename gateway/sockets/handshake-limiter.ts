/**
 * Limits how many clients connect in a second, and how many at a time. Each connecting client is counted twice: for its token or
 * ticket, and for the handshake with it. After a crash tens of thousands connect at once. Without a limit, every other request
 * waits for all of them.
 *
 * Every few milliseconds a few clients proceed, in the order in which they came. A busy event loop comes to this later. It does
 * not make up for the lost time, which would keep it busy. Handshakes under way have a bound as well. In a new process or with a
 * slow database each takes long. Without the bound they would queue in front of everyone's statements. A client waits only a few
 * seconds for the answer to its AUTH, but the limit has already delayed its ticket. A client that has left meanwhile still takes
 * its turn, and its answer is dropped.
 *
 * Invariant: no client waits longer than its request may take. Otherwise every waiting client would be refused, connect again,
 * and wait behind its own former request for ever. So a client that comes when too many wait is refused at once, and one whose
 * turn does not come in time is refused then.
 */
import { type Clock, systemClock } from '../../runtime/clock.ts';

/**
 * 1,000 a second: 19,000 clients are back in 22 s, and each costs 0.3 ms twice. At 1,600 a second, other requests took twice as
 * long (docs/benchmarks.md, "Idle sockets by the thousand").
 */
export const handshakesPerTurn = 5;
export const turnMs = 5;
/** At 1,000 a second, three are under way, unless the process is new or the database slow. */
export const runningMax = 16;
/**
 * A handshake holds up the others no longer than this. While a host is gone, none of its users is answered for seconds. If that is
 * one user in three, 480 handshakes begin a second.
 */
export const slowMs = 100;
/** The last of them waits for 20 s. A request is given up after 25 s (`requestDeadlineMs`). */
export const waitingMax = 20_000;
export const waitMaxMs = 20_000;
/** After a pause of the whole process, all waiting clients are late. Refusing them at once would keep the loop busy. */
export const lateMax = 200;

interface Handshake {
  readonly sinceMs: number;
}

interface Waiting {
  readonly untilMs: number;
  readonly proceed: (handshake: Handshake | undefined) => void;
}

export class HandshakeLimiter {
  readonly #clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly #running = new Set<Handshake>();
  readonly #waiting: Waiting[] = [];
  #left = handshakesPerTurn;
  #isTurnDue = false;

  constructor(clock: Pick<Clock, 'schedule' | 'monotonicMs'> = systemClock) {
    this.#clock = clock;
  }

  /**
   * Runs it when it is the client's turn. Resolves to `refused` without running it if the turn comes later than `withinMs`: the
   * client should come again.
   */
  async run<T>(handshake: () => Promise<T>, refused: T, withinMs = waitMaxMs): Promise<T> {
    const running = await this.#turnOfClient(withinMs);
    if (running === undefined) return refused;
    try {
      return await handshake();
    } finally {
      this.#running.delete(running);
    }
  }

  #turnOfClient(withinMs: number): Promise<Handshake | undefined> | Handshake | undefined {
    this.#expectTurn();
    if (this.#waiting.length >= waitingMax) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#waiting.length === 0 && this.#left > 0 && this.#running.size < runningMax) {
      this.#left -= 1;
      return this.#begin(nowMs);
    }
    return new Promise((proceed) => this.#waiting.push({ untilMs: nowMs + withinMs, proceed }));
  }

  #begin(sinceMs: number): Handshake {
    const handshake = { sinceMs };
    this.#running.add(handshake);
    return handshake;
  }

  #expectTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.#clock.schedule(turnMs, () => this.#turn());
  }

  #turn(): void {
    this.#isTurnDue = false;
    const nowMs = this.#clock.monotonicMs();
    for (const handshake of this.#running)
      if (nowMs - handshake.sinceMs >= slowMs) this.#running.delete(handshake);
    const { admitted, late } = this.#next(nowMs);
    this.#waiting.splice(0, admitted.length + late.length);
    this.#left = handshakesPerTurn - admitted.length;
    if (admitted.length > 0 || this.#waiting.length > 0) this.#expectTurn();
    for (const { proceed } of late) proceed(undefined);
    for (const { proceed } of admitted) proceed(this.#begin(nowMs));
  }

  /** The clients at the head of the queue whose turn it is, or for whom it comes too late. */
  #next(nowMs: number): { readonly admitted: readonly Waiting[]; readonly late: readonly Waiting[] } {
    const admitted: Waiting[] = [];
    const late: Waiting[] = [];
    const admittedMax = Math.min(handshakesPerTurn, runningMax - this.#running.size);
    for (const client of this.#waiting) {
      const group = client.untilMs > nowMs ? admitted : late;
      if (group.length >= (group === late ? lateMax : admittedMax)) break;
      group.push(client);
    }
    return { admitted, late };
  }
}
