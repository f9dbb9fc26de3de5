/** Bounds concurrent work: a few at a time, first come, first served, with a bounded number waiting. */
import { OverloadedError } from '../runtime/errors.ts';

export interface QueueLimits {
  readonly concurrent: number;
  /** How many more may wait. */
  readonly waiting: number;
}

/** Runs `work` when its turn comes, unless `signal` is aborted before. @throws what `work` throws | OverloadedError */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export function createQueue({ concurrent, waiting }: QueueLimits, overloaded: string): InTurn {
  const waiters = new Set<() => void>();
  let running = 0;

  const admission = (signal: AbortSignal | undefined) => {
    if (running < concurrent) {
      running += 1;
      return undefined;
    }
    if (waiters.size >= waiting) throw new OverloadedError(overloaded);
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiters.delete(enter);
        reject(signal?.reason);
      };
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiters.add(enter);
    });
  };

  return async (work, signal) => {
    signal?.throwIfAborted();
    await admission(signal);
    try {
      return await work();
    } finally {
      // A waiter takes over this place; without one the place is free.
      const [next] = waiters;
      if (next === undefined) running -= 1;
      else {
        waiters.delete(next);
        next();
      }
    }
  };
}
