/**
 * Limits the parsing and handling of large bodies to one at a time for each user. Each takes several times its size
 * in memory, and keeps the loop busy in proportion to its values. The next body waits for the one before, but not for
 * long.
 */

/** A body that waits for its turn. */
export interface WaitingBody {
  /** Called when this body may be read. */
  enter(): void;
}

/** More than one user's devices ever send at once. */
const waitingMax = 4;

export class LargeBodies {
  /** Keyed by user: the bodies that wait behind the current one. */
  readonly #queues = new Map<string, WaitingBody[]>();

  /** Calls `enter`, at once or in its turn. False: too many wait already. */
  ask(user: string, body: WaitingBody): boolean {
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

  /** Removes a body that no longer waits. */
  withdraw(user: string, body: WaitingBody): void {
    const queue = this.#queues.get(user) ?? [];
    const index = queue.indexOf(body);
    if (index >= 0) queue.splice(index, 1);
  }

  /** The current body gives up its turn. */
  leave(user: string): void {
    const next = this.#queues.get(user)?.shift();
    if (next === undefined) this.#queues.delete(user);
    else next.enter();
  }
}
