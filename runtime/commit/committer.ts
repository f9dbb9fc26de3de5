/**
 * One committer per host (design 4.2): whenever a connection is free it takes the ready commits of all actors (at
 * most one of each, within a bound on actors and bytes) and sends them as one batch. There is no timer: while every
 * connection is busy commits pile up, so batches grow with the load by themselves.
 *
 * A batch whose members all have an answer tells each actor its own. A batch that failed as a whole is told apart:
 *   conflict      nothing was applied; the same batch again after a pause with jitter
 *   refused       nothing was applied; each member alone, so that only the one that collides is refused
 *   defect        likewise
 *   unavailable   nothing was applied; every member fails
 *   unknown       every member settles by its own barrier
 */
import { type Clock, sleep } from '../clock.ts';
import { TerminalError, UnavailableError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { Logger, RuntimeMetrics } from '../ports.ts';
import type { Random } from '../random.ts';
import { type Commit, type Store, StoreError } from '../store/store.ts';

const conflictsBeforeAlone = 5;
const conflictPauseMaxMs = 500;

/** An actor as the committer knows it. One of the answers follows each commit that was taken. */
export interface Committing {
  /** What waits to be committed. */
  readonly gatheredBytes: number;
  /** Undefined: there is nothing (any more) to commit. */
  takeCommit(): Commit | undefined;
  committed(): void;
  /** Nothing was applied: a newer owner or a newer version exists. */
  fenced(): void;
  /** Nothing was applied: a key is taken. */
  refused(): Promise<void>;
  /** Nothing was applied, and asking the database again now would not help. */
  failed(error: UnavailableError | TerminalError): void;
  /** Nobody knows what was applied. */
  unknown(): Promise<void>;
}

interface Member {
  readonly actor: Committing;
  readonly commit: Commit;
}

export interface CommitterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

export class Committer {
  readonly #options: CommitterOptions;
  readonly #ready = new Set<Committing>();
  #inFlight = 0;
  #scheduled = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** The actor has gathered writes and no commit in flight. */
  ready(actor: Committing): void {
    this.#ready.add(actor);
    if (this.#scheduled || this.#inFlight >= this.#options.limits.commitsInFlightMax) return;
    this.#scheduled = true;
    // Not at once: turns of the same tick, of this and other actors, join the batch for nothing.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  /** Resolves when nothing is ready and nothing in flight. */
  idle(): Promise<void> {
    if (this.#inFlight === 0 && this.#ready.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #fill(): void {
    while (this.#inFlight < this.#options.limits.commitsInFlightMax) {
      const batch = this.#takeBatch();
      if (batch.length === 0) break;
      this.#inFlight += 1;
      void this.#send(batch).finally(() => {
        this.#inFlight -= 1;
        this.#fill();
      });
    }
    if (this.#inFlight === 0 && this.#ready.size === 0)
      for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #takeBatch(): Member[] {
    const { batchActorsMax, batchBytesMax } = this.#options.limits;
    const batch: Member[] = [];
    let bytes = 0;
    for (const actor of this.#ready) {
      if (batch.length >= batchActorsMax) break;
      if (batch.length > 0 && bytes + actor.gatheredBytes > batchBytesMax) continue;
      bytes += actor.gatheredBytes;
      this.#ready.delete(actor);
      const commit = actor.takeCommit();
      if (commit !== undefined) batch.push({ actor, commit });
    }
    return batch;
  }

  async #send(batch: readonly Member[], conflicts = 0): Promise<void> {
    const { store, clock, metrics } = this.#options;
    const sentMs = clock.monotonicMs();
    try {
      const passed = await store.commit(batch.map((member) => member.commit));
      metrics.batch(batch.length, clock.monotonicMs() - sentMs);
      batch.forEach((member, index) => {
        metrics.commit(passed.has(index) ? 'committed' : 'fenced');
        if (passed.has(index)) member.actor.committed();
        else member.actor.fenced();
      });
    } catch (error) {
      await this.#failed(batch, error, conflicts);
    }
  }

  async #failed(batch: readonly Member[], error: unknown, conflicts: number): Promise<void> {
    const { clock, random, logger, metrics } = this.#options;
    // An error that is not the store's leaves open what happened, and is treated so.
    const failure = error instanceof StoreError ? error.failure : 'unknown';
    metrics.commit(failure);
    const alone = batch.length === 1;
    if (failure === 'conflict' && (conflicts < conflictsBeforeAlone || !alone)) {
      const pauseMs = Math.min(conflictPauseMaxMs, 5 * 2 ** conflicts);
      await sleep(clock, pauseMs * (0.5 + random.fraction() / 2));
      if (conflicts < conflictsBeforeAlone) return this.#send(batch, conflicts + 1);
      return this.#sendOneByOne(batch);
    }
    if (!alone && (failure === 'refused' || failure === 'defect')) return this.#sendOneByOne(batch);
    if (failure !== 'refused') logger.warn({ failure, error: String(error) }, 'a commit failed');
    await Promise.all(batch.map(({ actor }) => settle(actor, failure)));
  }

  async #sendOneByOne(batch: readonly Member[]): Promise<void> {
    for (const member of batch) await this.#send([member]);
  }
}

async function settle(actor: Committing, failure: StoreError['failure']): Promise<void> {
  switch (failure) {
    case 'unknown':
      // Settling can take as long as the database is away; the committer goes on with others.
      void actor.unknown();
      return;
    case 'refused':
      return actor.refused();
    case 'defect':
      return actor.failed(new TerminalError('the database refused what this call would write'));
    case 'conflict':
    case 'unavailable':
      return actor.failed(new UnavailableError('the database cannot take this now'));
  }
}
