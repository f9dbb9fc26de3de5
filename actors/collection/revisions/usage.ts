/**
 * How many bytes of revisions a collection has written, and up to where they are gone. The revisions that are kept take no more
 * than the difference, whatever else was overwritten or removed in between. So nobody has to know the size of what they remove,
 * and the bound holds in every commit.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import type { MessageShape } from '../../../runtime/contract.ts';
import { slice } from '../../../runtime/slice.ts';
import { ItemSettings } from '../settings.ts';
import { type RevisionRow, revision } from './table.ts';

export interface RevisionUsage {
  /** The place of the last revision that was written. */
  readonly place: number;
  /** Every revision up to this place is gone. */
  readonly trimmed: number;
  /** Whether the timer that removes the oldest is armed. */
  readonly trimming: boolean;
  /** Bytes of the revisions that were ever copied for duplicates; `place` counts them too. */
  readonly copied: number;
  /** What lately copied revisions count against the allowance of copies; it is paid off with time. */
  readonly debt: { readonly bytes: number; readonly atMs: number };
}

const noDebt = { bytes: 0, atMs: 0 };

export const revisionUsageSlice = slice<RevisionUsage>({
  name: 'revisions',
  format: 1,
  schema: z.object({
    place: z.int(),
    trimmed: z.int(),
    trimming: z.boolean(),
    copied: z.int().default(0),
    debt: z.object({ bytes: z.int(), atMs: z.number() }).default(noDebt),
  }),
  initial: { place: 0, trimmed: 0, trimming: false, copied: 0, debt: noDebt },
});

export type TrimTimer = MessageShape<null>;

/** The oldest are removed from here on, so that there is room for the next ones. */
const fullShare = 7 / 8;

const isNearlyFull = ({ place, trimmed }: RevisionUsage, bytesMax: number): boolean =>
  place - trimmed > bytesMax * fullShare;

/**
 * Writes a revision at the next place. Where they come faster than the oldest can be removed, it is left out: the
 * history has a gap then, and the save is as good as any.
 */
export function keepRevision(
  turn: Turn,
  row: Omit<RevisionRow, 'place' | 'kept_at'>,
  as: 'save' | 'copy' = 'save',
): void {
  const before = turn.get(revisionUsageSlice);
  const copied = before.copied + (as === 'copy' ? row.size : 0);
  const after = { ...before, copied, place: before.place + row.size };
  if (after.place - after.trimmed > turn.use(ItemSettings).revisions.bytesMax) return;
  turn.put(revision, { ...row, place: after.place, kept_at: turn.nowMs });
  turn.set(revisionUsageSlice, after);
}

/** Has the oldest removed when it is time. To be called after what a turn has kept. */
export function armTrim(turn: Turn, timer: TrimTimer): void {
  const usage = turn.get(revisionUsageSlice);
  const { ageMs, bytesMax } = turn.use(ItemSettings).revisions;
  if (isNearlyFull(usage, bytesMax)) {
    turn.arm(timer, turn.nowMs, null);
    turn.set(revisionUsageSlice, { ...usage, trimming: true });
    return;
  }
  if (ageMs === 0 || usage.trimming || usage.place === usage.trimmed) return;
  turn.arm(timer, turn.nowMs + ageMs, null);
  turn.set(revisionUsageSlice, { ...usage, trimming: true });
}

/** Every collection may have so much copied a day, and so much at once. */
const copiedPerDayBytes = 16 * 1_048_576;
/** At once also so many times what its saves have written: a large history is copied whole, and more than once. */
const copiesOfSavedBytes = 8;
const dayMs = 86_400_000;

/**
 * Chooses the first revisions that may be copied now, and counts them. A duplicate may be tiny while its history is
 * large, so without this a small request has gigabytes written.
 */
export function takeCopies(turn: Turn, wanted: readonly RevisionRow[]): readonly RevisionRow[] {
  const usage = turn.get(revisionUsageSlice);
  const { place, copied, debt } = usage;
  const paidOff = ((turn.nowMs - debt.atMs) / dayMs) * copiedPerDayBytes;
  const allowed = copiedPerDayBytes + copiesOfSavedBytes * (place - copied);
  let bytes = Math.max(0, Math.ceil(debt.bytes - Math.max(0, paidOff)));
  const taken: RevisionRow[] = [];
  for (const row of wanted) {
    if (bytes + row.size > allowed) break;
    bytes += row.size;
    taken.push(row);
  }
  turn.set(revisionUsageSlice, { ...usage, debt: { bytes, atMs: turn.nowMs } });
  return taken;
}
