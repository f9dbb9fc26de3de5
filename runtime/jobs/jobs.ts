/**
 * The jobs of a host: slow work that a turn starts, and that goes on outside turns until it is done.
 *
 * Protocol
 *   start    a turn writes the job's row (`lease.ts`) in its own commit: a timer with a token, due when the lease ends
 *   run      when a commit that gave the row a new token is durable, the host that made it runs the job, or lets it wait for
 *            room here. Either way the host holds the lease, and a turn renews it three times before it ends
 *   turn     a turn of the run is rejected before it begins unless the row still has the run's token
 *   finish   the last turn removes the row, in the same commit as its result
 *   failure  after an error of a run, a turn gives the token back: the row is due again after a growing pause, and dead after
 *            `attemptsMax`. What the runtime or another actor cannot do now is tried again and not counted
 *   lapse    the row is due, so its holder is presumed dead. A turn of the actor's next owner, or of the same one, gives it a
 *            new token, and "run" follows. A host that still holds it, or has no room for it, makes it due later
 *   drain    waiting jobs are given back, due at once; running ones may finish for a while, and are then given back, too
 *   leave    the shard is handed over: its runs are aborted, and its jobs given back, due at once, before the shard is released
 *
 * Invariants
 *   - At most one token of a job counts, and only one run ever got it: results of two runs never mix.
 *   - No run begins before the commit of its start, or of its take-over, is durable.
 *   - A job that was started and not stopped has a row until a run has finished. Its turns take effect exactly once, as far as its
 *     state records its progress. Its work outside turns takes effect at least once.
 *   - At most `jobsMax` runs of each declared job go on here, and `jobsWaitingMax` wait. The lease of any more lapses, and they are
 *     tried again. Every job has slots of its own: runs that hang on one service delay no job that uses another.
 *
 * Crash
 *   before the start is durable   there is no job
 *   after it, or during a run     the row stays, lapses, and the job runs again from its beginning
 *   around the finish             its commit is durable and the row gone, or it is not and the job runs again
 *
 * When the shard of a job is lost, its turns are rejected, nothing renews it, and its signal is aborted. The next owner
 * takes it over when the lease lapses. A process that was paused meanwhile finds the same.
 */

import { removed } from '../actor/layers.ts';
import type { Message } from '../actor/message.ts';
import type { RunningTurn } from '../actor/turn.ts';
import { timerBase } from '../actor/turn.ts';
import { type Address, addressKey, shardOf } from '../address.ts';
import { sleep, unlessAborted } from '../clock.ts';
import type { JobHandler, JobRun, Plans, Turn, View } from '../command.ts';
import { attemptsAfterFailure, type DeliveryOptions, messageOutcome } from '../delivery/delivery.ts';
import type { Dependencies } from '../dependency.ts';
import { FencedError, MovedError, promisesNothing, RetryableError } from '../errors.ts';
import type { Actors } from '../handles.ts';
import type { Random } from '../random.ts';
import type { TimerRow } from '../store/store.ts';
import {
  failed,
  finished,
  type Grant,
  type JobChange,
  jobOf,
  leased,
  leaseOf,
  postponed,
  released,
  tokenOf,
} from './lease.ts';

const renewalsPerLease = 3;
/** The pause before repeating a run that failed through no fault of its own. */
const passingPauseMs = 4_000;
const drainPauseMs = 10;

export interface JobsOptions extends Omit<DeliveryOptions, 'store' | 'shards'> {
  readonly random: Pick<Random, 'uuid'>;
  readonly shardCount: number;
  /** Asks other actors for runs. */
  readonly actors: Actors;
  dependenciesOf(kind: string): Dependencies;
  epochOf(shard: number): number | undefined;
}

/** A job whose lease this host holds. */
interface HeldJob {
  readonly key: string;
  readonly address: Address;
  /** The name of its row. */
  readonly timer: string;
  readonly token: string;
  readonly id: string;
  readonly payload: unknown;
  readonly abort: AbortController;
  /** The last turn of the run was sent and has not failed. */
  isFinished: boolean;
  /** Monotonic milliseconds. Without a renewal another host may have the job after this. */
  leaseUntilMs: number;
  cancelRenewal: () => void;
}

