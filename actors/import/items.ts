/**
 * Items as another server had them (docs/import.md). Each keeps its uuid and its times, as every device finds conflicts by
 * those. They take positions like any other item.
 *
 * `isSameVersion` recognises rows that are there already. So a call may come twice, and a pass that was killed goes on.
 */
import { type KeysResult, keys, type Turn, type View } from '../../runtime/command.ts';
import { isStorableText } from '../../runtime/table.ts';
import { type Head, head, headAfterWrite, without } from '../collection/head.ts';
import { type ItemRow, isForwardingTombstone, item } from '../collection/item.ts';
import { isKnownContentType } from '../collection/item-fields.ts';
import { revisionsPerItemMax } from '../collection/revisions/slots.ts';
import { type RevisionRow, revision } from '../collection/revisions/table.ts';
import { ciphertextAsItWas, rowIdentityOf } from '../collection/saved-row.ts';
import { ItemSettings } from '../collection/settings.ts';
import type { ImportedItem, ItemVersion, refusalReasons } from './messages.ts';

type Existing = KeysResult<typeof item>;
type Reason = (typeof refusalReasons)[number];

/** Without ciphertext. */
export const existingPlan = (view: View, uuids: readonly string[]) => ({
  existing: keys(
    item,
    uuids.map((uuid) => ({ collection: view.self.id, uuid })),
    0,
  ),
});

export function missingItems(view: View, items: readonly ItemVersion[], existing: Existing): string[] {
  return items
    .filter(
      (version) => !isSameVersion(existing.get({ collection: view.self.id, uuid: version.uuid }), version),
    )
    .map(({ uuid }) => uuid);
}

function isSameVersion(row: ItemRow | undefined, version: ItemVersion): boolean {
  return (
    row !== undefined &&
    row.updated_at_timestamp === version.updatedAt &&
    row.deleted === version.deleted &&
    row.owner_uuid === version.ownerUuid &&
    (row.shared_vault_uuid ?? '') === version.vaultUuid &&
    row.revisions === version.revisions &&
    row.revised_at === version.revisedAt
  );
}

interface WriteResult {
  readonly written: number;
  readonly unchanged: number;
  readonly refusedItems: { uuid: string; reason: Reason }[];
}

/** `vault`: the vault whose collection this is, or null for a user's own. */
export function writeItems(
  turn: Turn,
  items: readonly ImportedItem[],
  vault: string | null,
  existing: Existing,
): WriteResult {
  const refusedItems: { uuid: string; reason: Reason }[] = [];
  let now = turn.get(head);
  let written = 0;
  let unchanged = 0;
  for (const imported of items) {
    const before = existing.get({ collection: turn.self.id, uuid: imported.uuid });
    const reason = refusalOf(turn, imported, before);
    if (reason !== undefined) {
      refusedItems.push({ uuid: imported.uuid, reason });
      continue;
    }
    if (isSameVersion(before, { ...imported, vaultUuid: vault ?? '' })) {
      unchanged += 1;
      continue;
    }
    const target = { position: now.position + 1, vault };
    const row = rowOf(turn, imported, target, before);
    if (before === undefined) turn.insert(item, row);
    else turn.put(item, row);
    forgetRevisions(turn, row, before);
    now = { ...headAfterWrite(now, row, before), updatedAtMicros: latest(turn, now, row) };
    written += 1;
  }
  if (written > 0) turn.set(head, now);
  return { written, unchanged, refusedItems };
}

/** An imported time in the future must not become the time of the next save here. */
const latest = (turn: Turn, now: Head, row: ItemRow): number =>
  Math.max(now.updatedAtMicros, Math.min(row.updated_at_timestamp, turn.nowMicros));

