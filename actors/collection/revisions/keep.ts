/**
 * Writes the history of saved items in the commit of the save, so that a revision exists if and only if its save does.
 */
import type { Turn } from '../../../runtime/command.ts';
import { keyed, type MessageShape } from '../../../runtime/contract.ts';
import type { ItemRow } from '../item.ts';
import type { ItemWrite } from '../save-items.ts';
import type { CopyPayload } from './copy.ts';
import type { ForgetPayload } from './forget.ts';
import { revisionUuid, slotOfSave, usedSlotKeys } from './slots.ts';
import { revision } from './table.ts';
import { armTrim, keepRevision, revisionUsageSlice, type TrimTimer } from './usage.ts';

/** The timers that the kind of a collection declares for it. */
export interface RevisionTimers {
  readonly trimRevisions: TrimTimer;
  readonly copyRevisions: MessageShape<CopyPayload>;
  readonly forgetRevisions: MessageShape<ForgetPayload>;
}

/** Slots that one commit removes with their items, at most. Most items have a few; a timer removes the others. */
const removedAtOnceMax = 1_000;

export function keepHistory(turn: Turn, writes: readonly ItemWrite[], timers: RevisionTimers): void {
  let removed = 0;
  let kept = false;
  for (const { row, isNew, revised, duplicated } of writes) {
    if (row.deleted) {
      if (!isNew) removed = forget(turn, row, removed, timers);
      continue;
    }
    if (revised) {
      keep(turn, row, isNew && row.revisions === 1 ? 'first' : 'save');
      kept = true;
    }
    if (duplicated && row.duplicate_of !== null) {
      const copy = { from: row.duplicate_of.toLowerCase(), to: row.uuid };
      turn.arm(keyed(timers.copyRevisions, row.uuid), turn.nowMs, copy);
    }
  }
  if (kept) armTrim(turn, timers.trimRevisions);
}

function keep(turn: Turn, row: ItemRow, as: 'first' | 'save'): void {
  const slot = slotOfSave(row.revisions - 1);
  const kept = {
    collection: row.collection,
    item_uuid: row.uuid,
    slot,
    uuid: revisionUuid(turn.random.uuid(), slot),
    size: row.size,
    created_at: Math.floor(row.updated_at_timestamp / 1_000),
    owner_uuid: row.owner_uuid,
    content_type: row.content_type,
    content: row.content,
    enc_item_key: row.enc_item_key,
    items_key_id: row.items_key_id,
    auth_hash: row.auth_hash,
    key_system_identifier: row.key_system_identifier,
    shared_vault_uuid: row.shared_vault_uuid,
    last_edited_by_uuid: row.last_edited_by_uuid,
  };
  keepRevision(turn, kept, as);
}

/** Removes the history of a deleted item. Returns how many slots this commit has removed. */
function forget(turn: Turn, row: ItemRow, removed: number, timers: RevisionTimers): number {
  const isDuplicate = row.duplicate_of !== null;
  const used = usedSlotKeys(row.collection, row.uuid, row.revisions, isDuplicate);
  if (used.length === 0) return removed;
  if (isDuplicate) turn.disarm(keyed(timers.copyRevisions, row.uuid));
  if (removed + used.length > removedAtOnceMax) {
    const payload = { itemUuid: row.uuid, through: turn.get(revisionUsageSlice).endOffset };
    turn.arm(keyed(timers.forgetRevisions, row.uuid), turn.nowMs, payload);
    return removed;
  }
  for (const key of used) turn.remove(revision, key);
  return removed + used.length;
}
