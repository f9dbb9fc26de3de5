/** What the calls of a run came to, for its report. Verdicts are the checker's. */
export type FailureReason = 'not-reached' | 'no-answer' | 'not-now';

export interface CallRecord {
  readonly atMs: number;
  readonly durationMs: number;
  readonly attempts: number;
}

export class Tally {
  acknowledgedWrites = 0;
  conflicts = 0;
  /** Attempts that ended without a verdict, by what the client saw. */
  readonly failures: Record<FailureReason, number> = { 'not-reached': 0, 'no-answer': 0, 'not-now': 0 };
  /** Calls with writes of which an attempt may have taken effect unseen. */
  unknownWrites = 0;
  readonly calls: CallRecord[] = [];

  /** Calls that began in this span. */
  between(fromMs: number, toMs: number): readonly CallRecord[] {
    return this.calls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
