/**
 * Finds the outcome of a commit whose answer was lost.
 *
 * Reading the row would not be enough, because the lost statement may still be on its way. A barrier therefore raises the version
 * under the row's lock. After that the lost statement matches no row, so `commit_id` is final. If a newer epoch holds the actor,
 * no barrier is possible any more. Then the commit is known to be applied only if `commit_id` is still its own.
 *
 * A barrier waits only briefly for the lock of the row. If the row stays locked, the barrier tries again under a semaphore of
 * its own, so that other barriers find a connection.
 */
import type { Address } from '../address.ts';
import { type Clock, sleep } from '../clock.ts';
import type { Random } from '../random.ts';
import type { Semaphore } from '../semaphore.ts';
import { type Store, StoreError } from '../store/store.ts';

const backoffFirstMs = 20;
const backoffMaxMs = 1_000;

export type Settlement =
  | { readonly became: 'committed'; readonly version: number }
  /** It was not applied and never will be. */
  | { readonly became: 'nothing'; readonly version: number }
  /** A newer owner holds the actor. */
  | { readonly became: 'fenced'; readonly wasCommitted: boolean };

/** Asks until the database answers. Undefined if `isNeeded` has become false before that. */
export async function settleCommit(
  ports: {
    readonly store: Store;
    readonly clock: Clock;
    readonly random: Random;
    readonly lockedRowSemaphore: Semaphore;
  },
  commit: { readonly address: Address; readonly epoch: number; readonly commitId: string },
  isNeeded: () => boolean,
): Promise<Settlement | undefined> {
  const { store, clock, random, lockedRowSemaphore } = ports;
  let isLocked = false;
  for (let attempt = 0; isNeeded(); attempt += 1) {
    try {
      const ask = () => askOnce(store, commit);
      return await (isLocked ? lockedRowSemaphore.run(ask) : ask());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      isLocked = error.failure === 'conflict';
      const backoffMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** attempt);
      await sleep(clock, backoffMs * (0.5 + random.fraction() / 2));
    }
  }
  return undefined;
}

async function askOnce(
  store: Store,
  { address, epoch, commitId }: { address: Address; epoch: number; commitId: string },
): Promise<Settlement> {
  const row = await store.barrier(address, epoch);
  if (row === undefined) {
    const newer = await store.head(address);
    return { became: 'fenced', wasCommitted: newer?.commitId === commitId };
  }
  return { became: row.commitId === commitId ? 'committed' : 'nothing', version: row.version };
}
