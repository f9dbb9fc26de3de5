/** The items of a vault, their moves and their history. */
import { keys, sharedRead, tell, timer } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { item } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { itemHere, oneItemPlan } from '../../collection/locations.ts';
import {
  remainingRevisionsPlan,
  removeRemainingRevisions,
} from '../../collection/revisions/deleted-elsewhere.ts';
import { revision } from '../../collection/revisions/table.ts';
import { formerCollectionsPlan, tellFormerCollections } from '../../collection/revisions/tell-elsewhere.ts';
import { revisionTimers } from '../../collection/revisions/timers.ts';
import { revisionUsageSlice } from '../../collection/revisions/usage.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { outgoingTransferMap } from '../../collection/transfer.ts';
import { vaultPart } from '../hooks.ts';
import { memberKey } from '../member-list.ts';
import { statusSlice } from '../state.ts';
import { successorOfOwner } from '../successors.ts';
import { memberTable } from '../tables.ts';
import { VaultItems } from './contract.ts';
import { handItemsOnSoon, handItemsOnTimer } from './hand-on.ts';
import { finalizeTransferOut, finalizeTransferOutPlan } from './notify.ts';
import { returnToOwnersJob } from './return-to-owners.ts';
import { deleteRevision, getRevision, listRevisions } from './revisions.ts';
import { applyItemTransfer, finalizeItemTransfer, saveItems } from './save-items.ts';

const { finalizeOverdueTransfer } = VaultItems.timers;

/** One item of the vault for the member who owns it. The user has to be a member at the moment of the read. */
const getItem = sharedRead(VaultItems.commands.getItem, {
  reads: (view, { by, uuid }) => ({
    ...oneItemPlan(view, uuid),
    member: keys(memberTable, [memberKey(view, by)]),
  }),
  answer: (view, { by, uuid }, { member, ...reads }) => {
    const isMember = view.get(statusSlice) === 'open' && member.get(memberKey(view, by)) !== undefined;
    const row = isMember ? itemHere(view, uuid, reads) : undefined;
    const isOwn = row !== undefined && successorOfOwner(view, row.owner_uuid) === by;
    return { item: isOwn ? fullItem({ ...row, owner_uuid: by }, uuid) : null };
  },
});

export const vaultItems = vaultPart(VaultItems, {
  name: 'items',
  uses: [ItemSettings],
  slices: [revisionUsageSlice, outgoingTransferMap],
  tables: [item, revision],
  commands: {
    saveItems,
    applyItemTransfer,
    finalizeItemTransfer,
    getItem,
    listRevisions,
    getRevision,
    deleteRevision,
  },
  tells: {
    deletedHere: tell(VaultItems.tells.deletedHere, {
      reads: (_view, payload) => formerCollectionsPlan(payload),
      turn: (turn, payload, _sender, reads) => tellFormerCollections(turn, payload, reads),
    }),
    deletedElsewhere: tell(VaultItems.tells.deletedElsewhere, {
      reads: remainingRevisionsPlan,
      turn: (turn, payload, _sender, reads) => removeRemainingRevisions(turn, payload, reads),
    }),
  },
  timers: {
    finalizeOverdueTransfer: timer(finalizeOverdueTransfer, {
      reads: (view, { id }) => finalizeTransferOutPlan(view, id),
      turn: (turn, { id }, reads) => finalizeTransferOut({ turn, id, reads }),
    }),
    ...revisionTimers(VaultItems.timers, () => false),
    handItemsOn: handItemsOnTimer,
  },
  jobs: { returnToOwners: returnToOwnersJob },
  on: {
    ended: (turn) => turn.start(VaultItems.jobs.returnToOwners, null),
    ownerChanged: handItemsOnSoon,
    hasRemains: (view) => view.get(head).items > 0,
  },
});
