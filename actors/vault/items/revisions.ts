/**
 * The history of an item from its time in the vault (docs/protocol/sync.md, "Revisions"). All members may read it while the item is
 * here. Once the item has left, only its owner may, and the history then names no vault.
 *
 * These are turns. A shared read could see an item after it was overwritten, and its history before.
 */
import { command, type KeysResult, keys, type View } from '../../../runtime/command.ts';
import { isForwardingTombstone, item } from '../../collection/item.ts';
import {
  deleteRevision as deleteFound,
  given,
  type History,
  historyOf,
  historyPlan,
  listed,
  revisionIn,
  revisionKey,
} from '../../collection/revisions/read.ts';
import { type RevisionRow, revision } from '../../collection/revisions/table.ts';
import { memberKey } from '../member-list.ts';
import { statusSlice } from '../state.ts';
import { successorOfOwner } from '../successors.ts';
import { memberTable } from '../tables.ts';
import { VaultItems } from './contract.ts';

interface Asked {
  readonly by: string;
  readonly itemUuid: string;
}

const itemKey = ({ self }: Pick<View, 'self'>, { itemUuid }: Asked) => ({
  collection: self.id,
  uuid: itemUuid.toLowerCase(),
});

const accessPlan = (view: View, asked: Asked, withContent: boolean) => ({
  items: keys(item, [itemKey(view, asked)], withContent ? undefined : 0),
  member: keys(memberTable, [memberKey(view, asked.by)]),
});
interface Access {
  readonly items: KeysResult<typeof item>;
  readonly member: KeysResult<typeof memberTable>;
}

/** Prepares the revisions for the asking user; undefined if the user may not see them. */
function shownTo(
  view: View,
  asked: Asked,
  { items, member }: Access,
): ((row: RevisionRow) => RevisionRow) | undefined {
  const row = items.get(itemKey(view, asked));
  if (row === undefined || view.get(statusSlice) !== 'open') return undefined;
  if (!isForwardingTombstone(row)) return member.get(memberKey(view, asked.by)) && ((each) => each);
  return successorOfOwner(view, row.owner_uuid) === asked.by ? outOfVault : undefined;
}

const ownKey = (view: View, { itemUuid, id }: Asked & { readonly id: string }) =>
  revisionKey(view.self.id, itemUuid, id);

const historyHere = (view: View, asked: Asked, { rows, items }: HistoryReads): History => ({
  rows,
  holder: items.get(itemKey(view, asked)),
});
interface HistoryReads extends Access {
  readonly rows: KeysResult<typeof revision>;
}

const outOfVault = (row: RevisionRow): RevisionRow => ({
  ...row,
  shared_vault_uuid: null,
  key_system_identifier: null,
});

export const listRevisions = command({
  ...VaultItems.commands.listRevisions,
  reads: (view, asked) => ({
    ...accessPlan(view, asked, false),
    rows: historyPlan(view.self.id, asked.itemUuid),
  }),
  turn: (turn, asked, reads) => {
    const shown = shownTo(turn, asked, reads);
    if (shown === undefined) return { revisions: [] };
    const history = historyOf(turn, asked.itemUuid, historyHere(turn, asked, reads));
    return { revisions: history.map((row) => listed(shown(row), asked.itemUuid)) };
  },
});

export const getRevision = command({
  ...VaultItems.commands.getRevision,
  reads: (view, asked) => ({
    ...accessPlan(view, asked, true),
    rows: keys(revision, [ownKey(view, asked)]),
  }),
  turn: (turn, asked, reads) => {
    const shown = shownTo(turn, asked, reads);
    const row = revisionIn(historyHere(turn, asked, reads), ownKey(turn, asked), asked.id);
    return { revision: shown && row ? given(shown(row), asked.itemUuid) : null };
  },
});

export const deleteRevision = command({
  ...VaultItems.commands.deleteRevision,
  reads: (view, asked) => ({
    ...accessPlan(view, asked, true),
    rows: keys(revision, [ownKey(view, asked)], 0),
  }),
  turn: (turn, asked, reads) => {
    const key = ownKey(turn, asked);
    const history = historyHere(turn, asked, reads);
    const row = shownTo(turn, asked, reads) && revisionIn(history, key, asked.id);
    if (row === undefined || successorOfOwner(turn, row.owner_uuid) !== asked.by) return {};
    deleteFound(turn, history, key, row);
    return {};
  },
});
