/**
 * One committer per host. Whenever a slot is free, the committer sends the ready commits of the actors as one batch. It has at most
 * one commit of each actor, and is bounded in actors and bytes. There is no timer. While every slot is busy commits pile up, so
 * batches grow with the load by themselves.
 *
 * One actor does not stop the others. A batch is sent once, and a statement waits for a lock only briefly. What must then be
 * separated goes into quarantine, which has slots of its own; batches that have failed least go first. The commits of an actor
 * that was stuck go unbatched into quarantine, too, until one of them has passed.
 *
 * When every member of a batch has an answer, each actor is told its own. A batch that failed as a whole is sorted out:
 *   conflict      nothing was applied. Members whose rows another transaction holds locked are stuck. They go on unbatched, each
 *                 again after a growing pause and in the end unavailable; the others go again at once without them. If no row
 *                 is locked, all of it goes again after a pause with jitter, in the end in halves
 *   rejected      nothing was applied. The keys of all members are looked up at once. Members that collide with stored rows are rejected. Those that collide with others of the batch go again unbatched, and the rest go again at once. If none are found, all of it goes again in halves
 *   defect        nothing was applied; it goes again in halves, so that in the end only the defect fails
 *   unavailable   nothing was applied; every member fails
 *   unknown       every member settles by its own barrier, and counts as stuck
 */
