/**
 * While nothing fails and all events are planned (hosts that join, are emptied, restart one after another), clients
 * notice nothing but a short delay. No commit meets a newer owner.
 */
import { ActorError, NotFoundError, TerminalError } from '../../../runtime/errors.ts';
import type { Report } from './checker.ts';

/** The most that a hand-over may add to the time of a call. */
const delayMaxMs = 1_500;

export class AvailabilityChecker {
  readonly name = 'availability';
  readonly #report: Report;
  readonly #isPromised: boolean;

  /** `isPromised`: whether this is such a time. */
  constructor(report: Report, isPromised: boolean) {
    this.#report = report;
    this.#isPromised = isPromised;
  }

  answered(
    what: string,
    outcome: { readonly outcome: string; readonly error?: unknown },
    tookMs: number,
  ): void {
    if (!this.#isPromised || isAnswer(outcome)) return;
    if (outcome.outcome !== 'done') this.#report(`${what} failed (${outcome.outcome}): ${outcome.error}`);
    else if (tookMs > delayMaxMs) this.#report(`${what} took ${Math.round(tookMs)} ms`);
  }

  fenced(): void {
    if (this.#isPromised) this.#report('a commit met a newer owner though nothing failed');
  }
}

/** A turn throws because the test asked for it. Without a running gateway there is nobody to fail. */
function isAnswer({ outcome, error }: { readonly outcome: string; readonly error?: unknown }): boolean {
  return (
    outcome === 'none' &&
    (!(error instanceof ActorError) || error instanceof TerminalError || error instanceof NotFoundError)
  );
}
