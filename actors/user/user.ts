/** The `user` kind: a list of features that share one mailbox. Each is a folder, and one line here. */
import { hooksOf, kindOfParts, type Part } from '../../runtime/part.ts';
import { account } from './account/part.ts';
import { administration } from './admin/part.ts';
import { assistantBudget } from './assistant/part.ts';
import { auditTrail } from './audit/part.ts';
import { bridges } from './bridge/part.ts';
import { userCalendar } from './calendar/part.ts';
import { codePublishing } from './code-host/part.ts';
import { User } from './contract.ts';
import { emailDelivery } from './email-delivery/part.ts';
import { factors } from './factors/part.ts';
import { files } from './files/part.ts';
import type { UserHooks } from './hooks.ts';
import { importing } from './import/part.ts';
import { inbox } from './inbox/part.ts';
import { items } from './items/part.ts';
import { mailBackups } from './mail-backup/part.ts';
import { notOfferedPart } from './not-offered/part.ts';
import { operators } from './operator.ts';
import { userPairing } from './pairing/part.ts';
import { publicShares } from './public-shares/part.ts';
import { publishedReminders } from './published-reminders/part.ts';
import { reminders } from './reminders/part.ts';
import { requests } from './requests/part.ts';
import { revisions } from './revisions/part.ts';
import { sessions } from './sessions/part.ts';
import { settings } from './settings/part.ts';
import { subscription } from './subscription/part.ts';
import { switches } from './switches/part.ts';
import { syncLane } from './sync-lane/part.ts';
import { vaults } from './vaults/part.ts';

/**
 * Hooks run in this order. The vaults come first, as their members wait for it. The audit trail comes last, as other features
 * may still write to it while the account is being deleted.
 */
const features: readonly Part<UserHooks>[] = [
  vaults,
  publicShares,
  inbox,
  importing,
  sessions,
  settings,
  subscription,
  requests,
  factors,
  bridges,
  administration,
  emailDelivery,
  notOfferedPart,
  items,
  revisions,
  switches,
  reminders,
  mailBackups,
  files,
  publishedReminders,
  userCalendar,
  assistantBudget,
  userPairing,
  codePublishing,
  syncLane,
  auditTrail,
];

const hooks = hooksOf(features);

export const userParts: readonly Part<UserHooks>[] = [account(hooks), operators(hooks), ...features];

export const user = kindOfParts(User.name, userParts);
