/** The commands and tells of the `user` actor for its inbox. */
import { ItemSettings } from '../../collection/settings.ts';
import { userPart } from '../hooks.ts';
import { Inbox } from './contract.ts';
import { invited, inviteGone, listInboundInvites } from './invites.ts';
import {
  deleteMessage,
  deleteMessages,
  listMessages,
  listSentMessages,
  messageSent,
  messagesGone,
  messagesWithdrawn,
  sendMessage,
  sentSlice,
} from './messages.ts';
import { itemsRejoined, itemsRemovedTell, notified, rejoined } from './notifications.ts';
import { inboxSlice } from './positions.ts';
import { inboxPurge } from './purge.ts';
import { recentlyDeletedSlice } from './recently-deleted.ts';
import { inboundInviteTable, inboxMessageTable, notificationTable, sentMessageTable } from './tables.ts';

const commands = {
  listMessages,
  listSentMessages,
  sendMessage,
  deleteMessage,
  deleteMessages,
  listInboundInvites,
};

const tells = {
  notified,
  itemsRemoved: itemsRemovedTell,
  itemsRejoined,
  rejoined,
  invited,
  inviteGone,
  messageSent,
  messagesWithdrawn,
  messagesGone,
};

export const inbox = userPart(Inbox, {
  name: 'inbox',
  uses: [ItemSettings],
  slices: [inboxSlice, recentlyDeletedSlice, sentSlice],
  tables: [inboxMessageTable, notificationTable, inboundInviteTable, sentMessageTable],
  commands,
  tells,
  on: { purgeFirst: inboxPurge },
});
