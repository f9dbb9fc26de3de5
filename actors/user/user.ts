/** The `user` kind: a folder of small parts that share one mailbox. */
import { kindOf } from '../../runtime/kind.ts';
import { AssistantPolicy } from '../assistant/policy.ts';
import { head } from '../collection/head.ts';
import { item } from '../collection/item.ts';
import { concludeTimer } from '../collection/move/conclude-timer.ts';
import { departureMap } from '../collection/move/departures.ts';
import { ledgerSlice } from '../collection/revisions/ledger.ts';
import { revision } from '../collection/revisions/table.ts';
import { ItemSettings } from '../collection/settings.ts';
import { filesSlice } from '../files/ledger.ts';
import { fileArrivalMap, fileDepartureMap } from '../files/move.ts';
import { FileSettings } from '../files/settings.ts';
import { spentMap } from '../files/spent.ts';
import { FileStore } from '../files/store.ts';
import { file, fileGarbage } from '../files/tables.ts';
import { uploadMap } from '../files/uploads.ts';
import { accountTable } from '../identity/account-table.ts';
import { BridgeTokens } from '../identity/bridge-tokens.ts';
import { CalendarTokenHasher, CalendarTokens, ProvenTokens } from '../identity/calendar-tokens.ts';
import { CaptchaVerifier } from '../identity/captcha.ts';
import { PasswordHasher } from '../identity/password-hasher.ts';
import { SessionTokens } from '../identity/session-tokens.ts';
import { ShareIds } from '../identity/share-ids.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { SubscriptionTokens } from '../identity/subscription-tokens.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { ValetTokens } from '../identity/valet-tokens.ts';
import { importSlice } from '../import/standing.ts';
import { Messengers } from '../messengers/messengers.ts';
import { AccountSettings, WebAuthnSettings } from '../settings.ts';
import { VaultSettings } from '../vault/settings.ts';
import { upgradeSlice } from './account/change-credentials.ts';
import { accountCommands } from './account/commands.ts';
import { banningMap } from './account/set-ban.ts';
import { adminCommands } from './admin/commands.ts';
import { assistantCommands, assistantSlice } from './assistant/commands.ts';
import { auditCommands, signInNotedTell, trimAuditTrailTimer } from './audit/commands.ts';
import { auditPageTable } from './audit/page-table.ts';
import { auditSlice } from './audit/trail.ts';
import { banSlice } from './ban.ts';
import { bridgeTokenCommands, bridgeTokenMap } from './bridge/bridge-tokens.ts';
import { calendarFeedCommands } from './calendar/feed.ts';
import { publicationSlice } from './calendar/publication.ts';
import { giveSlotsBackTimer, wantedSlotMap } from './calendar/slots.ts';
import { todoTable } from './calendar/todo-table.ts';
import { todoCommands } from './calendar/todos.ts';
import { calendarTokenCommands, calendarTokenMap } from './calendar/tokens.ts';
import { codeHostCommands, publishingSlice } from './code-host/publishing.ts';
import { User } from './contract.ts';
import { emailDeliveryCommands } from './email-delivery/commands.ts';
import { appPasswordMap } from './factors/app-passwords.ts';
import { approvalRequestedTell } from './factors/approvals.ts';
import { authenticatorMap, authenticatorOfferSlice } from './factors/authenticators.ts';
import { factorCommands } from './factors/commands.ts';
import { mailCodeTell } from './factors/emailed-codes.ts';
import { totpSlice } from './factors/totp.ts';
import { trustedDeviceMap } from './factors/trusted-devices.ts';
import { fileCommands, fileJobs, fileTells, fileTimers } from './files/commands.ts';
import { vaultBytesMap } from './files/vault-bytes.ts';
import { vaultHoldMap } from './files/vault-holds.ts';
import { importCommands } from './import/commands.ts';
import { inboxCommands, inboxTells } from './inbox/commands.ts';
import { goneSlice } from './inbox/gone.ts';
import { sentSlice } from './inbox/messages.ts';
import { inboxSlice } from './inbox/positions.ts';
import {
  inboundInviteTable,
  inboxMessageTable,
  notificationTable,
  sentMessageTable,
} from './inbox/tables.ts';
import { itemCommands } from './items/commands.ts';
import { mailOutcomeTell } from './mail-outcome.ts';
import { notOfferedCommands } from './not-offered-commands.ts';
import { operatorCommands } from './operator.ts';
import { pairingCommands, pairingTells } from './pairing/commands.ts';
import { profileSlice } from './profile.ts';
import { publicShareCommands, publicShareMap, publicShareTells } from './public-shares/public-shares.ts';
import { publishedReminderCommands } from './published-reminders/commands.ts';
import { deliver } from './published-reminders/deliver.ts';
import { deliverySlice } from './published-reminders/delivery-config.ts';
import { publishedReminderMap } from './published-reminders/published-reminder.ts';
import { watchDeliveriesTimer } from './published-reminders/watch.ts';
import { purgeTimer } from './purge.ts';
import { rankSlice } from './rank.ts';
import { reminderCommands } from './reminders/commands.ts';
import { reminderMap } from './reminders/reminder.ts';
import { sendRemindersTimer } from './reminders/send.ts';
import { exportCommands, exportSlice } from './requests/export.ts';
import { revisionCommands, userRevisionTimers } from './revisions/commands.ts';
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
import { syncCommandTable } from './sync-lane/command-table.ts';
import { syncLaneCommands } from './sync-lane/commands.ts';
import { journalSlice, trimSyncJournalTimer } from './sync-lane/journal.ts';
import { vaultCommands, vaultTells } from './vaults/commands.ts';
import { inviteMailSlice } from './vaults/mails.ts';
import { membershipMap } from './vaults/memberships.ts';

