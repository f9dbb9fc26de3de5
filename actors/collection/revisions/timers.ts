/** The timers of a collection's history, which every kind that has one lists among its own. */
import {
  type RangePlan,
  type RangeResult,
  range,
  type Turn,
  timer,
  type View,
} from '../../../runtime/command.ts';
import type { MessageShapes } from '../../../runtime/contract.ts';
import { ItemSettings } from '../settings.ts';
import { type CopyPayload, copyPlan, copyRevisions } from './copy.ts';
import { type ForgetPayload, forgetPlan, forgetRevisions } from './forget.ts';
import { type RevisionRow, revision } from './table.ts';
import type { revisionTimerShapes } from './timer-payloads.ts';
import { revisionUsageSlice, type TrimTimer } from './usage.ts';

// --- trimming ------------------------------------------------------------------------------------------------

/**
 * A timer removes the oldest revisions of a collection when they are too old or take too much. It removes a bounded number in
 * each commit, and comes again while there are more. A crash leaves the timer.
 */

const trimBatchMax = 500;
/** The share of a full history that stays. An item larger than the rest may get no revision. */
const leftShare = 3 / 4;
/** A collection in daily use is not trimmed more often than this. */
const trimPauseMs = 86_400_000;

interface Oldest {
  readonly oldest: RangeResult<typeof revision>;
}

function trimPlan(view: View): { oldest: RangePlan<typeof revision> } {
  const { trimmed, endOffset } = view.get(revisionUsageSlice);
  const columns = ['item_uuid', 'slot', 'size', 'kept_at'] as const;
  return {
    oldest: range(revision, { after: trimmed, through: endOffset, limit: trimBatchMax, columns }),
  };
}

function trimRevisions(turn: Turn, { oldest }: Oldest, timer: TrimTimer): void {
  const usage = turn.get(revisionUsageSlice);
  const { ageMs, bytesMax } = turn.use(ItemSettings).revisions;
  const cutOffset = usage.endOffset - bytesMax * leftShare;
  const isDue = (row: RevisionRow) =>
    startOf(row) < cutOffset || (ageMs > 0 && row.kept_at <= turn.nowMs - ageMs);
  const first = oldest.rows.find((row) => !isDue(row));
  for (const { collection, item_uuid, slot, end_offset } of oldest.rows) {
    if (first !== undefined && end_offset >= first.end_offset) break;
    turn.remove(revision, { collection, item_uuid, slot });
  }
  const isPartial = first === undefined && !oldest.complete;
  if (isPartial) turn.arm(timer, turn.nowMs, null);
  const waits = first !== undefined && ageMs > 0;
  if (waits) turn.arm(timer, Math.max(first.kept_at + ageMs, turn.nowMs + trimPauseMs), null);
  const trimmed = first === undefined ? Math.min(oldest.upTo, usage.endOffset) : startOf(first);
  turn.set(revisionUsageSlice, { ...usage, trimmed, trimming: isPartial || waits });
}

const startOf = ({ end_offset, size }: RevisionRow): number => end_offset - size;

/** `isGone` says that something else removes the whole collection, the history included. */
export function revisionTimers(
  shapes: MessageShapes<typeof revisionTimerShapes>,
  isGone: (turn: Turn) => boolean,
) {
  return {
    trimRevisions: timer(shapes.trimRevisions, {
      reads: trimPlan,
      turn: (turn, _payload: null, reads) => {
        if (!isGone(turn)) trimRevisions(turn, reads, shapes.trimRevisions);
      },
    }),
    copyRevisions: timer(shapes.copyRevisions, {
      reads: copyPlan,
      turn: (turn, payload: CopyPayload, reads) => {
        if (!isGone(turn)) copyRevisions(turn, payload, reads, shapes);
      },
    }),
    forgetRevisions: timer(shapes.forgetRevisions, {
      reads: forgetPlan,
      turn: (turn, payload: ForgetPayload, reads) => {
        if (!isGone(turn)) forgetRevisions(turn, payload, reads);
      },
    }),
  };
}
