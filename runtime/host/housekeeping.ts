/**
 * Removes rows from the database so that nothing grows forever (docs/decisions/0018-rows-that-go.md). These are recorded calls
 * whose repeats can no longer come, actors without state for long, and nodes that have not come back. A host tidies up its own
 * shards. Any host may remove nodes.
 *
 * Full batches follow one another. However fast rows come, they go as fast.
 */
import type { Clock } from '../clock.ts';
import { SweepLoop } from '../delivery/sweeper.ts';
import type { Logger } from '../ports.ts';
import type { Store } from '../store/store.ts';
import type { Limits } from './limits.ts';

const batchMax = 1_000;
/** The pause between two batches, because commits come first. */
const batchPauseMs = 20;

export interface HousekeepingOptions {
  readonly store: Pick<Store, 'timeMs' | 'pruneCalls' | 'removeEnded' | 'removeNodes'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Pick<Limits, 'recordedCallMs' | 'endedActorMs' | 'goneNodeMs' | 'housekeepingMs'>;
  /** The shards of this host. */
  readonly shards: () => readonly number[];
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #sweeper: SweepLoop;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    this.#sweeper = new SweepLoop(options, () => this.#tidyUp());
  }

  start(): void {
    this.#sweeper.start();
  }

  stop(): void {
    this.#sweeper.stop();
  }

  /** Resolves to the pause until the next time. */
  async #tidyUp(): Promise<number> {
    const { store, limits, shards } = this.#options;
    const nowMs = await store.timeMs();
    const owned = shards();
    const calls = await store.pruneCalls(owned, nowMs - limits.recordedCallMs, batchMax);
    const actors = await store.removeEnded(owned, nowMs - limits.endedActorMs, batchMax);
    if (calls === batchMax || actors === batchMax) return batchPauseMs;
    await store.removeNodes(nowMs - limits.goneNodeMs);
    return limits.housekeepingMs;
  }
}
