/** One item of the vault for the member who owns it. The user has to be a member at the moment of the read. */
import { keys, sharedRead } from '../../../runtime/command.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { itemHere, oneItemPlan } from '../../collection/one-item.ts';
import { memberKey } from '../member-list.ts';
import { statusSlice } from '../state.ts';
import { memberTable } from '../tables.ts';
import { VaultItems } from './contract.ts';

export const getItem = sharedRead({
  ...VaultItems.commands.getItem,
  reads: (view, { by, uuid }) => ({
    ...oneItemPlan(view, uuid),
    member: keys(memberTable, [memberKey(view, by)]),
  }),
  answer: (view, { by, uuid }, { member, ...reads }) => {
    const isMember = view.get(statusSlice) === 'open' && member.get(memberKey(view, by)) !== undefined;
    const row = isMember ? itemHere(view, uuid, reads) : undefined;
    return { item: row?.owner_uuid === by ? fullItem(row, uuid) : null };
  },
});
