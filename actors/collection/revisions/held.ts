/**
 * The revision that the row of an item holds (decision 53). A save that makes a revision writes no row of the history. The
 * item's own row has the same content, and stands for the revision that its `revision_uuid` names. So the content is stored and
 * sent once.
 *
 *     overwritten   by a save, a move or a return: the same commit writes the former row into the history first
 *     deleted       the item, and its history with it: nothing is written
 *     deleted       the revision alone: the item is written again without a `revision_uuid`
 *
 * - The content comes from the row that the turn has read. If it was read without its content, the overwriting has to wait.
 * - The held revision is the newest. A row of the table in its slot is the one that it will replace, and counts as gone.
 * - It takes a place in the order of the history, and bytes of its bound, once it is written there.
 */
import type { Turn } from '../../../runtime/command.ts';
import { advance, head } from '../head.ts';
import { type ItemRow, item } from '../item.ts';
import { revisionsPerItemMax, revisionUuid, slotOfSave } from './slots.ts';
import type { RevisionRow } from './table.ts';
import { keepRevision } from './usage.ts';

type KeptRevision = Omit<RevisionRow, 'end_offset' | 'kept_at'>;

/** The row, which a save has written, as the holder of a new revision. */
export function holding(turn: Turn, row: ItemRow): ItemRow {
  return { ...row, revision_uuid: revisionUuid(turn.random.uuid(), slotOfSave(row.revisions - 1)) };
}

export const holdsRevision = (row: Pick<ItemRow, 'revision_uuid'> | undefined): boolean =>
  row !== undefined && row.revision_uuid !== null;

/** How many revisions of the item its saves have written into the history. */
export const revisionsWritten = (row: Pick<ItemRow, 'revisions' | 'revision_uuid'>): number =>
  holdsRevision(row) ? row.revisions - 1 : row.revisions;

/** The revision as readers get it. Its age begins when the row is overwritten. */
export function heldRevision(row: ItemRow | undefined, nowMs: number): RevisionRow | undefined {
  const written = row && revisionOf(row);
  return written && { ...written, end_offset: Number.MAX_SAFE_INTEGER, kept_at: nowMs };
}

/** Writes the revision of a row that this turn overwrites. True if there was one. */
export function keepHeld(turn: Turn, replaced: ItemRow): boolean {
  const written = revisionOf(replaced);
  if (written === undefined) return false;
  // Until the ring comes round, every revision has a slot that none had before.
  keepRevision(turn, written, replaced.revisions <= revisionsPerItemMax ? 'first' : 'save');
  return true;
}

/** Deletes the revision. Clients get the item once more, in the same version. */
export function deleteHeld(turn: Turn, row: ItemRow): void {
  const before = turn.get(head);
  const next = { ...row, revision_uuid: null, position: before.position + 1 };
  turn.put(item, next);
  turn.set(head, advance(before, next, row));
}

function revisionOf(row: ItemRow): KeptRevision | undefined {
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
