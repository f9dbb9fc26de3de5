/** The history of an item as its readers get it. A list reads no content, and one revision is found by its uuid. */
import { z } from 'zod';
import { type KeysPlan, type KeysResult, keys, type Turn, type View } from '../../../runtime/command.ts';
import type { ItemRow } from '../item.ts';
import { ItemSettings } from '../settings.ts';
import { deleteHeld, heldRevision } from './held.ts';
import { type SlotKey, slotKeys, slotOfUuid } from './slots.ts';
import { type RevisionRow, revision } from './table.ts';

type Rows = KeysResult<typeof revision>;

/** Reads no content. */
export const historyPlan = (collection: string, itemUuid: string): KeysPlan<typeof revision> =>
  keys(revision, slotKeys(collection, itemUuid), 0);

/** What was read of the history of an item. */
export interface History {
  readonly rows: Rows;
  /** The item's row in the same collection, which may hold the newest one. */
  readonly holder: ItemRow | undefined;
}

/** The revisions in these slots. The one that the item's row holds counts as written (see held.ts). */
export function revisionsIn(
  { rows, holder }: History,
  slots: readonly SlotKey[],
  nowMs: number,
): RevisionRow[] {
  const held = heldRevision(holder, nowMs);
  return slots.flatMap((key) => (held?.slot === key.slot ? held : (rows.get(key) ?? [])));
}

/** The revisions of an item that are not too old, the newest first. */
export function historyOf(
  view: View & { readonly nowMs: number },
  itemUuid: string,
  history: History,
): readonly RevisionRow[] {
  const { perItemMax, ageMs } = view.use(ItemSettings).revisions;
  const kept = revisionsIn(history, slotKeys(view.self.id, itemUuid), view.nowMs);
  const young = ageMs === 0 ? kept : kept.filter((row) => row.kept_at > view.nowMs - ageMs);
  return newestFirst(young).slice(0, perItemMax);
}

/** Of two with the same time, the one that was kept later comes first. */
export const newestFirst = (rows: readonly RevisionRow[]): readonly RevisionRow[] =>
  rows.toSorted((a, b) => b.created_at - a.created_at || b.end_offset - a.end_offset);

export const revisionKey = (collection: string, itemUuid: string, uuid: string): SlotKey => ({
  collection,
  item_uuid: itemUuid.toLowerCase(),
  slot: slotOfUuid(uuid),
});

/** The revision of this uuid, unless a newer one has taken its slot. */
export function revisionIn(history: History, key: SlotKey, uuid: string): RevisionRow | undefined {
  return revisionsIn(history, [key], 0).find((row) => row.uuid === uuid.toLowerCase());
}

/** Deletes a revision that the turn has found by its uuid. The item's row was read with its content. */
export function deleteRevision(turn: Turn, { holder }: History, key: SlotKey, { uuid }: RevisionRow): void {
  if (holder?.revision_uuid === uuid) deleteHeld(turn, holder);
  else turn.remove(revision, key);
}

const shownFields = {
  uuid: z.string(),
  item_uuid: z.string(),
  content_type: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  shared_vault_uuid: z.string().nullable(),
  edited_by_uuid: z.string().nullable(),
};

export const listedSchema = z.object({ ...shownFields, required_role: z.literal('') });
export const revisionSchema = z.object({
  ...shownFields,
  content: z.string().nullable(),
  items_key_id: z.string().nullable(),
  enc_item_key: z.string().nullable(),
  auth_hash: z.string().nullable(),
  key_system_identifier: z.string().nullable(),
  last_edited_by_uuid: z.string().nullable(),
  user_uuid: z.string().nullable(),
});

/**
 * `itemUuid` as the client spells it. Every account may see its whole history. A client that does not know this server's
 * host as its own service compares `required_role` with the roles of an offline subscription, of which there are none. It
 * would lock every named role, and opens what names none.
 */
export const listed = (row: RevisionRow, itemUuid: string): z.infer<typeof listedSchema> => ({
  ...shown(row, itemUuid),
  required_role: '',
});

export const given = (row: RevisionRow, itemUuid: string): z.infer<typeof revisionSchema> => ({
  ...shown(row, itemUuid),
  content: row.content,
  items_key_id: row.items_key_id,
  enc_item_key: row.enc_item_key,
  auth_hash: row.auth_hash,
  key_system_identifier: row.key_system_identifier,
  last_edited_by_uuid: row.last_edited_by_uuid,
  user_uuid: row.owner_uuid,
});

function shown(row: RevisionRow, itemUuid: string) {
  const time = new Date(row.created_at).toISOString();
  return {
    uuid: row.uuid,
    item_uuid: itemUuid,
    content_type: row.content_type,
    created_at: time,
    updated_at: time,
    shared_vault_uuid: row.shared_vault_uuid,
    edited_by_uuid: row.last_edited_by_uuid ?? row.owner_uuid,
  };
}
