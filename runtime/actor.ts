/**
 * One active actor: its mailbox, its turns and its output gate.
 *
 * States
 *   activating  the row's epoch is being set to ours; nothing is read before that has been answered
 *   active      turns run
 *   settling    the outcome of a commit is being found out; no turn runs
 *   gone        dropped; whoever asks again finds a new activation
 *
 * The gate. Turns run one after another on the speculative state (durable state + what earlier turns wrote). What
 * they write is gathered; at most one commit of the actor is in flight, and the next gathers meanwhile. An outcome,
 * good or bad, that may have seen speculative state leaves only when the commit that carries that state is durable.
 *
 * What ends a commit, and what follows
 *   committed     promote its writes, let its outcomes out, offer the next
 *   fenced        a newer owner or a newer version exists: drop the actor, everything waiting fails
 *   refused       a server-wide key is taken, nothing was applied: back to the durable state, look up the keys,
 *                 run every turn since again in order. After two refusals each turn is committed alone, so that
 *                 the one that collides by itself fails alone
 *   unavailable   nothing was applied: back to the durable state, the turns fail
 *   unknown       settle by a barrier (never by a read); see `#settle`
 *
 * Crash at any step: nothing but the database remembers. What had not left the gate is unknown to its caller at
 * worst, and a repeat under the same call id finds either the recorded reply or the state before.
 */
