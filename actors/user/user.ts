/** The `user` kind: a folder of small parts that share one mailbox. */
import { kindOf } from '../../runtime/kind.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import { ledgerSlice } from '../collection/revisions/ledger.ts';
import { revision } from '../collection/revisions/table.ts';
import { accountTable } from '../identity/account-table.ts';
import { BridgeTokens } from '../identity/bridge-tokens.ts';
import { CaptchaVerifier } from '../identity/captcha.ts';
import { PasswordHasher } from '../identity/password-hasher.ts';
import { SessionTokens } from '../identity/session-tokens.ts';
import { ShareIds } from '../identity/share-ids.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { SubscriptionTokens } from '../identity/subscription-tokens.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { AccountSettings, ItemSettings, WebAuthnSettings } from '../settings.ts';
import { accountCommands } from './account/commands.ts';
import { banningSlice } from './account/set-ban.ts';
import { adminCommands } from './admin/commands.ts';
import { auditCommands, signInNotedTell, trimAuditTrailTimer } from './audit/commands.ts';
import { auditPageTable } from './audit/page-table.ts';
import { auditSlice } from './audit/trail.ts';
import { banSlice } from './ban.ts';
import { bridgeTokenCommands, bridgeTokenMap } from './bridge/bridge-tokens.ts';
import { User } from './contract.ts';
import { emailDeliveryCommands } from './email-delivery/commands.ts';
import { appPasswordMap } from './factors/app-passwords.ts';
import { approvalRequestedTell } from './factors/approvals.ts';
import { authenticatorMap, authenticatorOfferSlice } from './factors/authenticators.ts';
import { factorCommands } from './factors/commands.ts';
import { mailCodeTell } from './factors/emailed-codes.ts';
import { totpSlice } from './factors/totp.ts';
import { trustedDeviceMap } from './factors/trusted-devices.ts';
import { itemCommands } from './items/commands.ts';
import { mailOutcomeTell } from './mail-outcome.ts';
import { operatorCommands } from './operator.ts';
import { profileSlice } from './profile.ts';
import { publicShareCommands, publicShareMap, publicShareTells } from './public-shares/public-shares.ts';
import { purgeTimer } from './purge.ts';
import { rankSlice } from './rank.ts';
import { reminderCommands } from './reminders/commands.ts';
import { reminderMap } from './reminders/reminder.ts';
import { sendRemindersTimer } from './reminders/send.ts';
import { exportCommands, exportSlice } from './requests/export.ts';
import { revisionCommands, revisionTimers } from './revisions/commands.ts';
import { sessionCommands } from './sessions/commands.ts';
import { revokedSessionMap, sessionMap } from './sessions/session.ts';
import { settingCommands } from './settings/commands.ts';
import { settingMap } from './settings/stored.ts';
import { subscriptionCommands, subscriptionTells } from './subscription/commands.ts';
import { inviteTable } from './subscription/invite-table.ts';
import { inviteMap } from './subscription/invites.ts';
import { premiumSlice } from './subscription/own-subscription.ts';
import { shareMap } from './subscription/shares.ts';
import { switchCommands } from './switches/commands.ts';
import { switchMap } from './switches/switch.ts';
import { watchSwitchesTimer } from './switches/watch.ts';

export const user = kindOf(User, {
  uses: [
    AccountSettings,
    ItemSettings,
    SessionTokens,
    SigninKeys,
    UserSecrets,
    BridgeTokens,
    SubscriptionTokens,
    ShareIds,
    PasswordHasher,
    CaptchaVerifier,
    WebAuthnSettings,
  ],
  slices: [
    profileSlice,
    rankSlice,
    banSlice,
    banningSlice,
    sessionMap,
    revokedSessionMap,
    settingMap,
    totpSlice,
    appPasswordMap,
    authenticatorMap,
    authenticatorOfferSlice,
    trustedDeviceMap,
    bridgeTokenMap,
    premiumSlice,
    inviteMap,
    shareMap,
    publicShareMap,
    exportSlice,
    switchMap,
    reminderMap,
    auditSlice,
    head,
    ledgerSlice,
  ],
  tables: [accountTable, inviteTable, item, revision, auditPageTable],
  commands: {
    ...accountCommands,
    ...sessionCommands,
    ...settingCommands,
    ...subscriptionCommands,
    ...exportCommands,
    ...factorCommands,
    ...bridgeTokenCommands,
    ...auditCommands,
    ...adminCommands,
    ...itemCommands,
    ...revisionCommands,
    ...emailDeliveryCommands,
    ...publicShareCommands,
    ...switchCommands,
    ...reminderCommands,
    ...operatorCommands,
  },
  timers: {
    purge: purgeTimer,
    trimAuditTrail: trimAuditTrailTimer,
    ...revisionTimers,
    watchSwitches: watchSwitchesTimer,
    sendReminders: sendRemindersTimer,
  },
  tells: {
    approvalRequested: approvalRequestedTell,
    mailCode: mailCodeTell,
    signInNoted: signInNotedTell,
    ...subscriptionTells,
    ...publicShareTells,
    mailOutcome: mailOutcomeTell,
  },
});
