/** The history of an item as its readers get it. A list reads no content, and one revision is found by its uuid. */
import { z } from 'zod';
import {
  type ClockedView,
  type KeysPlan,
  type KeysResult,
  keys,
  type Turn,
} from '../../../runtime/command.ts';
import { item } from '../item.ts';
import { ItemSettings } from '../settings.ts';
import { currentRevision, deleteCurrentRevision } from './held.ts';
import { type SlotKey, slotKeys, slotOfUuid } from './slots.ts';
import { type RevisionRow, revision } from './table.ts';

export type HistoryPlans = {
  readonly rows: KeysPlan<typeof revision>;
  /** The item itself, whose row may hold the newest revision. */
  readonly items: KeysPlan<typeof item>;
};
export interface HistoryReads {
  readonly rows: KeysResult<typeof revision>;
  readonly items: KeysResult<typeof item>;
}

const itemKey = (collection: string, itemUuid: string) => ({ collection, uuid: itemUuid.toLowerCase() });

/** Reads no content. */
export const historyPlan = (collection: string, itemUuid: string): HistoryPlans => ({
  rows: keys(revision, slotKeys(collection, itemUuid), 0),
  items: keys(item, [itemKey(collection, itemUuid)], 0),
});

/** The revisions in these slots of an item. The one that the item's row holds counts as written (see held.ts). */
export function revisionsIn(
  { rows, items }: HistoryReads,
  slots: readonly SlotKey[],
  nowMs: number,
): RevisionRow[] {
  const [first] = slots;
  const held = first && currentRevision(items.get(itemKey(first.collection, first.item_uuid)), nowMs);
  return slots.flatMap((key) => (held?.slot === key.slot ? held : (rows.get(key) ?? [])));
}

/** The revisions of an item that are not too old, the newest first. */
export function historyOf(
  view: ClockedView,
  itemUuid: string,
  history: HistoryReads,
): readonly RevisionRow[] {
  const { perItemMax, ageMs } = view.use(ItemSettings).revisions;
  const stored = revisionsIn(history, slotKeys(view.self.id, itemUuid), view.nowMs);
  const young = ageMs === 0 ? stored : stored.filter((row) => row.kept_at > view.nowMs - ageMs);
  return newestRevisionsFirst(young).slice(0, perItemMax);
}

/** If two have the same time, the one that was kept later comes first. */
export const newestRevisionsFirst = (rows: readonly RevisionRow[]): readonly RevisionRow[] =>
  rows.toSorted((a, b) => b.created_at - a.created_at || b.end_offset - a.end_offset);

/** A revision as a client names it. */
export interface RevisionName {
  readonly itemUuid: string;
  readonly id: string;
}

const revisionKey = (collection: string, { itemUuid, id }: RevisionName): SlotKey => ({
  collection,
  item_uuid: itemUuid.toLowerCase(),
  slot: slotOfUuid(id),
});

export const revisionPlan = (collection: string, name: RevisionName): HistoryPlans => ({
  rows: keys(revision, [revisionKey(collection, name)]),
  items: keys(item, [itemKey(collection, name.itemUuid)]),
});

/** The revision of this uuid, unless a newer one has taken its slot. */
export function revisionIn(
  history: HistoryReads,
  collection: string,
  name: RevisionName,
): RevisionRow | undefined {
  const [found] = revisionsIn(history, [revisionKey(collection, name)], 0);
  return found?.uuid === name.id.toLowerCase() ? found : undefined;
}

/** Deletes a revision that this turn has found. */
export function removeRevision(
  turn: Turn,
  { items }: HistoryReads,
  { uuid, slot, item_uuid }: RevisionRow,
): void {
  const { id: collection } = turn.self;
  const holder = items.get(itemKey(collection, item_uuid));
  if (holder?.revision_uuid === uuid) deleteCurrentRevision(turn, holder);
  else turn.remove(revision, { collection, item_uuid, slot });
}

const commonFields = {
  uuid: z.string(),
  item_uuid: z.string(),
  content_type: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  shared_vault_uuid: z.string().nullable(),
  edited_by_uuid: z.string().nullable(),
};

export const listedSchema = z.object({ ...commonFields, required_role: z.literal('') });
export const revisionSchema = z.object({
  ...commonFields,
  content: z.string().nullable(),
  items_key_id: z.string().nullable(),
  enc_item_key: z.string().nullable(),
  auth_hash: z.string().nullable(),
  key_system_identifier: z.string().nullable(),
  last_edited_by_uuid: z.string().nullable(),
  user_uuid: z.string().nullable(),
});

/**
 * `itemUuid` as the client spells it. Every account may see its whole history, so `required_role` names no role. Clients of a
 * self-hosted server look for the role in an offline subscription. There is none, so they would lock the revision.
 */
export const listEntryOf = (row: RevisionRow, itemUuid: string): z.infer<typeof listedSchema> => ({
  ...commonPartOf(row, itemUuid),
  required_role: '',
});

export const revisionBodyOf = (row: RevisionRow, itemUuid: string): z.infer<typeof revisionSchema> => ({
  ...commonPartOf(row, itemUuid),
  content: row.content,
  items_key_id: row.items_key_id,
  enc_item_key: row.enc_item_key,
  auth_hash: row.auth_hash,
  key_system_identifier: row.key_system_identifier,
  last_edited_by_uuid: row.last_edited_by_uuid,
  user_uuid: row.owner_uuid,
});

function commonPartOf(row: RevisionRow, itemUuid: string) {
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
