/** The tables of the domain, change by change (see `runtime/migration.ts`). */
import type { Migration } from '../../runtime/migration.ts';
import { account } from './0001-account.ts';
import { accountAddress } from './0002-account-address.ts';
import { item } from './0003-item.ts';
import { itemPart } from './0004-item-part.ts';
import { itemUuid } from './0005-item-uuid.ts';
import { itemByOrder } from './0006-item-by-order.ts';
import { itemByFront } from './0007-item-by-front.ts';
import { mail } from './0008-mail.ts';
import { mailByOrder } from './0009-mail-by-order.ts';
import { mailByUrgent } from './0010-mail-by-urgent.ts';
import { mailByOrdinary } from './0011-mail-by-ordinary.ts';
import { mailSender } from './0012-mail-sender.ts';
import { auditPage } from './0013-audit-page.ts';
import { subscriptionInvite } from './0014-subscription-invite.ts';
import { subscriptionInviteUuid } from './0015-subscription-invite-uuid.ts';
import { mailLog } from './0016-mail-log.ts';
import { mailAudit } from './0017-mail-audit.ts';
import { shareContent } from './0018-share-content.ts';
import { shareContentPart } from './0019-share-content-part.ts';
import { revision } from './0020-revision.ts';
import { revisionPart } from './0021-revision-part.ts';
import { revisionByOrder } from './0022-revision-by-order.ts';
import { itemRevisions } from './0023-item-revisions.ts';
import { itemRevisedAt } from './0024-item-revised-at.ts';
import { file } from './0025-file.ts';
import { fileUpload } from './0026-file-upload.ts';
import { fileByOrder } from './0027-file-by-order.ts';
import { fileGarbage } from './0028-file-garbage.ts';
import { sharedVault } from './0029-shared-vault.ts';
import { sharedVaultByOrder } from './0030-shared-vault-by-order.ts';
import { sharedVaultMember } from './0031-shared-vault-member.ts';
import { sharedVaultMemberByOrder } from './0032-shared-vault-member-by-order.ts';
import { sharedVaultInvite } from './0033-shared-vault-invite.ts';
import { sharedVaultInviteByOrder } from './0034-shared-vault-invite-by-order.ts';
import { inboxMessage } from './0035-inbox-message.ts';
import { inboxMessageByOrder } from './0036-inbox-message-by-order.ts';
import { inboxNotification } from './0037-inbox-notification.ts';
import { inboxNotificationByOrder } from './0038-inbox-notification-by-order.ts';
import { inboxInvite } from './0039-inbox-invite.ts';
import { inboxInviteByOrder } from './0040-inbox-invite-by-order.ts';
import { sentMessage } from './0041-sent-message.ts';
import { sentMessageByOrder } from './0042-sent-message-by-order.ts';
import { itemBorn } from './0043-item-born.ts';
import { itemHop } from './0044-item-hop.ts';
import { itemMovedTo } from './0045-item-moved-to.ts';
import { itemUniqueBorn } from './0046-item-unique-born.ts';
import { itemUniqueHop } from './0047-item-unique-hop.ts';
import { itemUuidMayMove } from './0048-item-uuid-may-move.ts';
import { fileHop } from './0049-file-hop.ts';
import { fileUploadHop } from './0050-file-upload-hop.ts';
import { fileMayMove } from './0051-file-may-move.ts';
import { calendarTodo } from './0052-calendar-todo.ts';
import { calendarTodoByOrder } from './0053-calendar-todo-by-order.ts';
import { syncCommand } from './0054-sync-command.ts';
import { syncCommandByOrder } from './0055-sync-command-by-order.ts';
import { itemGarbage } from './0056-item-garbage.ts';
import { itemPartGarbage } from './0057-item-part-garbage.ts';

export const domainMigrations: readonly Migration[] = [
  account,
  accountAddress,
  item,
  itemPart,
  itemUuid,
  itemByOrder,
  itemByFront,
  mail,
  mailByOrder,
  mailByUrgent,
  mailByOrdinary,
  mailSender,
  auditPage,
  subscriptionInvite,
  subscriptionInviteUuid,
  mailLog,
  mailAudit,
  shareContent,
  shareContentPart,
  revision,
  revisionPart,
  revisionByOrder,
  itemRevisions,
  itemRevisedAt,
  file,
  fileUpload,
  fileByOrder,
  fileGarbage,
  sharedVault,
  sharedVaultByOrder,
  sharedVaultMember,
  sharedVaultMemberByOrder,
  sharedVaultInvite,
  sharedVaultInviteByOrder,
  inboxMessage,
  inboxMessageByOrder,
  inboxNotification,
  inboxNotificationByOrder,
  inboxInvite,
  inboxInviteByOrder,
  sentMessage,
  sentMessageByOrder,
  itemBorn,
  itemHop,
  itemMovedTo,
  itemUniqueBorn,
  itemUniqueHop,
  itemUuidMayMove,
  fileHop,
  fileUploadHop,
  fileMayMove,
  calendarTodo,
  calendarTodoByOrder,
  syncCommand,
  syncCommandByOrder,
  itemGarbage,
  itemPartGarbage,
];
