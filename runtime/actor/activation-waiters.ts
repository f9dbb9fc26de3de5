/** Callers that wait for an actor to become active, but put no message into its mailbox: calls answered without a turn. */
import { OverloadedError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';

export interface ActivationWaitersOptions {
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
}

interface Waiter {
  readonly deadlineMs: number;
  ready(): void;
  fail(error: unknown): void;
}

export class ActivationWaiters {
  readonly #options: ActivationWaitersOptions;
  #waiters: Waiter[] = [];

  constructor(options: ActivationWaitersOptions) {
    this.#options = options;
  }

  /** Resolves with `ready`. @throws ActorError */
  wait(deadlineMs: number): Promise<void> {
    if (this.#waiters.length >= this.#options.limits.mailboxMax) {
      this.#options.metrics.overloaded('activation');
      return Promise.reject(new OverloadedError('too many reads wait for this actor'));
    }
    return new Promise((ready, fail) => this.#waiters.push({ deadlineMs, ready, fail }));
  }

  ready(): void {
    for (const { ready } of this.#waiters.splice(0)) ready();
  }

  fail(error: Error): void {
    for (const { fail } of this.#waiters.splice(0)) fail(error);
  }

  /** Fails callers whose deadline has passed. */
  expire(nowMs: number, error: Error): void {
    for (const { fail } of this.#waiters.filter(({ deadlineMs }) => deadlineMs < nowMs)) fail(error);
    this.#waiters = this.#waiters.filter(({ deadlineMs }) => deadlineMs >= nowMs);
  }
}
