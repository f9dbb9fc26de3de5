/** Reads that the database gives up for another statement's sake, as CockroachDB does (40001), and that would succeed at once. */
import type { Clock } from '../clock.ts';
import { type Store, StoreError, type StoreRead, type StoreRows } from '../store/store.ts';

/**
 * As often as a commit. A read that was given up so often meets an obstacle that lasts. Repeats need no pause: a host has few reads
 * in flight, and a repeat takes the place of the one before.
 */
const conflictsMax = 12;
/**
 * No repeat begins later than this after the first statement. Its callers wait 25 seconds at most, and one that fails in time is
 * asked again by others. Reads behind it wait as long for the slot that it holds.
 */
const repeatedForMs = 5_000;

export interface RepeatingOptions {
  readonly store: Pick<Store, 'read'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** @throws StoreError */
export async function readRepeated(
  { store, clock }: RepeatingOptions,
  reads: readonly StoreRead[],
): Promise<readonly StoreRows[]> {
  const untilMs = clock.monotonicMs() + repeatedForMs;
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await store.read(reads);
    } catch (error) {
      const isGivenUp = error instanceof StoreError && error.failure === 'conflict';
      if (!isGivenUp || conflicts >= conflictsMax || clock.monotonicMs() >= untilMs) throw error;
    }
  }
}
