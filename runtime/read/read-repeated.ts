/** Reads that the database gives up for another statement's sake, as CockroachDB does (40001), and that would succeed at once. */
import { type Store, StoreError, type StoreRead, type StoreRows } from '../store/store.ts';

/**
 * As often as a commit. A read that was given up so often meets something that lasts. Repeats need no pause: a host has few reads
 * in flight, and a repeat takes the place of the one before.
 */
const conflictsMax = 12;

/** @throws StoreError */
export async function readRepeated(
  store: Pick<Store, 'read'>,
  reads: readonly StoreRead[],
): Promise<readonly StoreRows[]> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await store.read(reads);
    } catch (error) {
      const isGivenUp = error instanceof StoreError && error.failure === 'conflict';
      if (!isGivenUp || conflicts >= conflictsMax) throw error;
    }
  }
}