export const user = kindOf(User, {
  uses: [
    AccountSettings,
    ItemSettings,
    VaultSettings,
    SessionTokens,
    SigninKeys,
    UserSecrets,
    BridgeTokens,
    SubscriptionTokens,
    ShareIds,
    PasswordHasher,
    CaptchaVerifier,
    WebAuthnSettings,
    FileSettings,
    FileStore,
    ValetTokens,
    Messengers,
    CalendarTokens,
    CalendarTokenHasher,
    ProvenTokens,
    AssistantPolicy,
  ],
  slices: [
    profileSlice,
    upgradeSlice,
    rankSlice,
    banSlice,
    banningMap,
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
    membershipMap,
    inviteMailSlice,
    deliverySlice,
    publishedReminderMap,
    assistantSlice,
    publishingSlice,
    auditSlice,
    head,
    ledgerSlice,
    departureMap,
    inboxSlice,
    goneSlice,
    sentSlice,
    filesSlice,
    uploadMap,
    spentMap,
    vaultBytesMap,
    vaultHoldMap,
    fileDepartureMap,
    fileArrivalMap,
    calendarTokenMap,
    publicationSlice,
    wantedSlotMap,
    journalSlice,
    importSlice,
  ],
  tables: [
    accountTable,
    inviteTable,
    item,
    revision,
    file,
    fileGarbage,
    auditPageTable,
    inboxMessageTable,
    notificationTable,
    inboundInviteTable,
    sentMessageTable,
    todoTable,
    syncCommandTable,
  ],
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
    ...notOfferedCommands,
    ...itemCommands,
    ...revisionCommands,
    ...inboxCommands,
    ...fileCommands,
    ...emailDeliveryCommands,
    ...publicShareCommands,
    ...switchCommands,
    ...reminderCommands,
    ...vaultCommands,
    ...publishedReminderCommands,
    ...todoCommands,
    ...calendarTokenCommands,
    ...calendarFeedCommands,
    ...assistantCommands,
    ...pairingCommands,
    ...codeHostCommands,
    ...operatorCommands,
    ...importCommands,
    ...syncLaneCommands,
  },
  timers: {
    purge: purgeTimer,
    trimAuditTrail: trimAuditTrailTimer,
    trimSyncJournal: trimSyncJournalTimer,
    ...userRevisionTimers,
    ...fileTimers,
    concludeDeparture: concludeTimer(User.timers.concludeDeparture),
    watchSwitches: watchSwitchesTimer,
    sendReminders: sendRemindersTimer,
    watchDeliveries: watchDeliveriesTimer,
    giveSlotsBack: giveSlotsBackTimer,
  },
  jobs: { deliverReminders: deliver, ...fileJobs },
  tells: {
    approvalRequested: approvalRequestedTell,
    mailCode: mailCodeTell,
    signInNoted: signInNotedTell,
    ...subscriptionTells,
    ...publicShareTells,
    ...vaultTells,
    ...inboxTells,
    ...fileTells,
    ...pairingTells,
    mailOutcome: mailOutcomeTell,
  },
});
