/**
 * What a host removes from the database so that nothing grows for ever: recorded calls whose repeats can no longer come,
 * actors that have been without state for long, and nodes that have not come back
 * (docs/decisions/0018-rows-that-go.md). Of its own shards, except for nodes, which anybody may remove.
 *
 * A batch at a time, one after another for as long as a batch is full: however fast rows come, they go as fast.
 */
import type { Clock } from '../clock.ts';
import { Sweeper } from '../delivery/sweeper.ts';
import type { Logger } from '../ports.ts';
import type { Store } from '../store/store.ts';
import type { Limits } from './limits.ts';

const batchMax = 1_000;
/** Between two batches: commits come first. */
const batchPauseMs = 20;

export interface HousekeepingOptions {
  readonly store: Pick<Store, 'timeMs' | 'pruneCalls' | 'removeEnded' | 'removeNodes'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Pick<Limits, 'recordedCallMs' | 'endedActorMs' | 'goneNodeMs' | 'housekeepingMs'>;
  /** The shards that are this host's. */
  readonly shards: () => readonly number[];
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #sweeper: Sweeper;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    this.#sweeper = new Sweeper(options, () => this.#tidyUp());
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
