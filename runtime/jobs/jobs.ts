/**
 * The jobs of a host: slow work that turns start and that goes on outside turns until it is done.
 *
 * Protocol
 *   start    a turn writes the job's row (`lease.ts`) in its own commit: a timer, due when the lease ends, with a token
 *   run      once a commit is durable that put a new token into the row, the host that made it runs the job, or lets it
 *            wait for room here. Either way it holds the lease and renews it, by a turn, three times before it ends
 *   turn     a turn of the run is rejected before it begins unless the row still has the run's token
 *   finish   the last turn takes the row away, in the same commit as its result
 *   failure  what a run threw gives the token back by a turn: the row is due again after a growing pause, and dead
 *            after `attemptsMax`. What the runtime or another actor cannot do now is tried again and not counted
 *   lapse    the row is due: who held it is presumed dead. Its actor's next owner, or the same one, gives it a new token
 *            by a turn, and so "run" above. A host that still holds it, or has no room for it, lets it be due later
 *   drain    what waits is given back, due at once; what runs may finish for a while, and is then given back likewise
 *
 * Invariants
 *   - At most one token of a job counts, and only one run was ever given it: results of two runs never mix.
 *   - No run begins before the commit of its start, or of its taking over, is durable.
 *   - A job that was started and not stopped has a row until a run has finished: its turns take effect exactly once, as
 *     far as its state says what is done. What it does outside turns takes effect at least once.
 *   - Of each declared job at most `jobsMax` run here, and `jobsWaitingMax` wait; of any more the lease lapses, and they are
 *     tried again. Every job has slots of its own: runs that hang on one service delay no job that uses another.
 *
 * Crash
 *   before the start is durable   there is no job
 *   after it, or during a run     the row stays, lapses, and the job runs again from its beginning
 *   around the finish             its commit is durable and the row gone, or it is not and the job runs again
 *
 * Where the shard of a job moves away its turns are rejected from then on, nothing renews it, and its signal is
 * aborted; the next owner takes it over when the lease lapses. A process that was paused over all that finds the same.
 */

import { removed } from '../actor/layers.ts';
import type { Message } from '../actor/message.ts';
import type { RunningTurn } from '../actor/turn.ts';
import { timerBase } from '../actor/turn.ts';
import { type Address, addressKey, shardOf } from '../address.ts';
import { type Clock, sleep } from '../clock.ts';
import type { JobHandler, JobRun, Plans, Turn, View } from '../command.ts';
import { outcomeOf, retryPauseMs } from '../delivery/delivery.ts';
import type { Dependencies } from '../dependency.ts';
import { FencedError, MovedError, promisesNothing, RetryableError } from '../errors.ts';
import type { Actors } from '../handles.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { Kind } from '../kind.ts';
import type { Logger } from '../ports.ts';
import type { Random } from '../random.ts';
import type { TimerRow } from '../store/store.ts';
import {
  failed,
  finished,
  type Grant,
  type JobChange,
  jobOf,
  leaseOf,
  postponed,
  released,
  taken,
  tokenOf,
} from './lease.ts';

const renewalsPerLease = 3;
/** The pause before repeating a run that failed through no fault of its own. */
const passingPauseMs = 4_000;
const drainPauseMs = 10;

export interface JobsOptions {
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  readonly shardCount: number;
  /** For what runs ask of other actors. */
  readonly actors: Actors;
  dependenciesOf(kind: string): Dependencies;
  deliver(address: Address, message: Message): void;
}

/** A job whose lease this host holds. */
interface Held {
  readonly key: string;
  readonly address: Address;
  /** The name of its row. */
  readonly timer: string;
  readonly token: string;
  readonly id: string;
  readonly payload: unknown;
  readonly abort: AbortController;
  /** Its last turn was sent, and has not failed. */
  isFinished: boolean;
  /** Monotonic milliseconds; without a renewal until then it may be another's. */
  leaseUntilMs: number;
  cancelRenewal: () => void;
}

/** Where the runs of one declared job go on or wait, such as `mailer.job.deliver`. */
interface Slots {
  running: number;
  readonly waiting: Set<Held>;
}