function refusalOf(turn: Turn, imported: ImportedItem, before: ItemRow | undefined): Reason | undefined {
  if (!isKnownContentType(imported.contentType ?? null)) return 'content-type';
  const limitBytes = turn.use(ItemSettings).contentLimitBytes;
  const { content, encItemKey, itemsKeyId, authHash, keySystemIdentifier } = imported;
  if (content !== undefined && Buffer.byteLength(content) > limitBytes) return 'too-large';
  const texts = [content, encItemKey, itemsKeyId, authHash, keySystemIdentifier];
  if (!texts.every((text) => text === undefined || isStorableText(text))) return 'not-text';
  if (before !== undefined) return isForwardingTombstone(before) ? 'taken' : undefined;
  const isUuidReserved = turn.conflicting(item, { uuid: imported.uuid, born: true }) !== undefined;
  return isUuidReserved ? 'taken' : undefined;
}

function rowOf(
  turn: Turn,
  imported: ImportedItem,
  { position, vault }: { readonly position: number; readonly vault: string | null },
  before: ItemRow | undefined,
): ItemRow {
  return {
    ...rowIdentityOf({ collection: turn.self.id, uuid: imported.uuid }, position, before),
    owner_uuid: imported.ownerUuid,
    content_type: imported.contentType ?? null,
    ...(imported.deleted ? ciphertextAsItWas.tombstone : ciphertextAsItWas.whole(imported)),
    duplicate_of: imported.duplicateOf ?? null,
    deleted: imported.deleted,
    created_at_timestamp: imported.createdAt,
    updated_at_timestamp: imported.updatedAt,
    updated_with_session: null,
    key_system_identifier: imported.keySystemIdentifier ?? null,
    shared_vault_uuid: vault,
    last_edited_by_uuid: vault === null ? null : (imported.lastEditedBy ?? imported.ownerUuid),
    fingerprint: noFingerprint,
    revisions: imported.revisions,
    revised_at: imported.revisedAt,
    // The pass brings every revision as a row of the history.
    revision_uuid: null,
  };
}

/** No save of a client counts as a repeat of the import. */
const noFingerprint = Buffer.alloc(0);

/** Removes revisions that the other server no longer has. */
function forgetRevisions(turn: Turn, row: ItemRow, before: ItemRow | undefined): void {
  const had = Math.min(before?.revisions ?? 0, revisionsPerItemMax);
  for (let slot = Math.min(row.revisions, revisionsPerItemMax); slot < had; slot += 1) {
    turn.remove(revision, { collection: row.collection, item_uuid: row.uuid, slot });
  }
}

export function removeImportedItems(turn: Turn, uuids: readonly string[], existing: Existing): number {
  let now = turn.get(head);
  let removed = 0;
  for (const uuid of uuids) {
    const key = { collection: turn.self.id, uuid };
    const row = existing.get(key);
    if (row === undefined) continue;
    turn.remove(item, key);
    forgetRevisions(turn, { ...row, revisions: 0 }, row);
    now = without(now, row);
    removed += 1;
  }
  if (removed > 0) turn.set(head, now);
  return removed;
}

/** The columns that items and their revisions have in common. */
export const importedTextOf = (row: ItemRow | RevisionRow) => ({
  content: row.content ?? undefined,
  contentType: row.content_type ?? undefined,
  encItemKey: row.enc_item_key ?? undefined,
  itemsKeyId: row.items_key_id ?? undefined,
  authHash: row.auth_hash ?? undefined,
  keySystemIdentifier: row.key_system_identifier ?? undefined,
  ownerUuid: row.owner_uuid,
});

export const importedItemOf = (row: ItemRow): ImportedItem => ({
  ...importedTextOf(row),
  uuid: row.uuid,
  duplicateOf: row.duplicate_of ?? undefined,
  deleted: row.deleted,
  createdAt: row.created_at_timestamp,
  updatedAt: row.updated_at_timestamp,
  lastEditedBy: row.last_edited_by_uuid ?? undefined,
  revisions: row.revisions,
  revisedAt: row.revised_at,
});
