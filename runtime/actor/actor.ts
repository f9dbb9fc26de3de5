/**
 * One active actor: it takes messages from its mailbox, runs their turns, and lets their outcomes out at its gate.
 *
 * States
 *   activating  the row's epoch is being set to ours; nothing is read before that has been answered
 *   active      turns run
 *   settling    the outcome of a commit is being found out; no turn runs
 *   gone        dropped; the next message finds a new activation
 *
 * What ends a commit (gate.ts), and what follows
 *   committed     promote its writes, let its outcomes out, offer the next
 *   fenced        a newer owner or a newer version exists: drop the actor, everything waiting fails
 *   rejected      a server-wide key is taken, nothing was applied: back to the durable state, run every turn since
 *                 again in order, each shown the rows that were found. After two rejections each turn is committed
 *                 alone, so that the one that collides by itself fails alone
 *   defect        a turn wrote what cannot be stored, nothing was applied: likewise, each turn alone at once
 *   unavailable   nothing was applied: back to the durable state, the turns fail
 *   unknown       settle by a barrier, never by a read (runtime/commit/settlement.ts). Where nothing was applied, run
 *                 the turns again, each committed alone; one that is lost again and again fails
 *
 * Crash at any step: only the database remembers. A caller whose outcome had not left the gate does not know it, at worst. A
 * repeat under the same call id finds either the recorded reply or the state before.
 */

