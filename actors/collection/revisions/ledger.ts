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

export interface Ledger {
  /** Where the last revision that was written ends, counted in bytes since the first. */
  readonly endOffset: number;
  /** Every revision that ends at this offset or before is gone. */
  readonly trimmed: number;
  /** Whether the timer that removes the oldest is armed. */
  readonly trimming: boolean;
  /** Bytes of the revisions that were ever copied for duplicates; `endOffset` counts them too. */
  readonly copied: number;
  /** What lately copied revisions count against the allowance of copies; it is paid off with time. */
  readonly debt: { readonly bytes: number; readonly atMs: number };
}

const noDebt = { bytes: 0, atMs: 0 };

export const ledgerSlice = slice<Ledger>({
  name: 'revisions',
  format: 1,
  schema: z.object({
    endOffset: z.int(),
    trimmed: z.int(),
    trimming: z.boolean(),
    copied: z.int().default(0),
    debt: z.object({ bytes: z.int(), atMs: z.number() }).default(noDebt),
  }),
  initial: { endOffset: 0, trimmed: 0, trimming: false, copied: 0, debt: noDebt },
});

export type TrimTimer = MessageShape<null>;

/** The oldest are removed from here on, so that there is room for the next ones. */
const fullShare = 7 / 8;

const isNearlyFull = ({ endOffset, trimmed }: Ledger, bytesMax: number): boolean =>
  endOffset - trimmed > bytesMax * fullShare;

/**
 * Writes a revision at the end of the log. Where they come faster than the oldest can be removed, it is left out: the
 * history has a gap then, and the save is as good as any.
 */
export function keepRevision(
  turn: Turn,
  row: Omit<RevisionRow, 'end_offset' | 'kept_at'>,
  as: 'save' | 'copy' = 'save',
): void {
  const before = turn.get(ledgerSlice);
  const copied = before.copied + (as === 'copy' ? row.size : 0);
  const after = { ...before, copied, endOffset: before.endOffset + row.size };
  if (after.endOffset - after.trimmed > turn.use(ItemSettings).revisions.bytesMax) return;
  turn.put(revision, { ...row, end_offset: after.endOffset, kept_at: turn.nowMs });
  turn.set(ledgerSlice, after);
}

/** Has the oldest removed when it is time. To be called after what a turn has kept. */
export function armTrim(turn: Turn, timer: TrimTimer): void {
  const ledger = turn.get(ledgerSlice);
  const { ageMs, bytesMax } = turn.use(ItemSettings).revisions;
  if (isNearlyFull(ledger, bytesMax)) {
    turn.arm(timer, turn.nowMs, null);
    turn.set(ledgerSlice, { ...ledger, trimming: true });
    return;
  }
  if (ageMs === 0 || ledger.trimming || ledger.endOffset === ledger.trimmed) return;
  turn.arm(timer, turn.nowMs + ageMs, null);
  turn.set(ledgerSlice, { ...ledger, trimming: true });
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
  const ledger = turn.get(ledgerSlice);
  const { endOffset, copied, debt } = ledger;
  const paidOff = ((turn.nowMs - debt.atMs) / dayMs) * copiedPerDayBytes;
  const allowed = copiedPerDayBytes + copiesOfSavedBytes * (endOffset - copied);
  let bytes = Math.max(0, Math.ceil(debt.bytes - Math.max(0, paidOff)));
  const taken: RevisionRow[] = [];
  for (const row of wanted) {
    if (bytes + row.size > allowed) break;
    bytes += row.size;
    taken.push(row);
  }
  turn.set(ledgerSlice, { ...ledger, debt: { bytes, atMs: turn.nowMs } });
  return taken;
}
