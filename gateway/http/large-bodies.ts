/**
 * Who may have a large body parsed and handled: one of each user at a time, as each takes its memory several times and
 * the loop for as long as it has values. The next waits for the end of the one before, and not for long.
 */

/** A body that waits for its turn. */
export interface Waiting {
  /** It has its place from now on. */
  enter(): void;
}

/** More than the devices of one user ever send at the same moment. */
const waitingMax = 4;

export class LargeBodies {
  /** By user: who waits behind the one that has the place. */
  readonly #queues = new Map<string, Waiting[]>();

  /** Calls `enter`, at once or in its turn. False: too many wait already. */
  ask(user: string, body: Waiting): boolean {
    const queue = this.#queues.get(user);
    if (queue === undefined) {
      this.#queues.set(user, []);
      body.enter();
      return true;
    }
    if (queue.length >= waitingMax) return false;
    queue.push(body);
    return true;
  }

  /** It waits no longer. */
  withdraw(user: string, body: Waiting): void {
    const queue = this.#queues.get(user) ?? [];
    const index = queue.indexOf(body);
    if (index >= 0) queue.splice(index, 1);
  }

  /** Whoever has the place gives it up. */
  leave(user: string): void {
    const next = this.#queues.get(user)?.shift();
    if (next === undefined) this.#queues.delete(user);
    else next.enter();
  }
}
