/** The commands that write and show a collection for an import, for every kind that has one. */
import {
  type AnyPlan,
  command,
  type PlanResults,
  range,
  sharedRead,
  type Turn,
  type View,
} from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import type { TrimTimer } from '../collection/revisions/usage.ts';
import type { FileOwner } from '../files/owner.ts';
import { answerOf, type Refused } from '../reply.ts';
import { filePlan, fileResponse, writeFile } from './files.ts';
import { existingPlan, importedItemOf, missingItems, removeImportedItems, writeItems } from './items.ts';
import { collectionImportShapes } from './messages.ts';
import { isWritable, notWritable } from './phase.ts';
import { allRevisionsPlan, listedRevisions, writeRevisions } from './revisions.ts';

/** What one page of a list may bring into memory. */
const pageBytes = 4 * 1_048_576;

interface ImportCollection<P extends Readonly<Record<string, AnyPlan>>> {
  readonly trim: TrimTimer;
  /** The vault that a collection is; null: a user. */
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
    importWantItems: sharedRead({
      ...collectionImportShapes.importWantItems,
      reads: (view, { items }) =>
        existingPlan(
          view,
          items.map(({ uuid }) => uuid),
        ),
      answer: (view, { items }, { existing }) => ({ uuids: missingItems(view, items, existing) }),
    }),

    importItems: command({
      ...collectionImportShapes.importItems,
      reads: (view, { items }) =>
        existingPlan(
          view,
          items.map(({ uuid }) => uuid),
        ),
      turn: (turn, { items }, { existing }) =>
        whereWritable(turn, () => writeItems(turn, items, vaultOf(turn), existing)),
    }),

    importRevisions: command({
      ...collectionImportShapes.importRevisions,
      turn: (turn, { revisions }) =>
        whereWritable(turn, () => ({ written: writeRevisions(turn, revisions, trim) })),
    }),

    importRemoveItems: command({
      ...collectionImportShapes.importRemoveItems,
      reads: (view, { uuids }) => existingPlan(view, uuids),
      turn: (turn, { uuids }, { existing }) =>
        whereWritable(turn, () => ({ removed: removeImportedItems(turn, uuids, existing) })),
    }),

    importListItems: sharedRead({
      ...collectionImportShapes.importListItems,
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

    importListRevisions: sharedRead({
      ...collectionImportShapes.importListRevisions,
      reads: (view, { itemUuid }) => allRevisionsPlan(view, itemUuid),
      answer: (view, { itemUuid }, { rows }) => ({ revisions: listedRevisions(view, itemUuid, rows) }),
    }),

    importFile: command({
      ...collectionImportShapes.importFile,
      reads: (view, { remoteIdentifier }) => ({ ...ownerReads(view), ...filePlan(view, remoteIdentifier) }),
      turn: (turn, imported, reads) =>
        whereWritable(turn, () => {
          const { files, ...rest } = reads as { files: PlanResults<ReturnType<typeof filePlan>>['files'] };
          writeFile(turn, owner(turn, rest as unknown as PlanResults<P>), imported, files);
          return {};
        }),
    }),

    importShowFile: sharedRead({
      ...collectionImportShapes.importShowFile,
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
