/**
 * Writes the history of saved items in the commit of the save, so that a revision exists if and only if its save does. The newest
 * revision is stored in the item's own row (`held.ts`). The row that this save replaces is written to the revision table.
 */
import type { Turn } from '../../../runtime/command.ts';
import { keyed, type MessageShape } from '../../../runtime/contract.ts';
import { Revisions } from '../../user/revisions/contract.ts';
import type { ItemRow } from '../item.ts';
import type { ItemWrite } from '../save-items.ts';
import type { CopyPayload } from './copy.ts';
import { type DeletedItem, deletedOf, inTells } from './deleted-elsewhere.ts';
import type { ForgetPayload } from './forget.ts';
import { archivedRevisions, archiveRevision } from './held.ts';
import { usedSlotKeys } from './slots.ts';
import { revision } from './table.ts';
import { revisionUsageSlice, scheduleTrim, type TrimTimer } from './usage.ts';

/** The timers of the history, which each kind with a collection declares. */
export interface RevisionTimers {
  readonly trimRevisions: TrimTimer;
  readonly copyRevisions: MessageShape<CopyPayload>;
  readonly forgetRevisions: MessageShape<ForgetPayload>;
}

/** The most slots that one commit removes together with their items. A timer removes the rest. */
const removeBatchMax = 1_000;

export function keepHistory(turn: Turn, writes: readonly ItemWrite[], timers: RevisionTimers): void {
  let removed = 0;
  let isStored = false;
  for (const { row, replaced, duplicated } of writes) {
    if (row.deleted) {
      if (replaced !== undefined) removed = forget(turn, { row, replaced, removed }, timers);
      continue;
    }
    if (replaced !== undefined && archiveRevision(turn, replaced)) isStored = true;
    if (duplicated && row.duplicate_of !== null) {
      const copy = { from: row.duplicate_of.toLowerCase(), to: row.uuid };
      turn.arm(keyed(timers.copyRevisions, row.uuid), turn.nowMs, copy);
    }
  }
  if (isStored) scheduleTrim(turn, timers.trimRevisions);
  tellOfDeletion(turn, writes);
}

/**
 * Other collections may hold more history of a deleted item. This actor tells itself to look them up
 * (`deleted-elsewhere.ts`).
 */
function tellOfDeletion(turn: Turn, writes: readonly ItemWrite[]): void {
  const deleted: DeletedItem[] = [];
  for (const { row, replaced } of writes) {
    const item = row.deleted && replaced?.deleted === false ? deletedOf(row, replaced) : undefined;
    if (item !== undefined) deleted.push(item);
  }
  if (deleted.length === 0) return;
  // Every kind with a collection has these tells.
  const self = turn.tell({ name: turn.self.kind, tells: Revisions.tells }, turn.self.id);
  for (const each of inTells(deleted)) self.deletedHere(each);
}

interface ForgottenItem {
  /** The tombstone. */
  readonly row: ItemRow;
  readonly replaced: ItemRow;
  /** How many slots this commit has removed so far. */
  readonly removed: number;
}

/** Removes the history of a deleted item. Returns how many slots this commit has removed. */
function forget(turn: Turn, { row, replaced, removed }: ForgottenItem, timers: RevisionTimers): number {
  const isDuplicate = row.duplicate_of !== null;
  const used = usedSlotKeys(row.collection, row.uuid, archivedRevisions(replaced), isDuplicate);
  if (used.length === 0) return removed;
  if (isDuplicate) turn.disarm(keyed(timers.copyRevisions, row.uuid));
  if (removed + used.length > removeBatchMax) {
    const payload = { itemUuid: row.uuid, through: turn.get(revisionUsageSlice).endOffset };
    turn.arm(keyed(timers.forgetRevisions, row.uuid), turn.nowMs, payload);
    return removed;
  }
  for (const key of used) turn.remove(revision, key);
  return removed + used.length;
}
