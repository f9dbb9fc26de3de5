/**
 * Work that is too much to do all at once: a few at a time, in fair turns, and a bounded number waits.
 *
 * Who waits, waits in a lane: lanes take turns, and in each the first who came is the first served. So a lane that is
 * full of work delays another's by one piece of it at a time. When nobody more may wait, the fullest lane makes room for
 * one that has less; who came to it last is refused then.
 */
import { OverloadedError } from '../runtime/errors.ts';

export interface QueueLimits {
  readonly concurrent: number;
  /** How many more may wait. */
  readonly waiting: number;
  /** How many of those in one lane; as many as may wait when absent. */
  readonly waitingPerLane?: number;
}

/** Runs `work` when its turn comes, unless `signal` is aborted before. @throws what `work` throws | OverloadedError */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal, lane?: string) => Promise<T>;

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (reason: unknown) => void;
}

export function createQueue(
  { concurrent, waiting, waitingPerLane = waiting }: QueueLimits,
  overloaded: string,
): InTurn {
  const lanes = new Lanes();
  let running = 0;

  const admission = (signal: AbortSignal | undefined, lane: string) => {
    if (running < concurrent) {
      running += 1;
      return undefined;
    }
    if (lanes.lengthOf(lane) >= waitingPerLane) throw new OverloadedError(overloaded);
    if (lanes.length >= waiting) {
      const surplus = lanes.lastOfFullest(lanes.lengthOf(lane) + 1);
      if (surplus === undefined) throw new OverloadedError(overloaded);
      surplus.refuse(new OverloadedError(overloaded));
    }
    return new Promise<void>((resolve, reject) => {
      const abort = () => waiter.refuse(signal?.reason);
      const waiter: Waiter = {
        enter: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
        refuse: (reason) => {
          lanes.remove(lane, waiter);
          signal?.removeEventListener('abort', abort);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      lanes.add(lane, waiter);
    });
  };

  return async (work, signal, lane = '') => {
    signal?.throwIfAborted();
    await admission(signal, lane);
    try {
      return await work();
    } finally {
      // A waiter takes over this place; without one the place is free.
      const next = lanes.next();
      if (next === undefined) running -= 1;
      else next.enter();
    }
  };
}

/** Who waits, by lane; the lane whose turn it is comes first. */
class Lanes {
  readonly #lanes = new Map<string, Set<Waiter>>();
  length = 0;

  lengthOf(lane: string): number {
    return this.#lanes.get(lane)?.size ?? 0;
  }

  add(lane: string, waiter: Waiter): void {
    const waiters = this.#lanes.get(lane) ?? new Set();
    this.#lanes.set(lane, waiters.add(waiter));
    this.length += 1;
  }

  remove(lane: string, waiter: Waiter): void {
    const waiters = this.#lanes.get(lane);
    if (!waiters?.delete(waiter)) return;
    this.length -= 1;
    if (waiters.size === 0) this.#lanes.delete(lane);
  }

  next(): Waiter | undefined {
    const [turn] = this.#lanes;
    if (turn === undefined) return undefined;
    const [lane, waiters] = turn;
    const [first] = waiters;
    if (first === undefined) return undefined;
    this.remove(lane, first);
    this.#lanes.delete(lane);
    if (waiters.size > 0) this.#lanes.set(lane, waiters);
    return first;
  }

  /** Of the fullest lane that holds more than `least`. */
  lastOfFullest(least: number): Waiter | undefined {
    let fullest: ReadonlySet<Waiter> = new Set();
    for (const waiters of this.#lanes.values()) if (waiters.size > fullest.size) fullest = waiters;
    return fullest.size > least ? [...fullest].at(-1) : undefined;
  }
}
