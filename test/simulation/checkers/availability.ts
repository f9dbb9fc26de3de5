/**
 * While nothing fails and everything that happens is planned (hosts that join, are emptied, restart one after another)
 * clients notice nothing but a short delay, and no commit meets a newer owner.
 */
import { ActorError, NotFoundError, TerminalError } from '../../../runtime/errors.ts';
import type { Report } from './checker.ts';

/** What a hand-over may cost a call at most, beside what it takes anyway. */
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

/** A turn that throws is what was asked for; and where no gateway runs nobody is there to fail. */
function isAnswer({ outcome, error }: { readonly outcome: string; readonly error?: unknown }): boolean {
  return (
    outcome === 'none' &&
    (!(error instanceof ActorError) || error instanceof TerminalError || error instanceof NotFoundError)
  );
}