/** The run does not count any more. Never leaves the host. */
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
  readonly #held = new Map<string, Held>();
  /** By `whatOf`: as many as there are declared jobs. */
  readonly #slots = new Map<string, Slots>();
  #isDraining = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** Those that run here or wait for room. */
  get size(): number {
    return this.#held.size;
  }

  // --- leases -----------------------------------------------------------------------------------------------

  /** A commit is durable that changed the rows of jobs. */
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
   * @throws when this release does not know the job
   */
  lapsed(turn: RunningTurn, row: TimerRow, nowMs: number): void {
    this.#handlerOf(row.kind, row.name);
    const grant = this.#grant(nowMs);
    const held = this.#held.get(keyOf(turn.self, row.name));
    const isHeld = held !== undefined && held.token === tokenOf(row);
    turn.keepTimer(
      isHeld || !this.#hasRoom(whatOf({ address: turn.self, timer: row.name }))
        ? postponed(row, grant.untilMs)
        : taken(row, grant),
    );
  }

  #hold(address: Address, row: TimerRow, token: string): void {
    const { id, payload } = leaseOf(row);
    const held: Held = {
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
    if (this.#isDraining) return void this.#release(held);
    const what = whatOf(held);
    if (!this.#hasRoom(what)) {
      this.#options.metrics.overloaded(what);
      return;
    }
    this.#held.set(held.key, held);
    this.#slotsOf(what).waiting.add(held);
    this.#renewLater(held);
    this.#runNext(what);
  }

  #hasRoom(what: string): boolean {
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

  #renewLater(held: Held): void {
    const { clock, limits } = this.#options;
    held.cancelRenewal = clock.schedule(limits.jobLeaseMs / renewalsPerLease, () => void this.#renew(held));
  }

  async #renew(held: Held): Promise<void> {
    const { clock, limits } = this.#options;
    const error = await this.#try(held, (turn, row) =>
      turn.keepTimer(postponed(row, turn.nowMs + limits.jobLeaseMs)),
    );
    if (this.#held.get(held.key) !== held || held.isFinished) return;
    const isOver = isNoLonger(error) || (error !== undefined && clock.monotonicMs() >= held.leaseUntilMs);
    if (isOver) this.#lose(held);
    else this.#renewLater(held);
  }

  /** It is no longer this host's, even if its run goes on. */
  #lose(held: Held): void {
    this.#forget(held);
    held.abort.abort(new LostLeaseError());
  }

  #forget(held: Held): void {
    held.cancelRenewal();
    this.#slotsOf(whatOf(held)).waiting.delete(held);
    if (this.#held.get(held.key) === held) this.#held.delete(held.key);
  }

  /** The next owner need not wait for the lease to end. Where this fails, the lease ends by itself. */
  async #release(held: Held): Promise<void> {
    this.#lose(held);
    await this.#try(held, (turn, row) => turn.keepTimer(released(row, turn.nowMs)));
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

  async #run(held: Held): Promise<void> {
    const { clock, metrics } = this.#options;
    let cancelTimeout = () => {};
    try {
      const handler = this.#handlerOf(held.address.kind, held.timer);
      const payload = handler.payload.parse(held.payload);
      cancelTimeout = clock.schedule(handler.timeoutMs, () =>
        held.abort.abort(new TimedOutError(handler.timeoutMs)),
      );
      // Not within the commit that began it.
      const run = Promise.resolve().then(() => handler.run(this.#runOf(held), payload));
      await unlessAborted(run, held.abort.signal);
      if (!held.isFinished) throw new Error('the run ended without finishing the job');
      metrics.delivered('job', 'done');
    } catch (error) {
      await this.#failed(held, error);
    } finally {
      cancelTimeout();
      // For what is still going on of the run.
      held.abort.abort(new LostLeaseError());
    }
  }

  async #failed(held: Held, error: unknown): Promise<void> {
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
      const attempts = row.attempts + 1;
      isDead = attempts >= limits.attemptsMax;
      turn.keepTimer(failed(row, attempts, isDead, turn.nowMs + retryPauseMs(attempts)));
    });
    metrics.delivered('job', isDead ? 'dead' : 'failed');
  }

  #runOf(held: Held): JobRun {
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

  async #finish(held: Held, step: LastStep | undefined): Promise<void> {
    held.isFinished = true;
    held.cancelRenewal();
    try {
      await this.#turn(held, step?.reads, (turn, row, reads) => {
        // Before the step, which may start the job again.
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
    held: Held,
    reads: Message['plans'] | undefined,
    work: (turn: RunningTurn, row: TimerRow, reads: object) => R,
  ): Promise<R> {
    const { clock, limits, deliver } = this.#options;
    const outcome = await outcomeOf((resolve) =>
      deliver(held.address, {
        what: whatOf(held),
        creates: false,
        reachesTombstone: true,
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

  /** A turn of the host's own bookkeeping. Resolves to what went wrong, if anything did. */
  #try(held: Held, work: (turn: RunningTurn, row: TimerRow) => void): Promise<unknown> {
    return this.#turn(held, undefined, work).then(
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

  /** These shards are served here no more. */
  dropShards(shards: ReadonlySet<number>): void {
    for (const held of [...this.#held.values()]) {
      if (shards.has(shardOf(held.address, this.#options.shardCount))) this.#lose(held);
    }
  }

  /** Takes no more, lets what runs finish for at most this long, and gives the rest back. */
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

/** For metrics: never an id or a key. */
const whatOf = ({ address, timer }: Pick<Held, 'address' | 'timer'>): string =>
  `${address.kind}.job.${timerBase(jobOf(timer))}`;

/** Where a turn is rejected with this, no later one will run. */
const isNoLonger = (error: unknown): boolean =>
  error instanceof LostLeaseError || error instanceof MovedError || error instanceof FencedError;

/** This says nothing about the job: what was asked may work later. */
const isPassing = (error: unknown): boolean => promisesNothing(error) || error instanceof RetryableError;

/** A run that ignores its signal is left alone: any turn it still takes is rejected. */
function unlessAborted(run: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    run.then(resolve, reject);
  });
}
