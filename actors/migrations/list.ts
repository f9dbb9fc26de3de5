/** The tables of the domain, change by change (see `runtime/migration.ts`). */
import type { Migration } from '../../runtime/migration.ts';
import { account } from './0001-account.ts';
import { accountAddress } from './0002-account-address.ts';
import { item } from './0003-item.ts';
import { itemPart } from './0004-item-part.ts';
import { itemUuid } from './0005-item-uuid.ts';
import { itemByOrder } from './0006-item-by-order.ts';
import { itemByFront } from './0007-item-by-front.ts';
import { subscriptionInvite } from './0008-subscription-invite.ts';
import { subscriptionInviteUuid } from './0009-subscription-invite-uuid.ts';

export const domainMigrations: readonly Migration[] = [
  account,
  accountAddress,
  item,
  itemPart,
  itemUuid,
  itemByOrder,
  itemByFront,
  subscriptionInvite,
  subscriptionInviteUuid,
];
