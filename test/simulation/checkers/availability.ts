/**
 * While nothing fails and all events are planned (hosts that join, are emptied, restart one after another), clients
 * notice nothing but a short delay. No commit meets a newer owner.
 */
import {
  ActorError,
  NotFoundError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../../../runtime/errors.ts';
import type { Report } from './checker.ts';

/** The most that a hand-over may add to the time of a call. */
const delayMaxMs = 1_500;

interface Outcome {
  readonly outcome: string;
  readonly error?: unknown;
}

export interface CallTimes {
  readonly tookMs: number;
  /** The time that the caller had. */
  readonly withinMs: number;
}

export class AvailabilityChecker {
  readonly name = 'availability';
  readonly #report: Report;
  readonly #isPromised: boolean;

  /** `isPromised`: whether this is such a time. */
  constructor(report: Report, isPromised: boolean) {
    this.#report = report;
    this.#isPromised = isPromised;
  }

  answered(what: string, outcome: Outcome, { tookMs, withinMs }: CallTimes): void {
    if (!this.#isPromised || isAnswer(outcome) || isImpatience(outcome, { tookMs, withinMs })) return;
    if (outcome.outcome !== 'done') this.#report(`${what} failed (${outcome.outcome}): ${outcome.error}`);
    else if (tookMs > delayMaxMs) this.#report(`${what} took ${Math.round(tookMs)} ms`);
  }

  fenced(): void {
    if (this.#isPromised) this.#report('a commit met a newer owner though nothing failed');
  }
}

/**
 * A caller may give up before a hand-over, or the queue of a busy actor, is through. That says nothing about the server: a call
 * with the usual deadline would have been answered. A call is not repeated if the pause before that would outlast it, so it may
 * end after half of its time. What ends a call sooner is judged as ever, and so is a refusal.
 */
function isImpatience({ outcome, error }: Outcome, { tookMs, withinMs }: CallTimes): boolean {
  const isTimeOver = error instanceof RetryableError || error instanceof UnavailableError;
  return outcome !== 'done' && isTimeOver && withinMs <= delayMaxMs && tookMs >= withinMs / 2;
}

/** A turn throws because the test asked for it. Without a running gateway there is nobody to fail. */
function isAnswer({ outcome, error }: Outcome): boolean {
  return (
    outcome === 'none' &&
    (!(error instanceof ActorError) || error instanceof TerminalError || error instanceof NotFoundError)
  );
}