import { type Clock, sleep } from '../clock.ts';
import { TerminalError, UnavailableError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { Logger } from '../ports.ts';
import type { Random } from '../random.ts';
import type { SampledLog } from '../sampled-log.ts';
import { type Commit, type Store, StoreError } from '../store/store.ts';
import type { Span, Tracer } from '../tracing.ts';
import { type ConflictingRow, findRejections, type Rejection } from './conflicting-rows.ts';
import { WriteHealth } from './write-health.ts';

const conflictsBeforeHalving = 2;
/** With the pauses between them and the waits for locks this takes some seconds, less than callers wait. */
const conflictsMax = 12;
const conflictPauseMaxMs = 500;

/** An actor as the committer knows it. One of these answers follows each commit that it takes. */
export interface Committing {
  /** The bytes that wait to be committed. */
  readonly pendingBytes: number;
  /** The commit that was taken, as a step of each sampled request that it is for. */
  readonly commitSpans: readonly Span[];
  /** Undefined if there is nothing (any more) to commit. */
  takeCommit(): Commit | undefined;
  committed(): void;
  /** Nothing was applied: a newer owner or a newer version exists. */
  fenced(): void;
  /** Nothing was applied: these keys are taken, or a key that no longer has a row. */
  rejected(conflicting: readonly ConflictingRow[]): void;
  /** Nothing was applied, and asking the database again now would not help. */
  failed(error: UnavailableError | TerminalError): void;
  /** Called when it is unknown whether the commit was applied. */
  unknown(): Promise<void>;
}

const nothingSeen: Rejection = { conflicting: [], isRival: false };

interface BatchMember {
  readonly actor: Committing;
  readonly commit: Commit;
}

interface CommitBatch {
  readonly members: readonly BatchMember[];
  /** How often this batch, or the batch that it was part of, has failed. */
  readonly failures: number;
}

export interface CommitterOptions {
  readonly store: Pick<Store, 'commit' | 'unlocked' | 'read'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Pick<
    Limits,
    'batchActorsMax' | 'batchBytesMax' | 'commitsInFlightMax' | 'quarantinedCommitsInFlightMax'
  >;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  /** Logs a few of many failures that have one cause. */
  readonly failures: SampledLog;
  readonly tracer?: Tracer | undefined;
}

export class Committer {
  readonly #options: CommitterOptions;
  readonly #ready = new Set<Committing>();
  readonly #unbatched = new Set<Committing>();
  readonly #quarantine: CommitBatch[] = [];
  /** How many times in a row an actor was stuck. */
  readonly #stuck = new WeakMap<Committing, number>();
  readonly #writes: WriteHealth;
  #inFlight = 0;
  #quarantinedInFlight = 0;
  #pausing = 0;
  #scheduled = false;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#writes = new WriteHealth(options.clock);
  }

  /** See `WriteHealth`. */
  get areWritesGood(): boolean {
    return this.#writes.isGood;
  }

  /** The actor has a pending commit and none in flight. */
  ready(actor: Committing): void {
    const isUnbatched = this.#stuck.has(actor);
    (isUnbatched ? this.#unbatched : this.#ready).add(actor);
    if (this.#scheduled || (isUnbatched ? this.#isQuarantineFull : this.#isFull)) return;
    this.#scheduled = true;
    // Waiting for the microtask lets turns of the same tick, of this and other actors, join the batch at no cost.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  /** Nothing is ready and nothing in flight. */
  get isIdle(): boolean {
    const inFlight = this.#inFlight + this.#quarantinedInFlight + this.#pausing;
    return inFlight + this.#ready.size + this.#unbatched.size + this.#quarantine.length === 0;
  }

  get #isFull(): boolean {
    return this.#inFlight >= this.#options.limits.commitsInFlightMax;
  }

  get #isQuarantineFull(): boolean {
    return this.#quarantinedInFlight >= this.#options.limits.quarantinedCommitsInFlightMax;
  }

  #fill(): void {
    while (!this.#isFull) {
      const members = this.#takeMembers();
      if (members.length === 0) break;
      this.#inFlight += 1;
      void this.#send({ members, failures: 0 }).finally(() => {
        this.#inFlight -= 1;
        this.#fill();
      });
    }
    this.#takeUnbatched();
    while (!this.#isQuarantineFull) {
      const batch = this.#takeQuarantined();
      if (batch === undefined) break;
      this.#quarantinedInFlight += 1;
      void this.#send(batch).finally(() => {
        this.#quarantinedInFlight -= 1;
        this.#fill();
      });
    }
  }

  /** Takes the commits of stuck actors, each unbatched. An actor that was stuck more than once pauses first, ever longer. */
  #takeUnbatched(): void {
    for (const actor of this.#unbatched) {
      // If its commit cannot be built, the actor is ready again before this returns.
      this.#unbatched.delete(actor);
      const commit = actor.takeCommit();
      const failures = this.#stuck.get(actor) ?? 0;
      if (commit === undefined) continue;
      const batch = { members: [{ actor, commit }], failures };
      if (failures > 1) this.#sendLater(batch);
      else this.#quarantine.push(batch);
    }
  }

  #takeMembers(): readonly BatchMember[] {
    const { batchActorsMax, batchBytesMax } = this.#options.limits;
    const members: BatchMember[] = [];
    let bytes = 0;
    for (const actor of this.#ready) {
      if (members.length >= batchActorsMax) break;
      if (members.length > 0 && bytes + actor.pendingBytes > batchBytesMax) continue;
      bytes += actor.pendingBytes;
      this.#ready.delete(actor);
      const commit = actor.takeCommit();
      if (commit !== undefined) members.push({ actor, commit });
    }
    return members;
  }

  /** The batch in quarantine that has failed least, and among several the one that has waited longest. */
  #takeQuarantined(): CommitBatch | undefined {
    let best = 0;
    for (const [index, { failures }] of this.#quarantine.entries()) {
      if (failures < (this.#quarantine[best]?.failures ?? 0)) best = index;
    }
    return this.#quarantine.splice(best, 1)[0];
  }

  async #send(batch: CommitBatch): Promise<void> {
    const { store, clock, metrics } = this.#options;
    const { members } = batch;
    const sentMs = clock.monotonicMs();
    const span = this.#batchSpan(members);
    try {
      const passed = await store.commit(members.map((member) => member.commit)).finally(() => span?.end());
      metrics.batch(members.length, clock.monotonicMs() - sentMs);
      this.#writes.passed();
      members.forEach((member, index) => {
        metrics.commit(passed.has(index) ? 'committed' : 'fenced');
        this.#stuck.delete(member.actor);
        if (passed.has(index)) member.actor.committed();
        else member.actor.fenced();
      });
    } catch (error) {
      await this.#failed(batch, error);
    }
  }

  #batchSpan(members: readonly BatchMember[]): Span | undefined {
    const { tracer } = this.#options;
    if (tracer === undefined) return undefined;
    const steps = members.flatMap(({ actor }) => actor.commitSpans);
    return steps.length === 0 ? undefined : tracer.batch('commit batch', steps);
  }

  async #failed(batch: CommitBatch, error: unknown): Promise<void> {
    const { logger, metrics, failures } = this.#options;
    const { members } = batch;
    // An error that does not come from the store leaves the outcome unknown.
    const failure = error instanceof StoreError ? error.failure : 'unknown';
    metrics.commit(failure);
    if (failure === 'unavailable' || failure === 'unknown') this.#writes.failed();
    if (failure === 'conflict' && batch.failures < conflictsMax) return this.#conflicted(batch);
    if (failure === 'rejected') return this.#rejected(batch);
    if (failure === 'defect' && members.length > 1) return this.#halve(batch);
    const times = failures.times(`commit ${error}`);
    if (times !== undefined) logger.warn({ failure, error: String(error), times }, 'a commit failed');
    if (failure === 'unknown') for (const { actor } of members) this.#noteStuck(actor);
    for (const { actor } of members) report(actor, failure, error);
  }

  async #conflicted({ members, failures }: CommitBatch): Promise<void> {
    const locked = members.length === 1 ? members : await this.#lockedOf(members);
    const others = members.filter((member) => !locked.includes(member));
    for (const member of locked) {
      this.#noteStuck(member.actor);
      this.#sendLater({ members: [member], failures });
    }
    if (others.length === 0) return;
    if (locked.length > 0) this.#quarantine.push({ members: others, failures });
    else if (failures < conflictsBeforeHalving) this.#sendLater({ members, failures });
    else this.#halve({ members, failures });
  }

  /** The members whose rows are locked, as far as the database says so. */
  async #lockedOf(members: readonly BatchMember[]): Promise<readonly BatchMember[]> {
    try {
      const unlocked = await this.#options.store.unlocked(members.map(({ commit }) => commit.address));
      return members.filter((_, index) => !unlocked.has(index));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return [];
    }
  }

  async #rejected({ members, failures }: CommitBatch): Promise<void> {
    const rejections = await this.#rejectionsOf(members);
    const innocent: BatchMember[] = [];
    const rivals: BatchMember[] = [];
    for (const [index, member] of members.entries()) {
      const { conflicting, isRival } = rejections?.[index] ?? nothingSeen;
      if (conflicting.length > 0) member.actor.rejected(conflicting);
      else (isRival ? rivals : innocent).push(member);
    }
    const [only] = members;
    if (innocent.length < members.length) {
      if (innocent.length > 0) this.#quarantine.push({ members: innocent, failures });
      for (const rival of rivals) this.#quarantine.push({ members: [rival], failures });
    } else if (members.length > 1) this.#halve({ members, failures });
    else if (only !== undefined && rejections === undefined) report(only.actor, 'unavailable', undefined);
    // The cause of the rejection may be gone, or be a turn of this actor itself.
    else only?.actor.rejected([]);
  }

  async #rejectionsOf(members: readonly BatchMember[]): Promise<readonly Rejection[] | undefined> {
    try {
      return await findRejections(
        this.#options,
        members.map(({ commit }) => commit),
      );
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return undefined;
    }
  }

  #noteStuck(actor: Committing): void {
    this.#stuck.set(actor, (this.#stuck.get(actor) ?? 0) + 1);
  }

  #sendLater({ members, failures }: CommitBatch): void {
    const { clock, random } = this.#options;
    const pauseMs = Math.min(conflictPauseMaxMs, 5 * 2 ** failures);
    this.#pausing += 1;
    void sleep(clock, pauseMs * (0.5 + random.fraction() / 2)).then(() => {
      this.#pausing -= 1;
      this.#quarantine.push({ members, failures: failures + 1 });
      this.#fill();
    });
  }

  #halve({ members, failures }: CommitBatch): void {
    const half = Math.ceil(members.length / 2);
    this.#quarantine.push({ members: members.slice(0, half), failures });
    if (half < members.length) this.#quarantine.push({ members: members.slice(half), failures });
  }
}

function report(
  actor: Committing,
  failure: Exclude<StoreError['failure'], 'rejected'>,
  cause: unknown,
): void {
  // Settling can take as long as the database is away. The committer goes on with others.
  if (failure === 'unknown') void actor.unknown();
  else if (failure === 'defect')
    actor.failed(new TerminalError('the database refused what this call would write'));
  else actor.failed(new UnavailableError('the database cannot take this now', undefined, { cause }));
}
