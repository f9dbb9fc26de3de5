/** The commands that write and show a collection for an import, for every kind that has one. */
import {
  type AnyPlan,
  command,
  type KeysResult,
  keys,
  type PlanResults,
  range,
  sharedRead,
  type Turn,
  type View,
} from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import { revisionsPerItemMax, revisionUuid, slotKeys } from '../collection/revisions/slots.ts';
import { type RevisionRow, revision } from '../collection/revisions/table.ts';
import {
  appendRevision,
  revisionUsageSlice,
  scheduleTrim,
  type TrimTimer,
} from '../collection/revisions/usage.ts';
import { ciphertextAsItWas } from '../collection/saved-row.ts';
import type { FileOwner } from '../files/owner.ts';
import { tellSweeper } from '../files/state.ts';
import { file, fileKey, storedFileOf } from '../files/tables.ts';
import { type ClosedFile, putFile } from '../files/uploads.ts';
import { answerOf, type Refused } from '../reply.ts';
import {
  existingPlan,
  importedItemOf,
  importedTextOf,
  missingItems,
  removeImportedItems,
  writeItems,
} from './items.ts';
import { collectionImportShapes, type ImportedRevision } from './messages.ts';
import { isWritable, notWritable } from './phase.ts';

/** What one page of a list may bring into memory. */
const pageBytes = 4 * 1_048_576;

interface ImportCollection<P extends Readonly<Record<string, AnyPlan>>> {
  readonly trim: TrimTimer;
  /** The uuid of the vault whose collection it is; null for a user's own. */
  vaultOf(view: View): string | null;
  ownerReads(view: View): P;
  owner(turn: Turn, reads: PlanResults<P>): FileOwner;
}

export function collectionImportCommands<P extends Readonly<Record<string, AnyPlan>>>({
  trim,
  vaultOf,
  ownerReads,
  owner,
}: ImportCollection<P>) {
  const whereWritable = <Ok>(view: View, work: () => Ok | Refused) =>
    answerOf(isWritable(view) ? work() : notWritable);
  return {
    importWantItems: sharedRead(collectionImportShapes.importWantItems, {
      reads: (view, { items }) =>
        existingPlan(
          view,
          items.map(({ uuid }) => uuid),
        ),
      answer: (view, { items }, { existing }) => ({ uuids: missingItems(view, items, existing) }),
    }),

    importItems: command(collectionImportShapes.importItems, {
      reads: (view, { items }) =>
        existingPlan(
          view,
          items.map(({ uuid }) => uuid),
        ),
      turn: (turn, { items }, { existing }) =>
        whereWritable(turn, () => writeItems(turn, items, vaultOf(turn), existing)),
    }),

    importRevisions: command(collectionImportShapes.importRevisions, (turn, { revisions }) =>
      whereWritable(turn, () => ({ written: writeRevisions(turn, revisions, trim) })),
    ),

    importRemoveItems: command(collectionImportShapes.importRemoveItems, {
      reads: (view, { uuids }) => existingPlan(view, uuids),
      turn: (turn, { uuids }, { existing }) =>
        whereWritable(turn, () => ({ removed: removeImportedItems(turn, uuids, existing) })),
    }),

    importListItems: sharedRead(collectionImportShapes.importListItems, {
      reads: (view, { after, limit, whole }) => ({
        page: range(item, {
          after,
          through: view.get(head).position,
          limit,
          subset: 'present',
          ...(whole ? { budgetBytes: pageBytes } : { columns: versionColumns }),
        }),
      }),
      answer: (_view, _request, { page }) => ({
        items: page.rows.map(importedItemOf),
        vaultUuids: page.rows.map((row) => row.shared_vault_uuid ?? ''),
        nextAfter: page.complete ? 0 : page.upTo,
      }),
    }),

    importListRevisions: sharedRead(collectionImportShapes.importListRevisions, {
      reads: (view, { itemUuid }) => allRevisionsPlan(view, itemUuid),
      answer: (view, { itemUuid }, { rows }) => ({ revisions: listedRevisions(view, itemUuid, rows) }),
    }),

    importFile: command(collectionImportShapes.importFile, {
      reads: (view, { remoteIdentifier }) => ({ ...ownerReads(view), ...filePlan(view, remoteIdentifier) }),
      turn: (turn, imported, reads) =>
        whereWritable(turn, () => {
          const { files, ...rest } = reads as { files: PlanResults<ReturnType<typeof filePlan>>['files'] };
          writeFile(turn, owner(turn, rest as unknown as PlanResults<P>), imported, files);
          return {};
        }),
    }),

    importShowFile: sharedRead(collectionImportShapes.importShowFile, {
      reads: (view, { remoteIdentifier }) => filePlan(view, remoteIdentifier),
      answer: (view, { remoteIdentifier }, { files }) => fileResponse(view, remoteIdentifier, files),
    }),
  };
}

/** Without ciphertext. */
const versionColumns = [
  'uuid',
  'position',
  'content_type',
  'duplicate_of',
  'deleted',
  'created_at_timestamp',
  'updated_at_timestamp',
  'key_system_identifier',
  'shared_vault_uuid',
  'owner_uuid',
  'last_edited_by_uuid',
  'revisions',
  'revised_at',
] as const;

// --- files: their parts are chunks like any others, and the next run of a sweep removes those of attempts that failed

const filePlan = (view: View, remoteIdentifier: string) => ({
  files: keys(file, [fileKey(view, remoteIdentifier)]),
});

/** Replaces an earlier file of that name. A repeat changes nothing. */
function writeFile(
  turn: Turn,
  { cleanup, quota }: FileOwner,
  imported: ClosedFile,
  files: KeysResult<typeof file>,
): void {
  const before = files.get(fileKey(turn, imported.remoteIdentifier));
  if (before?.upload_uuid === imported.uploadUuid) return;
  tellSweeper(turn);
  quota.grow(putFile(turn, cleanup, imported, before));
}

function fileResponse(view: View, remoteIdentifier: string, files: KeysResult<typeof file>) {
  const row = files.get(fileKey(view, remoteIdentifier));
  return { file: row === undefined ? null : storedFileOf(row) };
}

/*
 * --- the history of items as another server had it. A revision keeps its time and its text. The last two digits of its
 * uuid change, because they name its slot here (`actors/collection/revisions/slots.ts`). That is safe: clients ask only for uuids
 * that a list of this server has shown them.
 */

function writeRevisions(turn: Turn, revisions: readonly ImportedRevision[], trim: TrimTimer): number {
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

const allRevisionsPlan = (view: View, itemUuid: string) => ({
  rows: keys(revision, slotKeys(view.self.id, itemUuid, 0, revisionsPerItemMax)),
});

function listedRevisions(
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
