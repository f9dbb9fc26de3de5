/**
 * The newest revision of an item is stored only in the item's own row, which names it by `revision_uuid`. A save writes it to no
 * other table. The next commit that overwrites the row moves it to the revision table. So the content is stored and sent once.
 *
 *     item overwritten   by a save, a move or the return to its owner: the same commit writes the former row as a revision
 *     item deleted       and its history with it: nothing is written
 *     revision deleted   the item is written again without a `revision_uuid`
 *
 * - The content comes from the row that the turn has read. A row that was read without its content must not be overwritten in
 *   that turn.
 * - A row of the revision table in the same slot is the oldest revision, which this one will replace. Readers ignore it.
 * - The revision gets an `end_offset`, and counts towards the size limit, once it is in the revision table.
 */
import type { Turn } from '../../../runtime/command.ts';
import { head, headAfterWrite } from '../head.ts';
import { type ItemRow, item } from '../item.ts';
import { revisionsPerItemMax, revisionUuid, slotOfSave } from './slots.ts';
import type { RevisionRow } from './table.ts';
import { appendRevision, type NewRevisionRow } from './usage.ts';

/** Gives the saved row a new revision uuid. */
export function withNewRevision(turn: Turn, row: ItemRow): ItemRow {
  return { ...row, revision_uuid: revisionUuid(turn.random.uuid(), slotOfSave(row.revisions - 1)) };
}

export const holdsRevision = (row: Pick<ItemRow, 'revision_uuid'> | undefined): boolean =>
  row !== undefined && row.revision_uuid !== null;

/** How many revisions of the item are in the revision table because of saves. */
export const archivedRevisions = (row: Pick<ItemRow, 'revisions' | 'revision_uuid'>): number =>
  holdsRevision(row) ? row.revisions - 1 : row.revisions;

/** The revision as readers get it. It sorts last and is never too old, because its age begins when the row is overwritten. */
export function currentRevision(row: ItemRow | undefined, nowMs: number): RevisionRow | undefined {
  const revision = row && revisionOf(row);
  return revision && { ...revision, end_offset: Number.MAX_SAFE_INTEGER, kept_at: nowMs };
}

/** Writes the revision of a row that this turn overwrites. True if there was one. */
export function archiveRevision(turn: Turn, replaced: ItemRow): boolean {
  const revision = revisionOf(replaced);
  if (revision === undefined) return false;
  // The first hundred revisions each have a fresh slot, so nothing has to be replaced.
  appendRevision(turn, revision, replaced.revisions <= revisionsPerItemMax ? 'first' : 'save');
  return true;
}

/** Deletes the revision. The row gets a new position, so clients get the item again; its `updated_at` stays. */
export function deleteCurrentRevision(turn: Turn, row: ItemRow): void {
  const before = turn.get(head);
  const next = { ...row, revision_uuid: null, position: before.position + 1 };
  turn.put(item, next);
  turn.set(head, headAfterWrite(before, next, row));
}

function revisionOf(row: ItemRow): NewRevisionRow | undefined {
  if (row.revision_uuid === null) return undefined;
  return {
    collection: row.collection,
    item_uuid: row.uuid,
    slot: slotOfSave(row.revisions - 1),
    uuid: row.revision_uuid,
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
}
