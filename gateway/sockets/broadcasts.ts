/**
 * Broadcasts: frames to so many sockets that sending them at once would hold the event loop.
 *
 *     idle  --start-->  a slice is sent at once  --more is waiting-->  the loop turns, and the next slice is sent
 *       ^                                         --nothing is-->      the loop turns
 *       '-------------------------------------------------------------------'
 *
 * - Between two turns of the loop, all broadcasts together send one slice.
 * - Broadcasts take turns, a slice each. The frames of one broadcast keep their order. Two broadcasts to the same
 *   sockets keep theirs only if the second one starts after the first one is done.
 * - A crash loses what is waiting, as it loses the sockets: clients sync when they connect again.
 */

/** At 5 to 10 µs a frame, a slice takes a few milliseconds. */
export const sliceFrames = 256;

interface Broadcast {
  /** How many frames each step has sent. */
  readonly steps: Iterator<number, void>;
  readonly done: () => void;
}

export class Broadcasts {
  readonly #defer: (work: () => void) => void;
  #waiting: Broadcast[] = [];
  #isTurnDue = false;

  /** `defer` runs its argument in the next turn of the event loop. */
  constructor(defer: (work: () => void) => void = setImmediate) {
    this.#defer = defer;
  }

  /** `done` is called after the last step, which may be before this returns. */
  start(steps: Iterator<number, void>, done: () => void = () => {}): void {
    this.#waiting.push({ steps, done });
    if (!this.#isTurnDue) this.#sendSlice();
  }

  /** Waiting broadcasts are not sent any more. */
  stop(): void {
    this.#waiting = [];
  }

  #sendSlice(): void {
    // Comes first, because `done` may start another broadcast.
    this.#isTurnDue = true;
    this.#defer(() => {
      this.#isTurnDue = false;
      if (this.#waiting.length > 0) this.#sendSlice();
    });
    for (let left = sliceFrames; left > 0; ) {
      const broadcast = this.#waiting.shift();
      if (broadcast === undefined) return;
      left -= this.#advance(broadcast, left);
    }
  }

  /** Counts the frames that were sent. The last step may exceed `frames`. */
  #advance(broadcast: Broadcast, frames: number): number {
    let sent = 0;
    while (sent < frames) {
      const { done, value } = broadcast.steps.next();
      if (done === true) {
        broadcast.done();
        return sent;
      }
      sent += value;
    }
    this.#waiting.push(broadcast);
    return sent;
  }
}
