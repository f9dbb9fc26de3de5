/**
 * The history of an item from its time in the vault (docs/protocol/sync.md, "Revisions"). All members may read it while the item is
 * here. Once the item has left, only its owner may, and the history then names no vault.
 *
 * These are turns. A shared read could see an item after it was overwritten, and its history before.
 */
import { command, type KeysResult, keys, type View } from '../../../runtime/command.ts';
import { isForwardingTombstone, itemKey } from '../../collection/item.ts';
import {
  removeRevision as deleteFound,
  type HistoryReads,
  historyOf,
  historyPlan,
  listEntryOf,
  revisionBodyOf,
  revisionIn,
  revisionPlan,
} from '../../collection/revisions/read.ts';
import type { RevisionRow } from '../../collection/revisions/table.ts';
import { memberKey } from '../member-list.ts';
import { statusSlice } from '../state.ts';
import { successorOfOwner } from '../successors.ts';
import { memberTable } from '../tables.ts';
import { VaultItems } from './contract.ts';

interface RevisionQuery {
  readonly by: string;
  readonly itemUuid: string;
}

const memberPlan = (view: View, query: RevisionQuery) => ({
  member: keys(memberTable, [memberKey(view, query.by)]),
});
interface RevisionAccess extends Pick<HistoryReads, 'items'> {
  readonly member: KeysResult<typeof memberTable>;
}

/** How the asking user sees a revision; undefined if the user may not see the history. */
function readableBy(
  view: View,
  query: RevisionQuery,
  { items, member }: RevisionAccess,
): ((row: RevisionRow) => RevisionRow) | undefined {
  const row = items.get(itemKey(view, query.itemUuid));
  if (row === undefined || view.get(statusSlice) !== 'open') return undefined;
  if (!isForwardingTombstone(row)) return member.get(memberKey(view, query.by)) && ((each) => each);
  return successorOfOwner(view, row.owner_uuid) === query.by ? outOfVault : undefined;
}

const outOfVault = (row: RevisionRow): RevisionRow => ({
  ...row,
  shared_vault_uuid: null,
  key_system_identifier: null,
});

export const listRevisions = command(VaultItems.commands.listRevisions, {
  reads: (view, query) => ({ ...memberPlan(view, query), ...historyPlan(view.self.id, query.itemUuid) }),
  turn: (turn, query, reads) => {
    const readable = readableBy(turn, query, reads);
    if (readable === undefined) return { revisions: [] };
    const history = historyOf(turn, query.itemUuid, reads);
    return { revisions: history.map((row) => listEntryOf(readable(row), query.itemUuid)) };
  },
});

export const getRevision = command(VaultItems.commands.getRevision, {
  reads: (view, query) => ({ ...memberPlan(view, query), ...revisionPlan(view.self.id, query) }),
  turn: (turn, query, reads) => {
    const readable = readableBy(turn, query, reads);
    const row = revisionIn(reads, turn.self.id, query);
    return { revision: readable && row ? revisionBodyOf(readable(row), query.itemUuid) : null };
  },
});

export const deleteRevision = command(VaultItems.commands.deleteRevision, {
  reads: (view, query) => ({ ...memberPlan(view, query), ...revisionPlan(view.self.id, query) }),
  turn: (turn, query, reads) => {
    const row = readableBy(turn, query, reads) && revisionIn(reads, turn.self.id, query);
    if (row === undefined || successorOfOwner(turn, row.owner_uuid) !== query.by) return {};
    deleteFound(turn, reads, row);
    return {};
  },
});
