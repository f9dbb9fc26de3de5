/**
 * The history of items as another server had it. A revision keeps its time and its text. The last two digits of its uuid change,
 * as they name its slot here (`actors/collection/revisions/slots.ts`). That is safe, as clients only take uuids from a new list.
 */
import { type KeysResult, keys, type Turn, type View } from '../../runtime/command.ts';
import { revisionsPerItemMax, revisionUuid, slotKeys } from '../collection/revisions/slots.ts';
import { type RevisionRow, revision } from '../collection/revisions/table.ts';
import {
  appendRevision,
  revisionUsageSlice,
  scheduleTrim,
  type TrimTimer,
} from '../collection/revisions/usage.ts';
import { ciphertextAsItWas } from '../collection/saved-row.ts';
import { importedTextOf } from './items.ts';
import type { ImportedRevision } from './messages.ts';

export function writeRevisions(turn: Turn, revisions: readonly ImportedRevision[], trim: TrimTimer): number {
  let written = 0;
  for (const imported of revisions) {
    if (imported.number >= revisionsPerItemMax) continue;
    const before = turn.get(revisionUsageSlice).endOffset;
    appendRevision(turn, rowOf(turn, imported));
    if (turn.get(revisionUsageSlice).endOffset > before) written += 1;
  }
  if (written > 0) scheduleTrim(turn, trim);
  return written;
}

function rowOf(turn: Turn, imported: ImportedRevision): Omit<RevisionRow, 'end_offset' | 'kept_at'> {
  return {
    collection: turn.self.id,
    item_uuid: imported.itemUuid,
    slot: imported.number,
    uuid: revisionUuid(imported.uuid, imported.number),
    created_at: imported.createdAtMs,
    owner_uuid: imported.ownerUuid,
    content_type: imported.contentType ?? null,
    ...ciphertextAsItWas.whole(imported),
    key_system_identifier: imported.keySystemIdentifier ?? null,
    shared_vault_uuid: imported.vaultUuid ?? null,
    last_edited_by_uuid: imported.editedBy ?? null,
  };
}

export const allRevisionsPlan = (view: View, itemUuid: string) => ({
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
      ...importedTextOf(row),
      vaultUuid: row.shared_vault_uuid ?? undefined,
      editedBy: row.last_edited_by_uuid ?? undefined,
    }));
}