/** The slots of one declared job, such as `mailer.job.deliver`. Its runs go on or wait there. */
interface Slots {
  running: number;
  readonly waiting: Set<HeldJob>;
}

/** The run no longer counts. This error never leaves the host. */
class LostLeaseError extends Error {
  constructor() {
    super('another run holds the lease of this job, or it was stopped');
  }
}

interface LastStep {
  readonly reads?: (view: View) => Plans;
  readonly turn: (turn: Turn, reads: never) => void;
}

class TimedOutError extends Error {
  constructor(timeoutMs: number) {
    super(`the run took longer than ${timeoutMs} ms`);
  }
}

export class Jobs {
  readonly #options: JobsOptions;
  readonly #held = new Map<string, HeldJob>();
  /** Keyed by `whatOf`: as many as there are declared jobs. */
  readonly #slots = new Map<string, Slots>();
  #isDraining = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** The number of jobs that run here or wait for room. */
  get size(): number {
    return this.#held.size;
  }

  // --- leases -----------------------------------------------------------------------------------------------

  /** A commit that changed the rows of jobs is durable. */
  committed(address: Address, changes: readonly JobChange[]): void {
    for (const { timer, before, after } of changes) {
      const token = tokenOf(after);
      const held = this.#held.get(keyOf(address, timer));
      if (held !== undefined && held.token === token) held.leaseUntilMs = this.#leaseEndMs();
      else if (held !== undefined && !held.isFinished) this.#lose(held);
      const isNew = token !== undefined && token !== tokenOf(before);
      if (isNew && after !== removed) this.#hold(address, after, token);
    }
  }

  /**
   * The turn of a row that is due.
   * @throws if this release does not know the job
   */
  lapsed(turn: RunningTurn, row: TimerRow, nowMs: number): void {
    this.#handlerOf(row.kind, row.name);
    const grant = this.#grant(nowMs);
    const held = this.#held.get(keyOf(turn.self, row.name));
    const isHeld = held !== undefined && held.token === tokenOf(row);
    turn.keepTimer(
      isHeld || !this.#hasCapacity(whatOf({ address: turn.self, timer: row.name }))
        ? postponed(row, grant.untilMs)
        : leased(row, grant),
    );
  }

  #hold(address: Address, row: TimerRow, token: string): void {
    const { id, payload } = leaseOf(row);
    const held: HeldJob = {
      key: keyOf(address, row.name),
      address,
      timer: row.name,
      token,
      id,
      payload,
      abort: new AbortController(),
      isFinished: false,
      leaseUntilMs: this.#leaseEndMs(),
      cancelRenewal: () => {},
    };
    if (this.#isDraining || !this.#isServed(held)) return void this.#release(held);
    const what = whatOf(held);
    if (!this.#hasCapacity(what)) {
      this.#options.metrics.overloaded(what);
      return;
    }
    this.#held.set(held.key, held);
    this.#slotsOf(what).waiting.add(held);
    this.#renewLater(held);
    this.#runNext(what);
  }

