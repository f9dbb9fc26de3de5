/**
 * The history of items as another server had it. A revision keeps its time and its text. Its uuid says its slot here
 * (`actors/collection/revisions/slots.ts`), so the last two digits change; nothing but a list that is fetched anew names it.
 */
import { type KeysResult, keys, type Turn, type View } from '../../runtime/command.ts';
import { armTrim, keepRevision, ledgerSlice, type TrimTimer } from '../collection/revisions/ledger.ts';
import { revisionsPerItemMax, revisionUuid, slotKeys } from '../collection/revisions/slots.ts';
import { type RevisionRow, revision } from '../collection/revisions/table.ts';
import { bytesStored } from '../collection/saved-row.ts';
import type { ImportedRevision } from './messages.ts';

export function writeRevisions(turn: Turn, revisions: readonly ImportedRevision[], trim: TrimTimer): number {
  let written = 0;
  for (const given of revisions) {
    if (given.number >= revisionsPerItemMax) continue;
    const before = turn.get(ledgerSlice).endOffset;
    keepRevision(turn, rowOf(turn, given));
    if (turn.get(ledgerSlice).endOffset > before) written += 1;
  }
  if (written > 0) armTrim(turn, trim);
  return written;
}

function rowOf(turn: Turn, given: ImportedRevision): Omit<RevisionRow, 'end_offset' | 'kept_at'> {
  return {
    collection: turn.self.id,
    item_uuid: given.itemUuid,
    slot: given.number,
    uuid: revisionUuid(given.uuid, given.number),
    size: bytesStored(given.content, given.encItemKey),
    created_at: given.createdAtMs,
    owner_uuid: given.ownerUuid,
    content_type: given.contentType ?? null,
    content: given.content ?? null,
    enc_item_key: given.encItemKey ?? null,
    items_key_id: given.itemsKeyId ?? null,
    auth_hash: given.authHash ?? null,
    key_system_identifier: given.keySystemIdentifier ?? null,
    shared_vault_uuid: given.vaultUuid ?? null,
    last_edited_by_uuid: given.editedBy ?? null,
  };
}

export const historyPlan = (view: View, itemUuid: string) => ({
  rows: keys(revision, slotKeys(view.self.id, itemUuid, 0, revisionsPerItemMax)),
});

export function listedRevisions(
  view: View,
  itemUuid: string,
  rows: KeysResult<typeof revision>,
): ImportedRevision[] {
  return slotKeys(view.self.id, itemUuid, 0, revisionsPerItemMax)
    .flatMap((key) => rows.get(key) ?? [])
    .map((row) => ({
      uuid: row.uuid,
      itemUuid: row.item_uuid,
      number: row.slot,
      createdAtMs: row.created_at,
      ownerUuid: row.owner_uuid,
      content: row.content ?? undefined,
      contentType: row.content_type ?? undefined,
      encItemKey: row.enc_item_key ?? undefined,
      itemsKeyId: row.items_key_id ?? undefined,
      authHash: row.auth_hash ?? undefined,
      keySystemIdentifier: row.key_system_identifier ?? undefined,
      vaultUuid: row.shared_vault_uuid ?? undefined,
      editedBy: row.last_edited_by_uuid ?? undefined,
    }));
}
