/**
 * Repeats calls. A call that met no owner, a fenced one or a lost answer is repeated under its call id until its deadline. What
 * took effect the first time does not take effect again: the command is repeatable by nature, or its reply is recorded. Nothing
 * else repeats a call.
 *
 * The number of calls that wait for an owner is bounded. While a whole cluster is down they would pile up without limit.
 */

import { type Clock, sleep } from '../clock.ts';
import { FencedError, MovedError, promisesNothing, RetryableError, UnavailableError } from '../errors.ts';
import type { Random } from '../random.ts';
import type { AskCall, Transport } from '../transport/transport.ts';

const waitingMax = 10_000;
const fencedPauseMs = 100;
const movedPauseMinMs = 10;
const movedPauseMaxMs = 400;

export interface RetrierOptions {
  readonly transport: Pick<Transport, 'ask' | 'reachesOthers'>;
  readonly clock: Clock;
  readonly random: Random;
}

export class Retrier {
  readonly #options: RetrierOptions;
  #waiting = 0;

  constructor(options: RetrierOptions) {
    this.#options = options;
  }

  /** No call waits for a repeat. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** @throws ActorError, never `moved` */
  ask(call: AskCall): Promise<unknown> {
    return this.#options.transport.ask(call).catch((error) => this.#again(call, error));
  }

  async #again(call: AskCall, first: unknown): Promise<unknown> {
    const { transport, clock } = this.#options;
    let error = first;
    let mayHaveEffect = this.#mayHaveEffect(first);
    for (let attempt = 1; ; attempt += 1) {
      const pauseMs = this.#pauseMs(error, attempt);
      const isOver = pauseMs === undefined || clock.monotonicMs() + pauseMs >= call.deadlineMs;
      if (isOver || this.#waiting >= waitingMax) throw reported(error, mayHaveEffect);
      await this.#pause(pauseMs);
      try {
        return await transport.ask(call);
      } catch (failed) {
        error = failed;
        mayHaveEffect ||= this.#mayHaveEffect(failed);
      }
    }
  }

  /**
   * While a shard changes hands a call may reach both owners. The former owner answers that it did nothing, and cannot speak
   * for the new one.
   */
  #mayHaveEffect(error: unknown): boolean {
    if (error instanceof RetryableError) return error.outcome === 'unknown';
    if (!this.#options.transport.reachesOthers) return false;
    return error instanceof FencedError || (error instanceof MovedError && !error.reachedNobody);
  }

  /** Undefined if a repeat does not help. */
  #pauseMs(error: unknown, attempt: number): number | undefined {
    const { transport, random } = this.#options;
    // Callers that lost their owner together should not return together.
    const jitter = random.fraction();
    if (error instanceof RetryableError) return error.retryAfterMs * (1 + jitter / 4);
    if (error instanceof FencedError) return fencedPauseMs * (1 + jitter / 4);
    if (!(error instanceof MovedError) || !transport.reachesOthers) return undefined;
    return Math.min(movedPauseMaxMs, movedPauseMinMs * 1.5 ** (attempt - 1)) * (0.5 + jitter);
  }

  async #pause(pauseMs: number): Promise<void> {
    this.#waiting += 1;
    await sleep(this.#options.clock, pauseMs);
    this.#waiting -= 1;
  }
}

/** The error of the last attempt is not the whole story: an earlier one may have taken effect. */
function reported(error: unknown, mayHaveEffect: boolean): unknown {
  if (mayHaveEffect && promisesNothing(error))
    return new RetryableError('the call was not answered', { outcome: 'unknown' });
  if (error instanceof MovedError) return new UnavailableError('nobody serves this actor now');
  return error;
}