import { type Address, shardOf } from '../address.ts';
import type { Activation } from '../command.ts';
import type { Committing } from '../commit/committer.ts';
import type { ConflictingRow, ConflictingRows } from '../commit/conflicting-rows.ts';
import { settleCommit } from '../commit/settlement.ts';
import {
  FencedError,
  MovedError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../errors.ts';
import { isJobTimer, type JobChange } from '../jobs/lease.ts';
import type { Random } from '../random.ts';
import { NegativeCache } from '../read/negative-cache.ts';
import { NewerFormatError } from '../store/encoding.ts';
import { type Commit, StoreError } from '../store/store.ts';
import { tombstoneSlice } from '../store/tables.ts';
import { endSpan, type Span } from '../tracing.ts';
import { ActivationWaiters, loadActor } from './activation.ts';
import { ActorState } from './actor-state.ts';
import type { ActorEnvironment } from './environment.ts';
import { Gate, type PendingCommit, possibleCauses } from './gate.ts';
import type { Layers } from './layers.ts';
import { Mailbox } from './mailbox.ts';
import type { Message, MessageOutcome, QueuedMessage } from './message.ts';
import { readFailure } from './reads.ts';
import { RecordedCalls } from './recorded-calls.ts';
import {
  isEmpty,
  type RecordedTurn,
  RunningTurn,
  speculativeView,
  type TurnScope,
  UnplannedRowError,
} from './turn.ts';

const rejectionsBeforeUnmerged = 2;
const rejectionsMax = 4;
/** Shorter than callers wait, and longer than two statements take to time out. */
const lossPatienceMs = 15_000;
/** For an activation: shorter than callers wait, and longer than a former owner that is cut off can hold the lock of a row. */
const lockPatienceMs = 5_000;

type Phase = 'activating' | 'active' | 'settling' | 'gone';

/** Draws the id of the activation when it is first needed. Most actors never need one. */
class DrawnActivation implements Activation {
  readonly #random: Pick<Random, 'uuid'>;
  #id: string | undefined;

  constructor(random: Pick<Random, 'uuid'>) {
    this.#random = random;
  }

  get id(): string {
    this.#id ??= this.#random.uuid();
    return this.#id;
  }
}

export class Actor implements Committing {
  readonly address: Address;
  readonly activation: Activation;
  readonly shard: number;
  readonly epoch: number;
  /** The owners found to have nothing new for this actor. */
  readonly negativeCache: NegativeCache;
  lastUsedMs: number;
  /** How many turns it has taken since it came into memory. */
  turns = 0;
  #env: ActorEnvironment;
  #phase: Phase = 'activating';
  #version = 0;
  readonly #held: ActorState;
  readonly #mailbox: Mailbox;
  readonly #gate = new Gate();
  readonly #recordedCalls: RecordedCalls;
  readonly #activationWaiters: ActivationWaiters;
  readonly #cameMs: number;
  #pumping = false;

  constructor(address: Address, epoch: number, env: ActorEnvironment) {
    this.address = address;
    this.activation = new DrawnActivation(env.random);
    this.shard = shardOf(address, env.shardCount);
    this.epoch = epoch;
    this.#env = env;
    this.#held = new ActorState(env.limits.cachedRowBytesMax);
    this.#recordedCalls = new RecordedCalls(env.limits.recordedCallsOfActorMax);
    this.negativeCache = new NegativeCache(env);
    this.#mailbox = new Mailbox({
      owner: address.id,
      rows: this.#held.rows,
      negativeCache: this.negativeCache,
      read: (reads) => env.reader.read(address, reads),
      view: (entry) => speculativeView(this.#scope(entry.conflicting)),
      durableCommit: () => this.#held.durableCommit,
      onReady: () => this.#pump(),
    });
    this.#activationWaiters = new ActivationWaiters(env);
    this.#cameMs = env.clock.monotonicMs();
    this.lastUsedMs = this.#cameMs;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The version of the last durable commit. */
  get version(): number {
    return this.#version;
  }

  /** Messages that wait for their turn. */
  get waiting(): number {
    return this.#mailbox.size;
  }

  /** Outcomes that wait at the gate. */
  get atGate(): number {
    return this.#gate.size;
  }

  /** Nothing waits, no read is outstanding, and everything is durable. */
  get isIdle(): boolean {
    const isWaitedFor = this.#mailbox.size > 0 || this.#held.rows.isRead;
    return this.#phase === 'active' && !isWaitedFor && this.#gate.isEmpty;
  }

  /** Approximate bytes in memory. */
  get heldBytes(): number {
    return this.#held.bytes + this.#gate.pendingBytes + this.#recordedCalls.bytes + this.negativeCache.bytes;
  }

  get isTombstone(): boolean {
    return this.#held.isTombstone;
  }

  /** The slices as they are durable now. Not to be changed by the caller. */
  get durableSlices(): Layers<unknown>['durable'] {
    return this.#held.slices.durable;
  }

  deliver(message: Message): void {
    if (this.#mailbox.size + this.#gate.size >= this.#env.limits.mailboxMax) {
      this.#env.metrics.overloaded(message.what);
      message.resolve({ error: new OverloadedError('too many messages wait at this actor') });
      return;
    }
    this.lastUsedMs = this.#env.clock.monotonicMs();
    const entry = this.#mailbox.push(message, this.lastUsedMs);
    if (this.#phase !== 'active') return;
    this.#mailbox.begin(entry);
    this.#pump();
  }

  /** Resolves once the actor is active, for calls that are answered without a turn. @throws ActorError */
  active(deadlineMs: number): Promise<void> {
    if (this.#phase === 'active' || this.#phase === 'settling') return Promise.resolve();
    return this.#activationWaiters.wait(deadlineMs);
  }

  // --- activation -------------------------------------------------------------------------------------------

  /** `locked`: another transaction holds the row's lock. Try again. */
  async activate(): Promise<'ended' | 'locked'> {
    try {
      await this.#load();
    } catch (error) {
      if (this.#mayBeTriedAgain(error)) return 'locked';
      this.#loadFailed(error);
    }
    return 'ended';
  }

  async #load(): Promise<void> {
    const { store, kind } = this.#env;
    const creates = this.#mailbox.messages.some((message) => message.creates);
    const loaded = await loadActor(store, kind, this, creates);
    if (this.#phase === 'gone') return;
    if (loaded === 'fenced') return this.#drop('fenced', new FencedError('a newer owner holds this actor'));
    if (loaded === 'absent') return await this.#absent();
    this.#held.load(loaded);
    this.#version = loaded.version;
    this.#becomeActive();
  }

  #mayBeTriedAgain(error: unknown): boolean {
    const isLocked = error instanceof StoreError && error.failure === 'conflict';
    return isLocked && this.#env.clock.monotonicMs() < this.#cameMs + lockPatienceMs;
  }

  #loadFailed(error: unknown): void {
    const { logger, failures } = this.#env;
    const fields = { kind: this.address.kind, error: String(error) };
    const times = failures.times(`activation ${fields.kind} ${fields.error}`);
    if (times !== undefined) logger.warn({ ...fields, times }, 'activation failed');
    if (error instanceof NewerFormatError) this.#env.unreadable(this);
    this.#drop(
      'failed',
      new UnavailableError('the state of this actor cannot be loaded now', undefined, { cause: error }),
    );
  }

  #becomeActive(): void {
    this.#env.metrics.activated('active');
    this.#phase = 'active';
    this.#setUnchangedMarker();
    this.#activationWaiters.ready();
    this.#mailbox.beginAll();
    this.#pump();
  }

  /** The actor does not exist. Waiting messages fail, except those that came meanwhile and may create it. */
  async #absent(): Promise<void> {
    const error = new NotFoundError('there is no such actor');
    for (const entry of this.#mailbox.takeWhere(({ message }) => !message.creates))
      this.#answer(entry, { error });
    if (this.#mailbox.size === 0) return this.#drop('absent', error);
    await this.#load();
  }

  #drop(reason: 'absent' | 'fenced' | 'failed', error: Error): void {
    this.#env.metrics.activated(reason);
    this.leave(error);
  }

  /** Leaves memory. Everything that waits fails with `error`. The commit in flight may still be applied. */
  leave(error: Error): void {
    if (this.#phase === 'gone') return;
    this.#phase = 'gone';
    this.#env.gone(this);
    for (const { queued: entry } of this.#gate.pendingOutcomes) this.#answer(entry, { error });
    for (const { queued: entry } of this.#gate.carried) this.#answer(entry, { error: outcomeUnknown() });
    this.#gate.clear(this.#held.durableCommit);
    for (const entry of this.#mailbox.takeWhere(() => true)) this.#answer(entry, { error });
    this.#activationWaiters.fail(error);
  }

  // --- turns ------------------------------------------------------------------------------------------------

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#canTakeTurn()) {
        const entry = this.#mailbox.take();
        if (entry !== undefined) this.#take(entry);
      }
      this.#held.rows.release();
    } finally {
      this.#pumping = false;
    }
  }

  #canTakeTurn(): boolean {
    const { next } = this.#mailbox;
    if (this.#phase !== 'active' || next === undefined) return false;
    return this.#gate.admits(next, this.#env.limits.pendingBytesMax) && this.#mailbox.isNextReady;
  }

  #take(entry: QueuedMessage): void {
    const turn = new RunningTurn(this.#scope(entry.conflicting));
    const outcome = this.#run(entry, turn);
    if (isPlanOutdated(entry, outcome)) this.#mailbox.requeue(entry);
    else this.#took(entry, turn, outcome);
  }

  #took(entry: QueuedMessage, turn: RunningTurn, outcome: MessageOutcome): void {
    entry.signals = turn.recorded.signals;
    this.turns += 1;
    this.#env.metrics.turn(entry.message.what, 'error' in outcome ? 'error' : 'ok');
    if ('error' in outcome || isEmpty(turn.recorded)) this.#hold(entry, outcome);
    else if (this.#gate.mustWait(turn.recorded)) this.#takeAfterCommit(entry);
    else this.#addPending(entry, outcome, turn.recorded);
  }

  #takeAfterCommit(entry: QueuedMessage): void {
    this.#gate.closePending();
    this.#mailbox.requeue(entry);
  }

  #run({ message, reads }: QueuedMessage, turn: RunningTurn): MessageOutcome {
    const { clock, lease } = this.#env;
    if (clock.monotonicMs() > message.deadlineMs) {
      return { error: new RetryableError('the deadline passed before the turn', { outcome: 'none' }) };
    }
    if (!lease.isValid()) return { error: new MovedError('this host may not serve now') };
    if (reads?.answers === undefined) return { error: readFailure(reads?.error) };
    if (this.#held.slices.get(tombstoneSlice) !== undefined && !message.reachesTombstone) {
      const revives = message.creates && this.#env.kind.revivable;
      if (!revives) return { error: new NotFoundError('this actor is no more') };
      turn.revive();
    }
    try {
      return { value: message.run(turn, reads.plans, reads.answers) };
    } catch (error) {
      return { error };
    }
  }

  /** An outcome without writes leaves at once, or with the last commit whose state it may have seen. */
  #hold(entry: QueuedMessage, outcome: MessageOutcome): void {
    if (!this.#gate.hold({ queued: entry, outcome })) this.#answer(entry, outcome);
  }

  #addPending(entry: QueuedMessage, outcome: MessageOutcome, recorded: RecordedTurn): void {
    const commit = this.#gate.addPending({ queued: entry, outcome }, recorded);
    this.#held.overlay(recorded, commit);
    if (this.#gate.flight === undefined) this.#env.committer.ready(this);
  }

  #scope(conflicting: ConflictingRows): TurnScope {
    const { clock, random, kind, dependencies, shardCount, publisher, limits } = this.#env;
    return {
      self: this.address,
      activation: this.activation,
      slices: this.#held.slices,
      timers: this.#held.timers,
      rows: this.#held.rows,
      conflicting,
      nowMs: clock.nowMs(),
      nowMicros: clock.nowMicros(),
      shardCount,
      timerNames: kind.timers,
      jobNames: kind.jobs,
      jobLeaseMs: limits.jobLeaseMs,
      dependencies,
      random,
      publisher,
      recordedCalls: this.#recordedCalls,
    };
  }

  #answer(entry: QueuedMessage, outcome: MessageOutcome): void {
    const { commitSpan } = entry;
    // Do this even if the caller no longer waits: the turn's effects are durable all the same.
    if ('value' in outcome) {
      this.#env.publisher.signalled(this.address, entry.signals, commitSpan?.traceparent);
    }
    if (commitSpan !== undefined) {
      endSpan(commitSpan, outcome);
      // An expired turn is answered once more when its commit is durable.
      entry.commitSpan = undefined;
    }
    if (entry.answered) return;
    entry.answered = true;
    entry.message.resolve(outcome);
  }

  // --- commits ----------------------------------------------------------------------------------------------

  get pendingBytes(): number {
    return this.#gate.pendingBytes;
  }

  takeCommit(): Commit | undefined {
    if (this.#phase !== 'active' || this.#gate.flight !== undefined || !this.#gate.hasPending)
      return undefined;
    const commitId = this.#env.random.uuid();
    const pending = this.#gate.launch(commitId);
    for (const { queued: entry } of pending.carried) beginCommitSpan(entry);
    this.#clearUnchangedMarker();
    try {
      const commit = pending.build(this.address, this.epoch, this.#version, commitId);
      return this.#held.hasEnded ? { ...commit, ends: true } : commit;
    } catch (error) {
      this.#failUnbatched(error instanceof Error ? error : new TerminalError('a commit could not be built'));
      return undefined;
    }
  }

  get commitSpans(): readonly Span[] {
    return this.#gate.flight?.pending.carried.flatMap(({ queued: { commitSpan } }) => commitSpan ?? []) ?? [];
  }

  committed(): void {
    const { flight } = this.#gate;
    if (flight === undefined) return;
    this.#version += 1;
    this.#durableNow(flight.pending);
  }

  #durableNow(pending: PendingCommit): void {
    this.#gate.land();
    this.#phase = 'active';
    this.#setUnchangedMarker();
    const jobs = this.#jobsOf(pending);
    this.#held.promote(pending);
    this.#env.timersCommitted(pending.timers.values());
    if (jobs.length > 0) this.#env.jobsCommitted(this.address, jobs);
    if (pending.tells.length > 0) this.#env.tellsCommitted(pending.tellRows(this.#version));
    for (const { queued: entry, outcome } of pending.carried) this.#answer(entry, outcome);
    this.#proceed();
  }

  /** No commit of this actor is on its way to the database. */
  #setUnchangedMarker(): void {
    if (this.#env.kind.membershipTable !== undefined) this.#env.unchangedMarkers.set(this);
  }

  /** If the actor leaves memory before it knows the outcome of its commit, the next activation sets another marker. */
  #clearUnchangedMarker(): void {
    if (this.#env.kind.membershipTable !== undefined) this.#env.unchangedMarkers.clear(this);
  }

  /** The jobs whose rows a commit changes, compared with the durable state before it. */
  #jobsOf({ timers }: PendingCommit): readonly JobChange[] {
    return [...timers].flatMap(([timer, after]) =>
      isJobTimer(timer) ? [{ timer, before: this.#held.timers.durable.get(timer), after }] : [],
    );
  }

  #proceed(): void {
    if (this.#gate.hasPending) this.#env.committer.ready(this);
    this.#pump();
  }

  fenced(): void {
    const error = new FencedError('a newer owner holds this actor');
    for (const { queued: entry } of this.#gate.carried) this.#answer(entry, { error });
    this.leave(error);
  }

  failed(error: UnavailableError | TerminalError): void {
    if (error instanceof TerminalError) this.#failUnbatched(error);
    else this.#failAll(error);
  }

  /** Nothing of the commit was applied. The rows that were in its way, if any were found, are the cause. */
  rejected(conflicting: readonly ConflictingRow[]): void {
    const { flight } = this.#gate;
    if (flight === undefined) return;
    this.#noteRejection(flight.pending, conflicting);
    this.#runAgain();
  }

  /** The answer of the commit was lost. No turn runs until its outcome is known. */
  async unknown(): Promise<void> {
    const { flight } = this.#gate;
    if (flight === undefined) return;
    this.#phase = 'settling';
    const commit = { address: this.address, epoch: this.epoch, commitId: flight.commitId };
    const settlement = await settleCommit(this.#env, commit, () => this.#phase === 'settling');
    if (settlement === undefined || this.#phase !== 'settling') return;
    if (settlement.became === 'fenced') return this.#lostToNewer(flight.pending, settlement.wasCommitted);
    this.#version = settlement.version;
    if (settlement.became === 'nothing') {
      this.#noteLoss(flight.pending);
      return this.#runAgain();
    }
    // Messages that came meanwhile have not begun their reads. Running again begins all reads again.
    this.#mailbox.beginAll();
    this.#durableNow(flight.pending);
  }

  #lostToNewer(pending: PendingCommit, wasCommitted: boolean): void {
    if (wasCommitted) for (const { queued: entry, outcome } of pending.carried) this.#answer(entry, outcome);
    // The lost statement is rejected whenever it comes.
    else this.#env.metrics.commit('fenced');
    this.leave(new FencedError('a newer owner holds this actor'));
  }

  /** Counts even if no conflicting row was found: a turn of the same commit, or the turn itself, may be the cause. */
  #noteRejection(pending: PendingCommit, conflicting: readonly ConflictingRow[]): void {
    for (const { queued: entry } of pending.carried) entry.conflicting = entry.conflicting.with(conflicting);
    for (const { queued: entry } of possibleCauses(pending)) {
      entry.rejections += 1;
      entry.unmerged ||= entry.rejections > rejectionsBeforeUnmerged;
      if (entry.rejections <= rejectionsMax) continue;
      this.#answer(entry, { error: new TerminalError('a key of this call is taken') });
    }
  }

  /** After its first loss a turn is committed alone. A turn that is lost again after `lossPatienceMs` fails, and is not tried forever. */
  #noteLoss(pending: PendingCommit): void {
    const hopelessMs = this.#env.clock.monotonicMs() - lossPatienceMs;
    for (const { queued: entry } of possibleCauses(pending)) {
      if (entry.unmerged && entry.cameMs <= hopelessMs)
        this.#answer(entry, {
          error: new TerminalError('the database never finishes what this call writes'),
        });
      entry.unmerged = true;
    }
  }

  /** One turn of the commit wrote what cannot be stored. The turn that does so when committed alone fails with `error`. */
  #failUnbatched(error: Error): void {
    const { flight } = this.#gate;
    const entries = flight === undefined ? [] : possibleCauses(flight.pending);
    for (const { queued: entry } of entries) {
      if (entries.length === 1) this.#answer(entry, { error });
      else entry.unmerged = true;
    }
    this.#runAgain();
  }

  /** Returns to the durable state, and runs every unanswered turn since then again, in order. */
  #runAgain(): void {
    const again = this.#gate.carried.map(({ queued: entry }) => entry);
    this.#revert(again.filter((entry) => !entry.answered));
  }

  /** Returns to the durable state. The turns since then fail with `error`. */
  #failAll(error: Error): void {
    for (const { queued: entry } of this.#gate.carried) this.#answer(entry, { error });
    this.#revert([]);
  }

  #revert(again: readonly QueuedMessage[]): void {
    this.#gate.clear(this.#held.durableCommit);
    this.#held.revert();
    if (this.#phase === 'gone') return;
    this.#phase = 'active';
    this.#setUnchangedMarker();
    this.#mailbox.restart(again);
    this.#pump();
  }

  /** Fails messages whose deadline has passed. Called by the host at intervals. */
  expire(nowMs: number): void {
    const late = (entry: QueuedMessage) => entry.message.deadlineMs < nowMs;
    // An error is made only for a late message: its stack trace is expensive, and this runs for every actor in use.
    const none = () => new RetryableError('the deadline passed before the turn', { outcome: 'none' });
    for (const entry of this.#mailbox.takeWhere(late)) this.#answer(entry, { error: none() });
    for (const { queued: entry } of this.#gate.carried) {
      if (late(entry)) this.#answer(entry, { error: outcomeUnknown() });
    }
    this.#activationWaiters.expire(nowMs, none);
    this.#pump();
  }
}

function outcomeUnknown(): RetryableError {
  return new RetryableError('the outcome of this call is unknown', { outcome: 'unknown' });
}

/** A turn that runs again has a commit of its own each time. */
function beginCommitSpan(entry: QueuedMessage): void {
  entry.commitSpan?.end();
  entry.commitSpan = entry.message.span?.child('commit');
}

/** Whether earlier turns may have changed the state from which the plan was made. */
const isPlanOutdated = ({ reads }: QueuedMessage, outcome: MessageOutcome): boolean =>
  reads?.isEarly === true && 'error' in outcome && outcome.error instanceof UnplannedRowError;
