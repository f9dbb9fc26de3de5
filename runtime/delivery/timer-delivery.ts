/**
 * Due timers.
 *
 * The rows are the truth. A sweep reads the due rows of this host's shards, oldest first, by database time, at least every
 * `sweepMs`. Arming a timer that is due sooner brings the sweep forward. A due row goes to its actor as a turn.
 *
 * The actor's own list decides whether the timer still stands. It is loaded after the claim and kept with the turns. If a row
 * is not in the list, or has another due time or payload there, an unseen turn has disarmed, re-armed or run it. The row is
 * then dropped. The commit of its turn removes the row.
 *
 * Crash: a turn that has not committed leaves the row, which is still due. A turn that has committed has removed it. A turn
 * that throws is tried again after a growing pause, and each attempt is committed. After `attemptsMax` the row is dead: it is
 * kept, counted, and blocks no other row. A host that does not declare the timer tries it for two days. A later sweep repeats
 * anything that the runtime could not do now.
 *
 * The row of a job is a timer that is due when the job's lease ends. `runtime/jobs/jobs.ts` says what its turn does.
 */

import type { Message, MessageOutcome } from '../actor/message.ts';
import { type RunningTurn, timerBase } from '../actor/turn.ts';
import type { Address } from '../address.ts';
import type { Plans, TimerHandler } from '../command.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { isJobTimer, jobOf } from '../jobs/lease.ts';
import type { SweepRead, TimerRow } from '../store/store.ts';
import {
  attemptsAfterFailure,
  type DeliveryOptions,
  isFaultOfTurn,
  messageOutcome,
  payloadOf,
  RowDelivery,
} from './delivery.ts';

type Run = 'done' | 'dropped';

export interface TimerDeliveryOptions extends DeliveryOptions {
  readonly jobs: Pick<Jobs, 'lapsed'>;
}

export class TimerDelivery extends RowDelivery<TimerRow, TimerDeliveryOptions> {
  /** A timer was armed for `dueMs`. A hint: the sweep finds it anyway. */
  armed(dueMs: number): void {
    this.sweepFrom(dueMs);
    const inMs = dueMs - this.options.clock.nowMs() + 1;
    if (inMs < this.options.limits.sweepMs) this.sweepWithin(inMs);
  }

  protected override keyOf(row: TimerRow): string {
    return `${row.kind}/${row.id}/${row.name}`;
  }

  protected override addressOf({ kind, id }: TimerRow): Address {
    return { kind, id };
  }

  protected override shardOf(row: TimerRow): number {
    return row.shard;
  }

  protected override timeOf(row: TimerRow): number {
    return row.due_at;
  }

  protected override read(sweep: SweepRead): Promise<readonly TimerRow[]> {
    return this.options.store.dueTimers(sweep);
  }

  protected override async deliver(row: TimerRow, nowMs: number): Promise<boolean> {
    const { metrics, logger } = this.options;
    const handler = this.#handler(row);
    const outcome = await this.#turn(row, handler, (turn, plans, answers) => {
      if (isJobTimer(row.name)) return this.#lapse(turn, row, nowMs);
      if (handler === undefined) throw new Error(`timer ${timerBase(row.name)} is not declared`);
      const reads = turn.results(plans, answers);
      if (!isCurrent(turn, row)) return 'dropped';
      handler.turn(turn, payloadOf(handler, row), reads as never);
      if (!turn.recorded.timers.has(row.name)) turn.disarm(row);
      return 'done';
    });
    if (!('error' in outcome)) {
      metrics.delivered('timer', outcome.value as Run);
      return true;
    }
    logger.warn(
      { kind: row.kind, timer: timerBase(row.name), error: String(outcome.error) },
      'a timer failed',
    );
    return isFaultOfTurn(outcome.error) && (await this.#retryLater(row, nowMs));
  }

  #lapse(turn: RunningTurn, row: TimerRow, nowMs: number): Run {
    if (!isCurrent(turn, row)) return 'dropped';
    this.options.jobs.lapsed(turn, row, nowMs);
    return 'done';
  }

  async #retryLater(row: TimerRow, nowMs: number): Promise<boolean> {
    const { attempts, dead, pauseMs } = attemptsAfterFailure(
      row.attempts,
      this.#isDeclared(row),
      this.options.limits.attemptsMax,
    );
    this.options.metrics.delivered('timer', dead ? 'dead' : 'failed');
    // Leave out the handler's reads, because they may be what fails.
    const outcome = await this.#turn(row, undefined, (turn) => {
      if (!isCurrent(turn, row)) return;
      turn.keepTimer({ ...row, attempts, dead, due_at: dead ? row.due_at : nowMs + pauseMs });
    });
    return !('error' in outcome);
  }

  #handler(row: TimerRow): TimerHandler | undefined {
    return this.options.kinds.find((kind) => kind.name === row.kind)?.timers[timerBase(row.name)];
  }

  #isDeclared(row: TimerRow): boolean {
    if (!isJobTimer(row.name)) return this.#handler(row) !== undefined;
    const jobs = this.options.kinds.find((kind) => kind.name === row.kind)?.jobs ?? {};
    return Object.hasOwn(jobs, timerBase(jobOf(row.name)));
  }

  #turn(row: TimerRow, handler: TimerHandler | undefined, work: Message['run']): Promise<MessageOutcome> {
    const { clock, limits, deliver } = this.options;
    return messageOutcome((resolve) =>
      deliver(this.addressOf(row), {
        what: `${row.kind}.timer.${timerBase(row.name)}`,
        creates: false,
        reachesTombstone: true,
        deadlineMs: clock.monotonicMs() + limits.defaultDeadlineMs,
        plans: (view): Plans => handler?.reads?.(view, payloadOf(handler, row)) ?? {},
        run: work,
        resolve,
      }),
    );
  }
}

/** Whether the timer is still armed as the sweep read it. */
function isCurrent(turn: RunningTurn, row: TimerRow): boolean {
  const armed = turn.armed(row.name);
  return armed?.due_at === row.due_at && armed.payload.equals(row.payload);
}
