/**
 * The pace at which clients that dial go on: once for their token or ticket, and once to be let in with it. After a crash
 * tens of thousands dial at once. Without a pace, every other request waits for all of them.
 *
 * Every few milliseconds a few clients go on, in the order in which they came. A loop that is busy comes to it later, so they go on
 * more slowly then. A client that has left meanwhile still takes its turn: its answer is dropped.
 */

/** At 0.3 ms for each, they leave half of the time to everything else. */
export const dialsPerTurn = 8;
const turnMs = 5;

export class DialPace {
  readonly #later: (work: () => void) => void;
  #waiting: (() => void)[] = [];
  #left = dialsPerTurn;
  #isTurnDue = false;

  /** `later` runs its argument after this time. */
  constructor(later: (work: () => void, delayMs: number) => void = setTimeout) {
    this.#later = (work) => later(work, turnMs);
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
    this.#later(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnDue = false;
    const admitted = this.#waiting.splice(0, dialsPerTurn);
    this.#left = dialsPerTurn - admitted.length;
    if (admitted.length > 0) this.#expectTurn();
    for (const proceed of admitted) proceed();
  }
}
