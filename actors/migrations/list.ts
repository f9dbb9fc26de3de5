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
];
