/**
 * A fair queue for expensive work: a few pieces run at a time, keys take turns, and a bounded number waits.
 *
 * Each piece waits under a fairness key, and each key serves the piece that came first. Keys are nested, as streets
 * within towns. The widest keys take turns, then those within each of them, and so on. So a caller delays the others by one
 * piece at a time, whether it uses one key or a thousand keys within one wide key.
 *
 * When the queue is full, the fullest of the widest keys makes room for one that has less. If the newcomer's own is the
 * fullest, the same is tried within it. The last piece under the key that makes room is refused.
 */
import { OverloadedError } from '../runtime/errors.ts';

export interface QueueLimits {
  readonly concurrent: number;
  /** Pieces that may wait, at most. */
  readonly waiting: number;
  /** Pieces that may wait under one of the narrowest keys; without it, there is no such limit. */
  readonly waitingPerKey?: number;
}

/** The names of a key and of the keys around it, the widest first. Pieces wait only under keys that contain no others. */
export type FairnessKey = readonly string[];

/** Runs `work` when its turn comes, unless `signal` is aborted before. @throws what `work` throws | OverloadedError */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal, key?: FairnessKey) => Promise<T>;

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (reason: unknown) => void;
}

export function createQueue(
  { concurrent, waiting, waitingPerKey = waiting }: QueueLimits,
  overloaded: string,
): InTurn {
  const waiters = new Waiters();
  let running = 0;

  const admission = (signal: AbortSignal | undefined, key: FairnessKey) => {
    if (running < concurrent) {
      running += 1;
      return undefined;
    }
    if (waiters.lengthOf(key) >= waitingPerKey) throw new OverloadedError(overloaded);
    if (waiters.length >= waiting) {
      const surplus = waiters.surplusFor(key);
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
          waiters.remove(key, waiter);
          signal?.removeEventListener('abort', abort);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      waiters.add(key, waiter);
    });
  };

  return async (work, signal, key = []) => {
    signal?.throwIfAborted();
    await admission(signal, key);
    try {
      return await work();
    } finally {
      // A waiter takes over this slot; without one the slot is free.
      const next = waiters.next();
      if (next === undefined) running -= 1;
      else next.enter();
    }
  };
}

/** The pieces of one key: those of the keys within it, where the first key has the next turn, or its own. */
class Waiters {
  readonly #within = new Map<string, Waiters>();
  readonly #own = new Set<Waiter>();
  length = 0;

  lengthOf([name, ...rest]: FairnessKey): number {
    if (name === undefined) return this.length;
    return this.#within.get(name)?.lengthOf(rest) ?? 0;
  }

  add([name, ...rest]: FairnessKey, waiter: Waiter): void {
    this.length += 1;
    if (name === undefined) {
      this.#own.add(waiter);
      return;
    }
    const within = this.#within.get(name) ?? new Waiters();
    this.#within.set(name, within);
    within.add(rest, waiter);
  }

  remove([name, ...rest]: FairnessKey, waiter: Waiter): boolean {
    const within = name === undefined ? undefined : this.#within.get(name);
    const isGone = name === undefined ? this.#own.delete(waiter) : within?.remove(rest, waiter) === true;
    if (!isGone) return false;
    this.length -= 1;
    if (name !== undefined && within?.length === 0) this.#within.delete(name);
    return true;
  }

  next(): Waiter | undefined {
    if (this.length === 0) return undefined;
    this.length -= 1;
    const [turn] = this.#within;
    if (turn === undefined) return this.#nextOfOwn();
    const [name, within] = turn;
    const next = within.next();
    this.#within.delete(name);
    if (within.length > 0) this.#within.set(name, within);
    return next;
  }

  #nextOfOwn(): Waiter | undefined {
    const [first] = this.#own;
    if (first !== undefined) this.#own.delete(first);
    return first;
  }

  /** The key that has to make room for one more piece under `key`, if any. */
  surplusFor([name, ...rest]: FairnessKey): Waiter | undefined {
    if (name === undefined) return undefined;
    const within = this.#within.get(name);
    const fullest = this.#fullest();
    if (fullest !== undefined && fullest.length > (within?.length ?? 0) + 1) return fullest.#last();
    return within?.surplusFor(rest);
  }

  #last(): Waiter | undefined {
    const fullest = this.#fullest();
    return fullest === undefined ? [...this.#own].at(-1) : fullest.#last();
  }

  /** The key with the most waiters. Among several, the one whose turn comes last. */
  #fullest(): Waiters | undefined {
    let fullest: Waiters | undefined;
    for (const each of this.#within.values()) if (each.length >= (fullest?.length ?? 0)) fullest = each;
    return fullest;
  }
}
