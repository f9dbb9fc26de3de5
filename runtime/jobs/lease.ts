/**
 * The row behind a job: a timer with a reserved name, due when the run's host is presumed dead (`jobs.ts`).
 *
 *   leased    `token` belongs to the one run whose turns count; due when its lease ends
 *   waiting   no token: no run goes on; due when the job should be tried (again)
 *   dead      a timer that failed too often; operators can revive it
 *
 * Every function here makes the row that follows another, for a turn to write.
 */
import { z } from 'zod';
import { type RemovedMark, removed } from '../actor/layers.ts';
import { decode, encode } from '../store/encoding.ts';
import type { TimerRow } from '../store/store.ts';

const format = 1;
const prefix = '$job.';

const startSchema = z.object({
  /** Identifies the start through all its runs. */
  id: z.string(),
  payload: z.unknown(),
});
export type JobStart = z.infer<typeof startSchema>;

const leaseSchema = startSchema.extend({
  token: z.string().nullable(),
  /** Another start during this run. Its turn comes when the run is over, however it ends. */
  next: startSchema.optional(),
});
type JobLease = z.infer<typeof leaseSchema>;

/** The timer of a job: `deliver:7` has `$job.deliver:7`. */
export const timerOf = (job: string): string => `${prefix}${job}`;
export const isJobTimer = (timer: string): boolean => timer.startsWith(prefix);
export const jobOf = (timer: string): string => timer.slice(prefix.length);

export function leaseOf(row: TimerRow): JobLease {
  return leaseSchema.parse(decode(row.payload, format));
}

/** The run whose turns count, if there is one. */
export function tokenOf(row: TimerRow | RemovedMark | undefined): string | undefined {
  if (row === undefined || row === removed || row.dead) return undefined;
  return leaseOf(row).token ?? undefined;
}

/** The change that a commit made to a job's row. */
export interface JobChange {
  readonly timer: string;
  readonly before: TimerRow | undefined;
  readonly after: TimerRow | RemovedMark;
}

function withLease(row: TimerRow, lease: JobLease): TimerRow {
  return { ...row, payload: encode(format, lease) };
}

export interface Grant {
  readonly token: string;
  readonly untilMs: number;
}

/** A start: the host of the turn gets the lease at once, unless a run is in flight. */
export function started(
  before: TimerRow | undefined,
  row: Pick<TimerRow, 'kind' | 'id' | 'name' | 'shard'>,
  start: JobStart,
  { token, untilMs }: Grant,
): TimerRow {
  if (before !== undefined && tokenOf(before) !== undefined) {
    return withLease(before, { ...leaseOf(before), next: start });
  }
  const { kind, id, name, shard } = row;
  const payload = encode(format, { ...start, token } satisfies JobLease);
  return { kind, id, name, shard, due_at: Math.ceil(untilMs), payload, attempts: 0, dead: false };
}

/** The run before it is presumed dead, or there was none. A new run begins under a new token. */
export function leased(row: TimerRow, { token, untilMs }: Grant): TimerRow {
  const { next, ...lease } = leaseOf(row);
  const attempts = next === undefined ? row.attempts : 0;
  return withLease({ ...row, attempts, due_at: Math.ceil(untilMs) }, { ...(next ?? lease), token });
}

/** Unchanged, but due later. */
export function postponed(row: TimerRow, untilMs: number): TimerRow {
  return { ...row, due_at: Math.ceil(untilMs) };
}

/** No run goes on any more. The job should be tried again at `atMs`. */
export function released(row: TimerRow, atMs: number): TimerRow {
  const { next, ...lease } = leaseOf(row);
  const attempts = next === undefined ? row.attempts : 0;
  return withLease({ ...row, attempts, due_at: Math.ceil(atMs) }, { ...(next ?? lease), token: null });
}

/** A run has failed by its own fault, the `attempts`th of this start. */
export function failed(row: TimerRow, attempts: number, dead: boolean, retryAtMs: number): TimerRow {
  if (leaseOf(row).next !== undefined) return released(row, row.due_at);
  return { ...released(row, dead ? row.due_at : retryAtMs), attempts, dead };
}

/** The run has ended. Undefined if the job has ended, too; otherwise the row is leased to the next run. */
export function finished(row: TimerRow, grant: Grant): TimerRow | undefined {
  return leaseOf(row).next === undefined ? undefined : leased(row, grant);
}