  #hasCapacity(what: string): boolean {
    const { jobsMax, jobsWaitingMax } = this.#options.limits;
    const { running, waiting } = this.#slotsOf(what);
    return running + waiting.size < jobsMax + jobsWaitingMax && !this.#isDraining;
  }

  #slotsOf(what: string): Slots {
    const slots = this.#slots.get(what) ?? { running: 0, waiting: new Set() };
    this.#slots.set(what, slots);
    return slots;
  }

  #grant(nowMs: number): Grant {
    const { random, limits } = this.#options;
    return { token: random.uuid(), untilMs: nowMs + limits.jobLeaseMs };
  }

  #leaseEndMs(): number {
    return this.#options.clock.monotonicMs() + this.#options.limits.jobLeaseMs;
  }

  #renewLater(held: HeldJob): void {
    const { clock, limits } = this.#options;
    held.cancelRenewal = clock.schedule(limits.jobLeaseMs / renewalsPerLease, () => void this.#renew(held));
  }

  async #renew(held: HeldJob): Promise<void> {
    const { clock, limits } = this.#options;
    const error = await this.#try(held, (turn, row) =>
      turn.keepTimer(postponed(row, turn.nowMs + limits.jobLeaseMs)),
    );
    if (this.#held.get(held.key) !== held || held.isFinished) return;
    const isOver = isNoLonger(error) || (error !== undefined && clock.monotonicMs() >= held.leaseUntilMs);
    if (isOver) this.#lose(held);
    else this.#renewLater(held);
  }

  /** The job no longer belongs to this host, even if its run goes on. */
  #lose(held: HeldJob): void {
    this.#forget(held);
    held.abort.abort(new LostLeaseError());
  }

  #forget(held: HeldJob): void {
    held.cancelRenewal();
    this.#slotsOf(whatOf(held)).waiting.delete(held);
    if (this.#held.get(held.key) === held) this.#held.delete(held.key);
  }

  /** Spares the next owner the wait for the lease to end. If this fails, the lease ends by itself. */
  async #release(held: HeldJob): Promise<void> {
    this.#lose(held);
    await this.#try(held, (turn, row) => turn.keepTimer(released(row, turn.nowMs)), true);
  }

  #isServed({ address }: HeldJob): boolean {
    return this.#options.epochOf(this.#shardOf(address)) !== undefined;
  }

  #shardOf(address: Address): number {
    return shardOf(address, this.#options.shardCount);
  }

  // --- runs -------------------------------------------------------------------------------------------------

  #runNext(what: string): void {
    const slots = this.#slotsOf(what);
    for (const held of slots.waiting) {
      if (slots.running >= this.#options.limits.jobsMax) return;
      slots.waiting.delete(held);
      slots.running += 1;
      void this.#run(held).then(() => {
        slots.running -= 1;
        this.#forget(held);
        this.#runNext(what);
      });
    }
  }

  async #run(held: HeldJob): Promise<void> {
    const { clock, metrics } = this.#options;
    let cancelTimeout = () => {};
    try {
      const handler = this.#handlerOf(held.address.kind, held.timer);
      const payload = handler.payload.parse(held.payload);
      cancelTimeout = clock.schedule(handler.timeoutMs, () =>
        held.abort.abort(new TimedOutError(handler.timeoutMs)),
      );
      // The run must not begin within the commit that started it.
      const run = Promise.resolve().then(() => handler.run(this.#runOf(held), payload));
      // A run that ignores its signal is not waited for. Any turn that it still takes is rejected.
      await unlessAborted(run, held.abort.signal);
      if (!held.isFinished) throw new Error('the run ended without finishing the job');
      metrics.delivered('job', 'done');
    } catch (error) {
      await this.#failed(held, error);
    } finally {
      cancelTimeout();
      // Stops the parts of the run that are still working.
      held.abort.abort(new LostLeaseError());
    }
  }

  async #failed(held: HeldJob, error: unknown): Promise<void> {
    const { limits, metrics, logger } = this.#options;
    if (held.isFinished) return metrics.delivered('job', 'done');
    if ([error, held.abort.signal.reason].some((why) => why instanceof LostLeaseError)) {
      return metrics.delivered('job', 'dropped');
    }
    const { kind } = held.address;
    logger.warn({ kind, job: timerBase(jobOf(held.timer)), error: String(error) }, 'a job failed');
    let isDead = false;
    await this.#try(held, (turn, row) => {
      if (isPassing(error)) return turn.keepTimer(released(row, turn.nowMs + passingPauseMs));
      const { attempts, dead, pauseMs } = attemptsAfterFailure(row.attempts, true, limits.attemptsMax);
      isDead = dead;
      turn.keepTimer(failed(row, attempts, dead, turn.nowMs + pauseMs));
    });
    metrics.delivered('job', isDead ? 'dead' : 'failed');
  }

  #runOf(held: HeldJob): JobRun {
    const { clock, actors, dependenciesOf } = this.#options;
    return {
      self: held.address,
      id: held.id,
      get nowMs() {
        return clock.nowMs();
      },
      signal: held.abort.signal,
      actors,
      use: (dependency) => dependenciesOf(held.address.kind).use(dependency),
      turn: (step) => this.#turn(held, step.reads, (turn, _row, reads) => step.turn(turn, reads as never)),
      finish: async (step) => {
        await this.#finish(held, step as LastStep | undefined);
        return { finished: true };
      },
    };
  }

  async #finish(held: HeldJob, step: LastStep | undefined): Promise<void> {
    held.isFinished = true;
    held.cancelRenewal();
    try {
      await this.#turn(held, step?.reads, (turn, row, reads) => {
        // Comes before the step, which may start the job again.
        const next = finished(row, this.#grant(turn.nowMs));
        if (next === undefined) turn.disarm(row);
        else turn.keepTimer(next);
        step?.turn(turn, reads as never);
      });
    } catch (error) {
      held.isFinished = false;
      if (this.#held.get(held.key) === held) this.#renewLater(held);
      throw error;
    }
  }

  // --- turns ------------------------------------------------------------------------------------------------

  /** A turn that runs only while the job is held under the token of this run. @throws ActorError | LostLeaseError */
  async #turn<R>(
    held: HeldJob,
    reads: Message['plans'] | undefined,
    work: (turn: RunningTurn, row: TimerRow, reads: object) => R,
    reachesLeaving = false,
  ): Promise<R> {
    const { clock, limits, deliver } = this.#options;
    const outcome = await messageOutcome((resolve) =>
      deliver(held.address, {
        what: whatOf(held),
        creates: false,
        reachesTombstone: true,
        reachesLeaving,
        deadlineMs: clock.monotonicMs() + limits.defaultDeadlineMs,
        plans: (view) => reads?.(view) ?? {},
        run(turn, plans, answers) {
          const row = turn.armed(held.timer);
          if (row === undefined || tokenOf(row) !== held.token) throw new LostLeaseError();
          return work(turn, row, turn.results(plans, answers));
        },
        resolve,
      }),
    );
    if ('error' in outcome) throw outcome.error;
    return outcome.value as R;
  }

  /** A turn for the host's own bookkeeping. Resolves to the error, if there was one. */
  #try(
    held: HeldJob,
    work: (turn: RunningTurn, row: TimerRow) => void,
    reachesLeaving = false,
  ): Promise<unknown> {
    return this.#turn(held, undefined, work, reachesLeaving).then(
      () => undefined,
      (error) => error,
    );
  }

  #handlerOf(kind: string, timer: string): JobHandler {
    const name = timerBase(jobOf(timer));
    const handler = this.#options.kinds.find((each) => each.name === kind)?.jobs[name];
    if (handler === undefined) throw new Error(`job ${name} is not declared`);
    return handler;
  }

  // --- leaving ----------------------------------------------------------------------------------------------

  /** This host no longer serves these shards. Their actors in memory may still commit, unless the shards are lost. */
  dropShards(shards: ReadonlySet<number>): void {
    for (const held of [...this.#held.values()]) {
      if (shards.has(this.#shardOf(held.address))) void this.#release(held);
    }
  }

  /** Takes no more jobs, lets running ones finish within this time, and gives the rest back. */
  async drain(withinMs: number): Promise<void> {
    const { clock } = this.#options;
    this.#isDraining = true;
    const untilMs = clock.monotonicMs() + withinMs;
    const waiting = [...this.#slots.values()].flatMap((slots) => [...slots.waiting]);
    await Promise.all(waiting.map((held) => this.#release(held)));
    while (this.#held.size > 0 && clock.monotonicMs() < untilMs) await sleep(clock, drainPauseMs);
    await Promise.all([...this.#held.values()].map((held) => this.#release(held)));
  }

  /** Ends at once, as a crash would. */
  stop(): void {
    this.#isDraining = true;
    for (const held of [...this.#held.values()]) this.#lose(held);
  }
}

const keyOf = (address: Address, timer: string): string => `${addressKey(address)}/${timer}`;

/** A name for metrics, so never an id or a key. */
const whatOf = ({ address, timer }: Pick<HeldJob, 'address' | 'timer'>): string =>
  `${address.kind}.job.${timerBase(jobOf(timer))}`;

/** After such a rejection no later turn of the run succeeds either. */
const isNoLonger = (error: unknown): boolean =>
  error instanceof LostLeaseError || error instanceof MovedError || error instanceof FencedError;

/** Such an error says nothing about the job: the same request may work later. */
const isPassing = (error: unknown): boolean => promisesNothing(error) || error instanceof RetryableError;
