/**
 * The history of an item from its time in the vault (docs/protocol/sync.md, "Revisions"). All members may read it while the item is
 * here. Once the item has left, only its owner may, and the history then names no vault.
 */
import { command, type KeysResult, keys, sharedRead, type View } from '../../../runtime/command.ts';
import { isForwardingTombstone, item } from '../../collection/item.ts';
import {
  bareRevisionPlan,
  historyOf,
  historyPlan,
  listEntryOf,
  revisionBodyOf,
  revisionIn,
  revisionKey,
  revisionPlan,
} from '../../collection/revisions/read.ts';
import { type RevisionRow, revision } from '../../collection/revisions/table.ts';
import { memberKey } from '../member-list.ts';
import { statusSlice } from '../state.ts';
import { successorOfOwner } from '../successors.ts';
import { memberTable } from '../tables.ts';
import { VaultItems } from './contract.ts';

interface Query {
  readonly by: string;
  readonly itemUuid: string;
}

const itemKey = ({ self }: Pick<View, 'self'>, { itemUuid }: Query) => ({
  collection: self.id,
  uuid: itemUuid.toLowerCase(),
});

const accessPlan = (view: View, query: Query) => ({
  items: keys(item, [itemKey(view, query)], 0),
  member: keys(memberTable, [memberKey(view, query.by)]),
});
interface Access {
  readonly items: KeysResult<typeof item>;
  readonly member: KeysResult<typeof memberTable>;
}

/** How the asking user sees a revision; undefined if the user may not see the history. */
function readableBy(
  view: View,
  query: Query,
  { items, member }: Access,
): ((row: RevisionRow) => RevisionRow) | undefined {
  const row = items.get(itemKey(view, query));
  if (row === undefined || view.get(statusSlice) !== 'open') return undefined;
  if (!isForwardingTombstone(row)) return member.get(memberKey(view, query.by)) && ((each) => each);
  return successorOfOwner(view, row.owner_uuid) === query.by ? outOfVault : undefined;
}

const outOfVault = (row: RevisionRow): RevisionRow => ({
  ...row,
  shared_vault_uuid: null,
  key_system_identifier: null,
});

export const listRevisions = sharedRead({
  ...VaultItems.commands.listRevisions,
  reads: (view, query) => ({ ...accessPlan(view, query), rows: historyPlan(view.self.id, query.itemUuid) }),
  answer: (view, query, { rows, ...access }) => {
    const readable = readableBy(view, query, access);
    if (readable === undefined) return { revisions: [] };
    const history = historyOf(view, query.itemUuid, rows);
    return { revisions: history.map((row) => listEntryOf(readable(row), query.itemUuid)) };
  },
});

export const getRevision = sharedRead({
  ...VaultItems.commands.getRevision,
  reads: (view, query) => ({ ...accessPlan(view, query), rows: revisionPlan(view.self.id, query) }),
  answer: (view, query, { rows, ...access }) => {
    const readable = readableBy(view, query, access);
    const row = revisionIn(rows, view.self.id, query);
    return { revision: readable && row ? revisionBodyOf(readable(row), query.itemUuid) : null };
  },
});

export const deleteRevision = command({
  ...VaultItems.commands.deleteRevision,
  reads: (view, query) => ({ ...accessPlan(view, query), rows: bareRevisionPlan(view.self.id, query) }),
  turn: (turn, query, { rows, ...access }) => {
    const row = readableBy(turn, query, access) && revisionIn(rows, turn.self.id, query);
    if (row === undefined || successorOfOwner(turn, row.owner_uuid) !== query.by) return {};
    turn.remove(revision, revisionKey(turn.self.id, query));
    return {};
  },
});
