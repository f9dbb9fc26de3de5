/**
 * The pace at which clients get the tokens and tickets with which they dial. After a crash tens of thousands ask at
 * once, and each then upgrades and authenticates. Without a pace, every other request waits for all of them.
 *
 * Between two turns of the event loop a few clients go on, in the order in which they came. What each of them asks for next
 * comes at the same pace. A client that has left meanwhile still takes its turn: its answer is dropped.
 */

/** At 0.3 ms for ticket, upgrade and AUTH, they take a few milliseconds between two turns. */
export const dialsPerTurn = 8;

export class DialPace {
  readonly #later: (work: () => void) => void;
  #waiting: (() => void)[] = [];
  #left = dialsPerTurn;
  #isTurnDue = false;

  /** `later` runs its argument when the loop has turned. */
  constructor(later: (work: () => void) => void = setImmediate) {
    this.#later = later;
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
