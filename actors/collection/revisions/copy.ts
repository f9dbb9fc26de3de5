/**
 * A duplicate gets the history of its original (docs/protocol/sync.md, "Revisions"). A timer, armed in the commit of the save,
 * copies it in bounded commits, the newest first. Its payload says what is left, so a crash between two commits leaves neither a
 * gap nor a duplicate. A client chooses the original. Nothing is copied unless it is in the same collection and has the same owner.
 */
import { z } from 'zod';
import { type KeysPlan, keys, type PlanResults, type Turn, type View } from '../../../runtime/command.ts';
import { keyed, type MessageShape } from '../../../runtime/contract.ts';
import { isWhole, item } from '../item.ts';
import { newestRevisionsFirst, revisionsIn } from './read.ts';
import { revisionsPerItemMax, revisionUuid, type SlotKey, slotKeys, slotOfCopy } from './slots.ts';
import { type RevisionRow, revision } from './table.ts';
import { appendRevision, chargeCopyAllowance, scheduleTrim, type TrimTimer } from './usage.ts';

export const copyPayload = z.object({
  from: z.string(),
  to: z.string(),
  /** The remaining slots; absent before the first commit. */
  left: z.object({ slots: z.array(z.int()).readonly(), copied: z.int() }).optional(),
});
export type CopyPayload = z.infer<typeof copyPayload>;

interface CopyTimers {
  readonly copyRevisions: MessageShape<CopyPayload>;
  readonly trimRevisions: TrimTimer;
}

/** Bytes of one commit. The revision that crosses the limit is still copied. */
const copyBatchBytes = 4 * 1_048_576;
/**
 * Bytes of one duplicate, as a small request must not make the server write the largest item a hundred times. The revision that
 * crosses the limit is still copied.
 */
const copiedBytesMax = 64 * 1_048_576;

export type CopyPlans = {
  readonly duplicate: KeysPlan<typeof item>;
  readonly original: KeysPlan<typeof item>;
  readonly revisions: KeysPlan<typeof revision>;
};
export type CopyReads = PlanResults<CopyPlans>;

export function copyPlan({ self }: View, { from, to, left }: CopyPayload): CopyPlans {
  const isFirstCommit = left === undefined;
  return {
    duplicate: keys(item, [{ collection: self.id, uuid: to }], 0),
    // The original's row may itself hold its newest revision.
    original: keys(item, [{ collection: self.id, uuid: from }], isFirstCommit ? 0 : undefined),
    revisions: keys(revision, keysToCopy(self.id, from, left), isFirstCommit ? 0 : copyBatchBytes),
  };
}

export function copyRevisions(turn: Turn, payload: CopyPayload, reads: CopyReads, timers: CopyTimers): void {
  const { from, to, left } = payload;
  const { id: collection } = turn.self;
  const original = reads.original.get({ collection, uuid: from });
  const duplicate = reads.duplicate.get({ collection, uuid: to });
  if (original === undefined || duplicate === undefined || duplicate.deleted) return;
  if (duplicate.owner_uuid !== original.owner_uuid) return;
  const history = { rows: reads.revisions, items: reads.original };
  const found = revisionsIn(history, keysToCopy(collection, from, left), turn.nowMs);
  const next = left === undefined ? selectRevisions(turn, found) : copyBatch(turn, found, to, left);
  scheduleTrim(turn, timers.trimRevisions);
  if (next.slots.length > 0) {
    turn.arm(keyed(timers.copyRevisions, to), turn.nowMs, { from, to, left: next });
  }
}

type Remaining = NonNullable<CopyPayload['left']>;

/** All slots at the first run, and the remaining ones after that. */
function keysToCopy(collection: string, from: string, left: Remaining | undefined): SlotKey[] {
  const all = slotKeys(collection, from);
  return left === undefined ? all : all.filter(({ slot }) => left.slots.includes(slot));
}

/** Selects the newest revisions that fit, by their sizes. */
function selectRevisions(turn: Turn, found: readonly RevisionRow[]): Remaining {
  let remainingBytes = copiedBytesMax;
  const fitting: RevisionRow[] = [];
  for (const row of newestRevisionsFirst(found).slice(0, revisionsPerItemMax)) {
    if (remainingBytes <= 0) break;
    remainingBytes -= row.size;
    fitting.push(row);
  }
  return { slots: chargeCopyAllowance(turn, fitting).map(({ slot }) => slot), copied: 0 };
}

function copyBatch(turn: Turn, found: readonly RevisionRow[], to: string, left: Remaining): Remaining {
  let { copied } = left;
  for (const row of found.filter(isWhole)) {
    const slot = slotOfCopy(copied);
    copied += 1;
    const uuid = revisionUuid(turn.random.uuid(), slot);
    appendRevision(turn, { ...row, item_uuid: to, slot, uuid }, 'copy');
  }
  return { copied, slots: found.filter((row) => !isWhole(row)).map(({ slot }) => slot) };
}
