/**
 * Usage counters of a collection's history. The history is a log: the counters hold the bytes ever appended to it, and how many
 * of these were removed from the front. The difference is an upper bound for the bytes still stored, as revisions in between
 * may have been overwritten or removed. So a removal needs no sizes, and the bound holds in every commit.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import type { MessageShape } from '../../../runtime/contract.ts';
import { slice } from '../../../runtime/slice.ts';
import { head } from '../head.ts';
import { ItemSettings } from '../settings.ts';
import { type RevisionRow, revision } from './table.ts';

const noDebt = { bytes: 0, atMs: 0 };

const usageSchema = z.object({
  /** Total bytes appended to the log so far. */
  endOffset: z.int(),
  /** All revisions up to this offset are removed. */
  trimmed: z.int(),
  /** Whether the timer that removes the oldest is armed. */
  trimming: z.boolean(),
  /** Bytes of all revisions that were copied for duplicates; `endOffset` counts them too. */
  copied: z.int().default(0),
  /** A leaky bucket: bytes of recent copies that still count against the allowance. It drains with time. */
  debt: z.object({ bytes: z.int(), atMs: z.number() }).default(noDebt),
});
export type RevisionUsage = Readonly<z.infer<typeof usageSchema>>;

export const revisionUsageSlice = slice<RevisionUsage>({
  name: 'revisions',
  schema: usageSchema,
  initial: { endOffset: 0, trimmed: 0, trimming: false, copied: 0, debt: noDebt },
});

export type TrimTimer = MessageShape<null>;

/** Trimming starts at this share of the limit, so that there is room for the next revisions. */
const fullShare = 7 / 8;

const isNearlyFull = ({ endOffset, trimmed }: RevisionUsage, bytesMax: number): boolean =>
  endOffset - trimmed > bytesMax * fullShare;

/** A revision that has no place in the log yet. */
export type NewRevisionRow = Omit<RevisionRow, 'end_offset' | 'kept_at'>;

/**
 * Writes a revision at the end of the log. If revisions come faster than the oldest can be removed, this one is left out. The
 * history then has a gap, and the save still succeeds. `first`: the slot is unused, so the row is inserted, not replaced.
 */
export function appendRevision(
  turn: Turn,
  row: NewRevisionRow,
  as: 'first' | 'save' | 'copy' = 'save',
): void {
  const before = turn.get(revisionUsageSlice);
  const copied = before.copied + (as === 'copy' ? row.size : 0);
  const after = { ...before, copied, endOffset: before.endOffset + row.size };
  if (after.endOffset - after.trimmed > turn.use(ItemSettings).revisions.bytesMax) return;
  const stored = { ...row, end_offset: after.endOffset, kept_at: turn.nowMs };
  if (as === 'first') turn.putFirst(revision, stored);
  else turn.put(revision, stored);
  turn.set(revisionUsageSlice, after);
}

/** Arms the removal of the oldest. Call it after the turn has kept its revisions. */
export function scheduleTrim(turn: Turn, timer: TrimTimer): void {
  const usage = turn.get(revisionUsageSlice);
  const { ageMs, bytesMax } = turn.use(ItemSettings).revisions;
  if (isNearlyFull(usage, bytesMax)) {
    turn.arm(timer, turn.nowMs, null);
    turn.set(revisionUsageSlice, { ...usage, trimming: true });
    return;
  }
  if (ageMs === 0 || usage.trimming || usage.endOffset === usage.trimmed) return;
  turn.arm(timer, turn.nowMs + ageMs, null);
  turn.set(revisionUsageSlice, { ...usage, trimming: true });
}

/** The bucket of every collection: its size, and what drains per day. */
const copiedPerDayBytes = 16 * 1_048_576;
/** The size grows by this many times the bytes of the items and of their replaced revisions, so a large history fits. */
const copiesOfSavedBytes = 8;
const dayMs = 86_400_000;

/**
 * Returns the longest prefix that fits the allowance, and charges it. A tiny duplicate may have a large history, so without
 * this a small request could make the server write gigabytes.
 */
export function chargeCopyAllowance(turn: Turn, requested: readonly RevisionRow[]): readonly RevisionRow[] {
  const usage = turn.get(revisionUsageSlice);
  const { endOffset, copied, debt } = usage;
  const drained = ((turn.nowMs - debt.atMs) / dayMs) * copiedPerDayBytes;
  const savedBytes = endOffset - copied + turn.get(head).sizeBytes;
  const allowed = copiedPerDayBytes + copiesOfSavedBytes * savedBytes;
  let bytes = Math.max(0, Math.ceil(debt.bytes - Math.max(0, drained)));
  const affordable: RevisionRow[] = [];
  for (const row of requested) {
    if (bytes + row.size > allowed) break;
    bytes += row.size;
    affordable.push(row);
  }
  turn.set(revisionUsageSlice, { ...usage, debt: { bytes, atMs: turn.nowMs } });
  return affordable;
}
