/**
 * The common part of delivering timers and tells. Rows of the database are the truth. Sweeps find the rows that are due and hand
 * a bounded number at a time to their actors. Those that fail are tried again later.
 */

import type { Message, MessageOutcome } from '../actor/message.ts';
import { type Address, addressKey } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { TellHandler, TimerHandler } from '../command.ts';
import { ActorError, TerminalError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { Kind } from '../kind.ts';
import type { Logger } from '../ports.ts';
import { decode } from '../store/encoding.ts';
import type { Store, SweepRead, TellRow, TimerRow } from '../store/store.ts';
import { InFlight } from './in-flight.ts';
import { Passes } from './passes.ts';
import { SweepLoop } from './sweeper.ts';

/** The pause before rows that found no free slot are looked for again. */
const capacityPauseMs = 5;

export interface DeliveryOptions {
  readonly kinds: readonly Kind[];
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  deliver(address: Address, message: Message): void;
  /** The shards whose rows this host delivers. */
  shards(): readonly number[];
}

/** Milliseconds to wait before attempt `attempts` + 1: one second doubling up to ten minutes. */
function retryPauseMs(attempts: number): number {
  return Math.min(600_000, 1_000 * 2 ** attempts);
}

/**
 * A host of another release may not know a timer or a tell. All hosts of an installation may be of that release for a while.
 * Attempts are then ten minutes apart, so this is two days.
 */
const undeclaredAttemptsMax = 300;

export interface DeliveryAttempts {
  readonly attempts: number;
  readonly dead: boolean;
  /** The pause before the next sweep. */
  readonly pauseMs: number;
}

/**
 * The attempts of a row after one more that failed. Those of hosts that do not know the row begin at `attemptsMax`. So a host that
 * knows it sees them, and counts anew.
 */
export function attemptsAfterFailure(
  before: number,
  isDeclared: boolean,
  attemptsMax: number,
): DeliveryAttempts {
  if (!isDeclared) {
    const undeclared = Math.max(0, before - attemptsMax) + 1;
    return {
      attempts: attemptsMax + undeclared,
      dead: undeclared >= undeclaredAttemptsMax,
      pauseMs: retryPauseMs(undeclared),
    };
  }
  const attempts = before >= attemptsMax ? 1 : before + 1;
  return { attempts, dead: attempts >= attemptsMax, pauseMs: retryPauseMs(attempts) };
}

/** Whether the turn itself is to blame. Anything that the runtime could not do now is simply tried again at the next sweep. */
export function isFaultOfTurn(error: unknown): boolean {
  return !(error instanceof ActorError) || error instanceof TerminalError;
}

/** One kind of rows and how each is handed to its actor. */
export abstract class RowDelivery<Row, Options extends DeliveryOptions = DeliveryOptions> {
  protected readonly options: Options;
  readonly #sweeper: SweepLoop;
  readonly #inFlight: InFlight<Row>;
  readonly #passes: Passes;
  /** The last sweep read rows for which no slot was free. */
  #morePending = false;

  constructor(options: Options) {
    this.options = options;
    this.#sweeper = new SweepLoop(options, () => this.#sweep());
    this.#passes = new Passes(options.limits.sweepMs);
    this.#inFlight = new InFlight(options.limits.deliveriesMax, options.limits.deliveriesOfActorMax);
  }

  protected abstract keyOf(row: Row): string;
  /** The actor it is for. */
  protected abstract addressOf(row: Row): Address;
  protected abstract shardOf(row: Row): number;
  /** The earliest time to try it. */
  protected abstract timeOf(row: Row): number;
  protected abstract read(sweep: SweepRead): Promise<readonly Row[]>;
  /** Hands a row to its actor. Resolves to whether the row needs nothing more for now. */
  protected abstract deliver(row: Row, nowMs: number): Promise<boolean>;

  start(): void {
    this.#sweeper.start();
  }

  stop(): void {
    this.#sweeper.stop();
    this.#inFlight.forgetWaiting();
  }

  sweepWithin(delayMs: number): void {
    this.#sweeper.within(delayMs);
  }

  /** From this time on something may be due that no sweep has seen. */
  sweepFrom(timeMs: number): void {
    this.#passes.from(timeMs);
  }

  /** Call it when this host has claimed shards, whose rows are now its own to deliver. */
  claimed(): void {
    this.sweepFrom(0);
    this.sweepWithin(0);
  }

  async #sweep(): Promise<number> {
    const { store, limits, clock, shards } = this.options;
    const nowMs = await store.timeMs();
    const { capacity, passedOver } = this.#inFlight;
    const pass = this.#passes.next({
      owned: shards(),
      nowMs,
      monotonicMs: clock.monotonicMs(),
      capacity,
      extra: passedOver,
    });
    const rows = await this.read(pass);
    const areAll = this.#passes.found(
      pass,
      rows.map((row) => ({ shard: this.shardOf(row), timeMs: this.timeOf(row) })),
    );
    this.#morePending = this.#passes.hasMore;
    this.tryAll(
      this.#inFlight.inOrder(rows, (row) => this.keyOf(row), areAll),
      nowMs,
    );
    // This pass found rows that cannot be tried now, or none where it looked. Other rows may still be due.
    const isIdle = rows.length === 0 || this.#inFlight.passedOver > passedOver;
    const continues = this.#morePending && isIdle && !this.#inFlight.isFull;
    return continues ? capacityPauseMs : limits.sweepMs;
  }

  /** A later sweep finds the rows for which no slot is free now. */
  protected tryAll(rows: readonly Row[], nowMs: number): void {
    for (const row of rows) {
      if (this.#inFlight.isFull) this.#morePending = true;
      else if (this.#begin(row)) void this.#deliver(row, nowMs);
    }
  }

  /** Tries one row now, unless it is in flight or there is no room. Resolves to whether the row needs nothing more for now. */
  protected async tryOne(row: Row): Promise<boolean> {
    return this.#begin(row) && (await this.#deliver(row, this.options.clock.nowMs()));
  }

  #begin(row: Row): boolean {
    return this.#inFlight.begin(this.keyOf(row), addressKey(this.addressOf(row)), row);
  }

  async #deliver(row: Row, nowMs: number): Promise<boolean> {
    const wasDelivered = await this.deliver(row, nowMs);
    const next = this.#inFlight.end(this.keyOf(row), wasDelivered);
    if (next !== undefined) this.tryAll([next], nowMs);
    // A slot is free again, so rows that found none need not wait for the next sweep.
    else if (this.#morePending && wasDelivered) this.#sweeper.within(capacityPauseMs);
    return wasDelivered;
  }
}

export function messageOutcome(
  run: (resolve: (outcome: MessageOutcome) => void) => void,
): Promise<MessageOutcome> {
  return new Promise((resolve) => run(resolve));
}

export const payloadOf = (
  { payload }: Pick<TellHandler | TimerHandler, 'payload'>,
  row: Pick<TellRow | TimerRow, 'payload'>,
): unknown => payload.parse(decode(row.payload, 1));
