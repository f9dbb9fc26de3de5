/**
 * Pending tells: each takes effect exactly once.
 *
 * The outbox row is the truth. A wake-up after its commit only saves the wait for the sweep. The target reads the row after its
 * claim and before the turn. If the row is gone, or its removal is in flight here, the tell was consumed already. The target's
 * commit removes the row together with the effects. Tells come in no order.
 *
 * Crash: before the target's commit the row is there, and the tell is delivered again. After it the row is gone. A turn that
 * throws is tried again after a growing pause, and each attempt is committed. After `attemptsMax` the row is dead.
 * A host that does not declare the tell tries it for two days: it may be of a release that does not know it.
 */

import type { Message, MessageOutcome } from '../actor/message.ts';
import type { RunningTurn } from '../actor/turn.ts';
import type { Address } from '../address.ts';
import { keys, type Plans, type TellHandler } from '../command.ts';
import { RetryableError } from '../errors.ts';
import type { Kind } from '../kind.ts';
import type { SweepRead, TellRow } from '../store/store.ts';
import { outboxTable } from '../store/tables.ts';
import { attemptsAfterFailure, isFaultOfTurn, messageOutcome, payloadOf, RowDelivery } from './delivery.ts';

type Run = 'done' | 'dropped';
const tellPlan = '$tell';

export class TellDelivery extends RowDelivery<TellRow> {
  /** Takes tells that are known to be in the outbox. The sweep finds those for which no slot is free now. */
  offer(tells: readonly TellRow[]): void {
    this.tryAll(tells, this.options.clock.nowMs());
  }

  /**
   * Delivers the tell that a wake-up named. Resolves when the tell needs nothing more for now. @throws what could not be done
   * now
   */
  async deliverNow(tell: TellRow): Promise<void> {
    if (!(await this.tryOne(tell)))
      throw new RetryableError('the tell could not be delivered now', { outcome: 'none' });
  }

  protected override keyOf(tell: TellRow): string {
    return tell.tell_id;
  }

  protected override addressOf(tell: TellRow): Address {
    return { kind: tell.target_kind, id: tell.target_id };
  }

  protected override shardOf(tell: TellRow): number {
    return tell.target_shard;
  }

  protected override timeOf(tell: TellRow): number {
    return tell.retry_at;
  }

  protected override read(sweep: SweepRead): Promise<readonly TellRow[]> {
    return this.options.store.pendingTells(sweep);
  }

  protected override async deliver(tell: TellRow): Promise<boolean> {
    const { metrics, logger } = this.options;
    const handler = this.#handler(tell);
    const outcome = await this.#turn(tell, handler, (turn, row, reads) => {
      if (handler === undefined) throw new Error(`tell ${tell.name} is not declared`);
      if (turn.isTombstone && this.#revives(tell, handler)) turn.revive();
      if (hasEffect(turn, handler)) {
        const sender = { address: { kind: row.sender_kind, id: row.sender_id }, version: row.sender_version };
        handler.turn(turn, payloadOf(handler, row), sender, reads);
      }
      turn.consume(row);
    });
    if (!('error' in outcome)) {
      metrics.delivered('tell', outcome.value as Run);
      return true;
    }
    logger.warn({ kind: tell.target_kind, tell: tell.name, error: String(outcome.error) }, 'a tell failed');
    return isFaultOfTurn(outcome.error) && (await this.#retryLater(tell));
  }

  async #retryLater(tell: TellRow): Promise<boolean> {
    const { limits, metrics, store } = this.options;
    const nowMs = await store.timeMs().catch(() => this.options.clock.nowMs());
    const outcome = await this.#turn(tell, undefined, (turn, row) => {
      const isDeclared = this.#handler(tell) !== undefined;
      const { attempts, dead, pauseMs } = attemptsAfterFailure(row.attempts, isDeclared, limits.attemptsMax);
      metrics.delivered('tell', dead ? 'dead' : 'failed');
      turn.keepTell({ ...row, attempts, dead, retry_at: nowMs + pauseMs });
    });
    return !('error' in outcome);
  }

  #handler(tell: TellRow): TellHandler | undefined {
    return this.#kind(tell)?.tells[tell.name];
  }

  #revives(tell: TellRow, { creates = false }: TellHandler): boolean {
    return creates && this.#kind(tell)?.revivable === true;
  }

  #kind({ target_kind }: TellRow): Kind | undefined {
    return this.options.kinds.find(({ name }) => name === target_kind);
  }

  /** One turn at the target, which runs `work` only if the tell is not consumed yet. */
  #turn(
    tell: TellRow,
    handler: TellHandler | undefined,
    work: (turn: RunningTurn, row: TellRow, reads: never) => void,
  ): Promise<MessageOutcome> {
    const { clock, limits, deliver } = this.options;
    const key = { target_kind: tell.target_kind, target_id: tell.target_id, tell_id: tell.tell_id };
    const run: Message['run'] = (turn, plans, answers): Run => {
      const results = turn.results(plans, answers) as Record<string, unknown>;
      const row = (results[tellPlan] as { get(key: object): TellRow | undefined }).get(key);
      if (row === undefined) return 'dropped';
      work(turn, row, results as never);
      return 'done';
    };
    const plans: Message['plans'] = (view): Plans => ({
      ...handler?.reads?.(view, payloadOf(handler, tell)),
      [tellPlan]: keys(outboxTable, [key]),
    });
    return messageOutcome((resolve) =>
      deliver(this.addressOf(tell), {
        what: `${tell.target_kind}.tell.${tell.name}`,
        // A tell creates its target if it does not exist, so that there is a row whose commit can consume the tell.
        creates: true,
        reachesTombstone: true,
        deadlineMs: clock.monotonicMs() + limits.defaultDeadlineMs,
        plans,
        run,
        resolve,
      }),
    );
  }
}

/** A tombstone that does not come back, or an actor that never existed, consumes tells without effect. */
function hasEffect(turn: RunningTurn, handler: TellHandler): boolean {
  if (turn.isTombstone) return false;
  return handler.creates === true || !turn.isBlank;
}
