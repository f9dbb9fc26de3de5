/** Totals over the calls of a run, for its report. Verdicts belong to the checker. */
/** `too-many`: the caller has sent more than anybody may have at once. */
export type FailureReason = 'not-reached' | 'no-answer' | 'not-now' | 'too-many';

export interface OpenCall {
  /** The kind of caller. */
  readonly who: string;
  /** Method and path, without identifiers. */
  readonly what: string;
  readonly atMs: number;
}

export interface CallRecord extends OpenCall {
  readonly durationMs: number;
  /** Attempts before the answered one. */
  readonly failures: readonly FailureReason[];
}

export class Tally {
  acknowledgedWrites = 0;
  conflicts = 0;
  /** Named syncs that the sync lane has answered. */
  overLane = 0;
  /** Calls with writes, one attempt of which may have taken effect unseen. */
  unknownWrites = 0;
  readonly calls: CallRecord[] = [];
  /** Calls that wait for the deciding answer. */
  readonly open = new Set<OpenCall>();
  /** People's operations besides syncing, by kind: the successful and the refused ones. */
  readonly operations = new Map<string, { done: number; refused: number }>();

  act(does: string, isDone: boolean): void {
    const { done, refused } = this.operations.get(does) ?? { done: 0, refused: 0 };
    this.operations.set(does, { done: done + (isDone ? 1 : 0), refused: refused + (isDone ? 0 : 1) });
  }

  /** Calls that began before and have no answer yet. */
  waitingSince(atMs: number): readonly OpenCall[] {
    return [...this.open].filter((call) => call.atMs < atMs);
  }

  /** Calls that began in this span and have their answers. */
  between(fromMs: number, toMs: number): readonly CallRecord[] {
    return this.calls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  }
}

/** Attempts that ended without a verdict, by what the client saw. */
export function failuresOf(calls: readonly CallRecord[]): Readonly<Record<FailureReason, number>> {
  const counts = { 'not-reached': 0, 'no-answer': 0, 'not-now': 0, 'too-many': 0 };
  for (const { failures } of calls) for (const reason of failures) counts[reason] += 1;
  return counts;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
