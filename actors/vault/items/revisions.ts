/**
 * The history of an item from its time in the vault (docs/protocol/sync.md, "Revisions"). All members may read it while the item is
 * here. Once the item has left, only its owner may, and the history then names no vault.
 */
import { command, type KeysResult, keys, sharedRead, type View } from '../../../runtime/command.ts';
import { isForwardingTombstone, item } from '../../collection/item.ts';
import {
  given,
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

const accessPlan = (view: View, asked: Asked) => ({
  items: keys(item, [itemKey(view, asked)], 0),
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

const outOfVault = (row: RevisionRow): RevisionRow => ({
  ...row,
  shared_vault_uuid: null,
  key_system_identifier: null,
});

export const listRevisions = sharedRead({
  ...VaultItems.commands.listRevisions,
  reads: (view, asked) => ({ ...accessPlan(view, asked), rows: historyPlan(view.self.id, asked.itemUuid) }),
  answer: (view, asked, { rows, ...access }) => {
    const shown = shownTo(view, asked, access);
    if (shown === undefined) return { revisions: [] };
    const history = historyOf(view, view.self.id, asked.itemUuid, rows);
    return { revisions: history.map((row) => listed(shown(row), asked.itemUuid)) };
  },
});

export const getRevision = sharedRead({
  ...VaultItems.commands.getRevision,
  reads: (view, asked) => ({
    ...accessPlan(view, asked),
    rows: keys(revision, [ownKey(view, asked)]),
  }),
  answer: (view, asked, { rows, ...access }) => {
    const shown = shownTo(view, asked, access);
    const row = revisionIn(rows, ownKey(view, asked), asked.id);
    return { revision: shown && row ? given(shown(row), asked.itemUuid) : null };
  },
});

export const deleteRevision = command({
  ...VaultItems.commands.deleteRevision,
  reads: (view, asked) => ({
    ...accessPlan(view, asked),
    rows: keys(revision, [ownKey(view, asked)], 0),
  }),
  turn: (turn, asked, { rows, ...access }) => {
    const key = ownKey(turn, asked);
    const row = shownTo(turn, asked, access) && revisionIn(rows, key, asked.id);
    if (row !== undefined && successorOfOwner(turn, row.owner_uuid) === asked.by) turn.remove(revision, key);
    return {};
  },
});
