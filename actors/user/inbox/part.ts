/** The inbox of an account (docs/protocol/inbox.md). */
import { range } from '../../../runtime/command.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { Vault } from '../../vault/contract.ts';
import { purging, userPart } from '../hooks.ts';
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
  removeReceived,
  sendMessage,
  sentSlice,
  withdraw,
} from './messages.ts';
import { itemsRejoined, itemsRemovedTell, notified, rejoined } from './notifications.ts';
import { inboxSlice } from './positions.ts';
import { recentlyDeletedSlice } from './recently-deleted.ts';
import { inboundInviteTable, inboxMessageTable, notificationTable, sentMessageTable } from './tables.ts';

/** Each may cost a tell. */
const messagesPerTurn = 100;
const rowsPerTurn = 500;

const inboxPurge = purging({
  reads: (view) => {
    const { messages, notifications, invites } = view.get(inboxSlice);
    return {
      messages: range(inboxMessageTable, {
        after: 0,
        through: messages,
        limit: messagesPerTurn,
        columns: ['uuid', 'sender_uuid'],
      }),
      sent: range(sentMessageTable, {
        after: 0,
        through: view.get(sentSlice).sequence,
        limit: messagesPerTurn,
        columns: ['uuid', 'recipient_uuid'],
      }),
      notifications: range(notificationTable, {
        after: 0,
        through: notifications,
        limit: rowsPerTurn,
        columns: ['subject'],
      }),
      invites: range(inboundInviteTable, {
        after: 0,
        through: invites,
        limit: rowsPerTurn,
        columns: ['vault_uuid'],
      }),
    };
  },
  turn: (turn, { messages, sent, notifications, invites }) => {
    const user_uuid = turn.self.id;
    // The vault need not wait for an answer any more.
    for (const { vault_uuid } of invites.rows) turn.tell(Vault, vault_uuid).userGone();
    removeReceived(turn, messages.rows);
    withdraw(turn, sent.rows);
    for (const { subject } of notifications.rows) turn.remove(notificationTable, { user_uuid, subject });
    for (const { vault_uuid } of invites.rows) turn.remove(inboundInviteTable, { user_uuid, vault_uuid });
    const isThrough = [messages, sent, notifications, invites].every(({ complete }) => complete);
    return { left: isThrough ? 'nothing' : 'more' };
  },
});

export const inbox = userPart(Inbox, {
  name: 'inbox',
  uses: [ItemSettings],
  slices: [inboxSlice, recentlyDeletedSlice, sentSlice],
  tables: [inboxMessageTable, notificationTable, inboundInviteTable, sentMessageTable],
  commands: {
    listMessages,
    listSentMessages,
    sendMessage,
    deleteMessage,
    deleteMessages,
    listInboundInvites,
  },
  tells: {
    notified,
    itemsRemoved: itemsRemovedTell,
    itemsRejoined,
    rejoined,
    invited,
    inviteGone,
    messageSent,
    messagesWithdrawn,
    messagesGone,
  },
  on: { purgeFirst: inboxPurge },
});
