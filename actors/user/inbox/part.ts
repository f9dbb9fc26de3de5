/** The commands and tells of the `user` actor for its inbox. */
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
} from './messages.ts';
import { itemsRejoined, itemsRemovedTell, notified, rejoined } from './notifications.ts';

export const inboxCommands = {
  listMessages,
  listSentMessages,
  sendMessage,
  deleteMessage,
  deleteMessages,
  listInboundInvites,
};

export const inboxTells = {
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