import { type Address, shardOf } from './address.ts';
import { sleep } from './clock.ts';
import type { ActorEnvironment } from './environment.ts';
import {
  FencedError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from './errors.ts';
import { type Carried, Gathering } from './gathering.ts';
import { Layers, removed } from './layers.ts';
import { type Message, type Outcome, type Queued, queued } from './message.ts';
import { joinAnswers, splitReads } from './reads.ts';
import { findTaken } from './refusal.ts';
import { Rows } from './rows.ts';
import { type Commit, StoreError, type TimerRow } from './store/store.ts';
import { decodeSlices } from './stored-state.ts';
import {
  buriedSlice,
  isEmpty,
  type Recorded,
  RunningTurn,
  speculativeView,
  type TakenRow,
  type TurnScope,
} from './turn.ts';

const refusalsBeforeAlone = 2;
const refusalsMax = 4;
const settleBackoffMaxMs = 1_000;

type ActorState = 'activating' | 'active' | 'settling' | 'gone';

export class Actor {
  readonly address: Address;
  readonly shard: number;
  readonly epoch: number;
  readonly slices = new Layers<unknown>();
  readonly timers = new Layers<TimerRow>();
  readonly rows: Rows;
  lastUsedMs: number;
  #env: ActorEnvironment;
  #state: ActorState = 'activating';
  #version = 0;
  #durable = 0;
  #queue: Queued[] = [];
  #gathering = new Gathering(1);
  #inFlight: { gathering: Gathering; commitId: string } | undefined;
  #pumping = false;
  #whenActive: { ready: () => void; fail: (error: unknown) => void }[] = [];

  constructor(address: Address, epoch: number, env: ActorEnvironment) {
    this.address = address;
    this.shard = shardOf(address, env.shardCount);
    this.epoch = epoch;
    this.#env = env;
    this.rows = new Rows(env.limits.cachedRowBytesMax);
    this.lastUsedMs = env.clock.monotonicMs();
  }

  get state(): ActorState {
    return this.#state;
  }

  /** Nothing waits and everything is durable. */
  get isIdle(): boolean {
    return (
      this.#state === 'active' &&
      this.#queue.length === 0 &&
      this.#gathering.isEmpty &&
      this.#inFlight === undefined
    );
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get isBuried(): boolean {
    return this.slices.durable.has(buriedSlice);
  }

  deliver(message: Message): void {
    if (this.#queue.length >= this.#env.limits.mailboxMax) {
      this.#env.metrics.overloaded(message.what);
      message.settle({ error: new OverloadedError('too many messages wait at this actor') });
      return;
    }
    this.lastUsedMs = this.#env.clock.monotonicMs();
    const entry = queued(message);
    this.#queue.push(entry);
    if (this.#state !== 'active') return;
    this.#begin(entry);
    this.#pump();
  }

  /** Resolves once the actor is active, for what is answered without a turn. */
  active(): Promise<void> {
    if (this.#state === 'active' || this.#state === 'settling') return Promise.resolve();
    return new Promise((ready, fail) => this.#whenActive.push({ ready, fail }));
  }

  // --- activation -------------------------------------------------------------------------------------------

  async activate(): Promise<void> {
    try {
      const creates = this.#queue.some((entry) => entry.message.creates);
      const { store } = this.#env;
      const activation = await store.activate(this.address, this.shard, this.epoch, creates);
      if (activation.outcome === 'fenced')
        return this.#drop('fenced', new FencedError('a newer owner holds this actor'));
      if (activation.outcome === 'absent') return await this.#absent();
      // Only now: a read begun before the barrier was answered could miss the old owner's last commit.
      const [slices, timers] = await Promise.all([store.slices(this.address), store.timers(this.address)]);
      for (const [name, value] of decodeSlices(this.#env.kind, slices)) this.slices.load(name, value);
      for (const timer of timers) this.timers.load(timer.name, timer);
      this.#version = activation.row.version;
      this.#becomeActive();
    } catch (error) {
      this.#env.logger.warn({ kind: this.address.kind, error: String(error) }, 'activation failed');
      this.#drop('failed', new UnavailableError('the state of this actor cannot be loaded now'));
    }
  }

  #becomeActive(): void {
    this.#env.metrics.activated('active');
    this.#state = 'active';
    for (const { ready } of this.#whenActive.splice(0)) ready();
    this.#beginAll();
    this.#pump();
  }

  /** There is no such actor. What waits fails, unless it came meanwhile and may create it. */
  async #absent(): Promise<void> {
    const creating = this.#queue.filter((entry) => entry.message.creates);
    const error = new NotFoundError('there is no such actor');
    if (creating.length === 0) return this.#drop('absent', error);
    const others = this.#queue.filter((entry) => !entry.message.creates);
    this.#queue = creating;
    for (const entry of others) entry.message.settle({ error });
    await this.activate();
  }

  #drop(reason: 'absent' | 'fenced' | 'failed', error: Error): void {
    this.#env.metrics.activated(reason);
    this.leave(error);
  }

  /** Leaves memory; everything that waits fails with `error`. */
  leave(error: Error): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#env.gone(this);
    const carried = [...(this.#inFlight?.gathering.carried ?? []), ...this.#gathering.carried];
    this.#inFlight = undefined;
    this.#gathering = new Gathering(0);
    for (const { queued: entry } of carried) this.#answer(entry, { error });
    for (const entry of this.#queue.splice(0)) this.#answer(entry, { error });
    for (const { fail } of this.#whenActive.splice(0)) fail(error);
  }

  // --- turns ------------------------------------------------------------------------------------------------

  #beginAll(): void {
    for (const entry of this.#queue) this.#begin(entry);
  }

  /** Begins the reads of a message on its arrival, so that they overlap with the turns before it. */
  #begin(entry: Queued): void {
    try {
      const plans = entry.message.plans(speculativeView(this.#scope(entry.taken)));
      const split = splitReads(plans, this.address.id, this.rows);
      if (split.reads.length === 0) {
        entry.reads = { plans, ticket: undefined, answers: joinAnswers(split, []), error: undefined };
        // Without a ticket a later commit's rows could leave memory before the turn runs.
        if (Object.keys(plans).length > 0)
          entry.reads = { ...entry.reads, ticket: this.rows.begin(this.#durable) };
        return;
      }
      const reads = { plans, ticket: this.rows.begin(this.#durable), answers: undefined, error: undefined };
      entry.reads = reads;
      this.#finish(
        entry,
        reads,
        this.#env.read(split.reads).then((answered) => joinAnswers(split, answered)),
      );
    } catch (error) {
      entry.reads = { plans: {}, ticket: undefined, answers: undefined, error };
    }
  }

  #finish(
    entry: Queued,
    reads: NonNullable<Queued['reads']>,
    answers: Promise<ReturnType<typeof joinAnswers>>,
  ): void {
    const done = () => {
      // The reads may have been begun anew meanwhile (a revert); then this answer is of no use.
      if (entry.reads === reads) this.#pump();
    };
    answers.then(
      (found) => {
        reads.answers = found;
        done();
      },
      (error) => {
        reads.error = error;
        done();
      },
    );
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#canTakeTurn()) {
        const entry = this.#queue.shift();
        if (entry !== undefined) this.#take(entry);
      }
    } finally {
      this.#pumping = false;
    }
  }

  #canTakeTurn(): boolean {
    const [next] = this.#queue;
    if (this.#state !== 'active' || next === undefined) return false;
    if (this.#gathering.sealed || this.#gathering.bytes >= this.#env.limits.gatherBytesMax) return false;
    if (next.alone && !this.#gathering.isEmpty) return false;
    return next.reads?.answers !== undefined || next.reads?.error !== undefined;
  }

  #take(entry: Queued): void {
    const { message, reads } = entry;
    const turn = new RunningTurn(this.#scope(entry.taken));
    const outcome = this.#run(entry, turn);
    if (reads?.ticket !== undefined) this.rows.end(reads.ticket);
    this.#env.metrics.turn(message.what, 'error' in outcome ? 'error' : 'ok');
    if ('error' in outcome || isEmpty(turn.recorded)) this.#gate(entry, outcome);
    else this.#gather(entry, outcome, turn.recorded);
  }

  #run({ message, reads }: Queued, turn: RunningTurn): Outcome {
    const { clock, lease } = this.#env;
    if (clock.monotonicMs() > message.deadlineMs) {
      return { error: new RetryableError('the deadline passed before the turn', { outcome: 'none' }) };
    }
    if (!lease.isValid()) return { error: new UnavailableError('this host may not serve now') };
    if (reads?.answers === undefined) return { error: readError(reads?.error) };
    if (this.slices.get(buriedSlice) !== undefined && !message.reachesBuried) {
      const revives = message.creates && this.#env.kind.revivable;
      if (!revives) return { error: new NotFoundError('this actor is no more') };
      turn.recorded.slices.set(buriedSlice, removed);
    }
    try {
      return { value: message.run(turn, reads.plans, reads.answers) };
    } catch (error) {
      return { error };
    }
  }

  /** An outcome without writes leaves at once, or with the last commit whose state it may have seen. */
  #gate(entry: Queued, outcome: Outcome): void {
    const last = this.#gathering.isEmpty ? this.#inFlight?.gathering : this.#gathering;
    if (last === undefined) this.#answer(entry, outcome);
    else last.carried.push({ queued: entry, outcome });
  }

  #gather(entry: Queued, outcome: Outcome, recorded: Recorded): void {
    const gathering = this.#gathering;
    gathering.carried.push({ queued: entry, outcome });
    gathering.add(recorded);
    gathering.sealed ||= entry.alone;
    for (const [name, change] of recorded.slices) {
      this.slices.lay(name, change === removed ? removed : change.value, gathering.number);
    }
    for (const [name, timer] of recorded.timers) this.timers.lay(name, timer, gathering.number);
    for (const { key, write } of recorded.rows.values()) {
      this.rows.lay(write.table, key, 'put' in write ? write.put : removed, gathering.number);
    }
    if (this.#inFlight === undefined) this.#env.committer.ready(this);
  }

  #scope(taken: readonly TakenRow[]): TurnScope {
    const { clock, random, kind, shardCount } = this.#env;
    return {
      self: this.address,
      slices: this.slices,
      timers: this.timers,
      rows: this.rows,
      taken,
      nowMs: clock.nowMs(),
      nowMicros: clock.nowMicros(),
      shardCount,
      timerNames: kind.timers,
      random,
    };
  }

  #answer(entry: Queued, outcome: Outcome): void {
    if (entry.answered) return;
    entry.answered = true;
    entry.message.settle(outcome);
  }

  // --- commits ----------------------------------------------------------------------------------------------

  /** The bytes that wait to be committed, for the committer's batches. */
  get gatheredBytes(): number {
    return this.#gathering.bytes;
  }

  /** Hands the gathered turns to the committer. Undefined when there is nothing (any more) to commit. */
  takeCommit(): Commit | undefined {
    if (this.#state !== 'active' || this.#inFlight !== undefined || this.#gathering.isEmpty) return undefined;
    const gathering = this.#gathering;
    const commitId = this.#env.random.uuid();
    this.#gathering = new Gathering(gathering.number + 1);
    this.#inFlight = { gathering, commitId };
    try {
      return gathering.build(this.address, this.epoch, this.#version, commitId);
    } catch (error) {
      this.#failAll(error instanceof Error ? error : new TerminalError('a commit could not be built'));
      return undefined;
    }
  }

  committed(): void {
    const flight = this.#inFlight;
    if (flight === undefined) return;
    const { gathering } = flight;
    this.#inFlight = undefined;
    this.#version += 1;
    this.#durable = gathering.number;
    this.#promote(gathering);
    this.#env.timersCommitted(gathering.timers.values());
    if (gathering.tells.length > 0) this.#env.tellsCommitted(gathering.tellRows(this.#version));
    if (this.#state === 'settling') this.#state = 'active';
    for (const { queued: entry, outcome } of gathering.carried) this.#answer(entry, outcome);
    this.#proceed();
  }

  #promote(gathering: Gathering): void {
    const slices = new Map(
      [...gathering.slices].map(
        ([name, change]) => [name, change === removed ? removed : change.value] as const,
      ),
    );
    this.slices.promote(slices, gathering.number);
    this.timers.promote(gathering.timers, gathering.number);
    this.rows.promote(gathering.written(), gathering.number);
  }

  #proceed(): void {
    if (!this.#gathering.isEmpty) this.#env.committer.ready(this);
    this.#pump();
  }

  fenced(): void {
    this.leave(new FencedError('a newer owner holds this actor'));
  }

  /** Nothing of the commit was applied, and asking the database again now would not help. */
  failed(error: Error): void {
    this.#failAll(error);
  }

  async refused(): Promise<void> {
    const flight = this.#inFlight;
    if (flight === undefined) return;
    this.#state = 'settling';
    try {
      const taken = await findTaken(this.#env.store, flight.gathering);
      this.#runAgain(taken);
    } catch (error) {
      this.#state = 'active';
      this.#failAll(readError(error));
    }
  }

  unknown(): Promise<void> {
    this.#state = 'settling';
    return this.#settle();
  }

  /**
   * Finds out what became of a commit whose answer was lost. The barrier bumps the version under the row's lock:
   * afterwards the lost statement can find no row, wherever it still is, so what `commit_id` says then is final.
   */
  async #settle(): Promise<void> {
    const flight = this.#inFlight;
    if (flight === undefined) return;
    const { store, clock, random } = this.#env;
    for (let attempt = 0; this.#state === 'settling'; attempt += 1) {
      try {
        const row = await store.barrier(this.address, this.epoch);
        if (row === undefined) return await this.#settleFenced(flight.commitId);
        if (row.commitId === flight.commitId) {
          this.#version = row.version - 1;
          return this.committed();
        }
        this.#version = row.version;
        return this.#runAgain([]);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        const backoffMs = Math.min(settleBackoffMaxMs, 20 * 2 ** attempt);
        await sleep(clock, backoffMs * (0.5 + random.fraction() / 2));
      }
    }
  }

  /** A newer epoch holds the actor. Its row tells only whether ours was the last commit before that. */
  async #settleFenced(commitId: string): Promise<void> {
    const row = await this.#env.store.head(this.address);
    if (row?.commitId === commitId) {
      for (const { queued: entry, outcome } of this.#inFlight?.gathering.carried ?? [])
        this.#answer(entry, outcome);
    }
    const error = new RetryableError('the outcome of this call is unknown', { outcome: 'unknown' });
    for (const { queued: entry } of this.#inFlight?.gathering.carried ?? []) this.#answer(entry, { error });
    this.fenced();
  }

  /** Back to the durable state; runs every turn since again, in order. */
  #runAgain(taken: readonly TakenRow[]): void {
    const refused = this.#inFlight?.gathering.carried ?? [];
    const behind = this.#gathering.carried;
    const again: Queued[] = [];
    for (const { queued: entry } of refused) {
      if (taken.length > 0) entry.refusals += 1;
      entry.taken = taken;
      entry.alone = entry.refusals > refusalsBeforeAlone;
      if (entry.refusals <= refusalsMax) again.push(entry);
      else this.#answer(entry, { error: new TerminalError('a key of this call is taken') });
    }
    for (const { queued: entry } of behind) again.push(entry);
    this.#revert(again.filter((entry) => !entry.answered));
  }

  /** Back to the durable state; the turns since fail with `error`. */
  #failAll(error: Error): void {
    const carried: Carried[] = [...(this.#inFlight?.gathering.carried ?? []), ...this.#gathering.carried];
    for (const { queued: entry } of carried) this.#answer(entry, { error });
    this.#revert([]);
  }

  #revert(again: readonly Queued[]): void {
    this.#inFlight = undefined;
    this.#gathering = new Gathering(this.#durable + 1);
    this.slices.revert();
    this.timers.revert();
    this.rows.revert(this.#durable);
    if (this.#state === 'gone') return;
    this.#state = 'active';
    this.#queue = [...again, ...this.#queue];
    // Every read may have been planned on, or taken from, state that never became durable.
    for (const entry of this.#queue) {
      if (entry.reads?.ticket !== undefined) this.rows.end(entry.reads.ticket);
    }
    this.#beginAll();
    this.#pump();
  }

  /** Answers whoever has waited past the deadline. Called every now and then by the host. */
  expire(nowMs: number): void {
    const late = (entry: Queued) => entry.message.deadlineMs < nowMs;
    const none = new RetryableError('the deadline passed before the turn', { outcome: 'none' });
    const expired = this.#queue.filter(late);
    if (expired.length > 0) {
      this.#queue = this.#queue.filter((entry) => !late(entry));
      for (const entry of expired) {
        if (entry.reads?.ticket !== undefined) this.rows.end(entry.reads.ticket);
        this.#answer(entry, { error: none });
      }
    }
    const unknown = new RetryableError('the outcome of this call is unknown', { outcome: 'unknown' });
    for (const { queued: entry } of [
      ...(this.#inFlight?.gathering.carried ?? []),
      ...this.#gathering.carried,
    ]) {
      if (late(entry)) this.#answer(entry, { error: unknown });
    }
    this.#pump();
  }
}

function readError(error: unknown): Error {
  if (error instanceof StoreError) return new UnavailableError('the database cannot answer now');
  return error instanceof Error ? error : new TerminalError('a read plan failed');
}
