/** The settings of an account (docs/protocol/account.md, "Settings"). */
import type { z } from 'zod';
import { choiceCommand, type Turn } from '../../../runtime/command.ts';
import { FileSettings } from '../../files/settings.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { noMailConfigured } from '../../mailer/outgoing.ts';
import { type Refused, refuse } from '../../reply.ts';
import { ownAccount, ownRow } from '../account/own-account.ts';
import { returnAttempts, serverPasswordIs } from '../account/password-guard.ts';
import { audit, type EventOrigin } from '../audit/trail.ts';
import { disableTotp, enableTotp } from '../factors/totp.ts';
import { userPart } from '../hooks.ts';
import { asksForBackups, refusalOfBackups, scheduleBackup } from '../mail-backup/schedule.ts';
import { applyGate } from '../published-reminders/watch.ts';
import { type Session, sessionMap } from '../sessions/session.ts';
import { refusalOfBridge, signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { UserSettings } from './contract.ts';
import {
  checkedValue,
  knownSetting,
  protectsAccount,
  type SettingName,
  settingNamed,
  settingNames,
  settingValueBytesMax,
  subscriptionSettingNamed,
} from './known.ts';
import {
  isStored,
  otherSettingBytes,
  putSetting,
  removeSetting,
  secretResponse,
  settingMap,
  settingResponse,
} from './stored.ts';

/** UTF-8 bytes of all values of an account, as they are in memory while it is active. */
const settingsBytesMax = 256 * 1024;

const unknownName = refuse.badRequest('There is no setting of this name.');
const notChangedHere = refuse.badRequest('This setting cannot be changed here.');
const notSet = refuse.badRequest('This setting is not set.');
const tooLarge = refuse.badRequest(`A setting holds at most ${settingValueBytesMax} bytes.`);
const tooMuch = refuse.badRequest(
  `All settings of an account hold at most ${settingsBytesMax} bytes together.`,
);

const listed = settingNames.filter((name) => knownSetting(name).secret !== true);

const listSettings = signedInRead(UserSettings.commands.listSettings, (view) => {
  const settings = listed.map((name) => settingResponse(view, name)).filter((each) => each !== undefined);
  return { success: true, settings };
});

const showSetting = signedInRead(UserSettings.commands.getSetting, (view, { name }) => {
  const known = settingNamed(name);
  if (known === undefined) return unknownName;
  // Clients take any 200 to mean that it is set, and that the second factor is on.
  if (knownSetting(known).secret === true) return isStored(view, known) ? { success: true } : notSet;
  const setting = settingResponse(view, known);
  return setting === undefined ? notSet : { success: true, setting };
});

/** Recovery codes stand in for the second factor, so reading them takes the password. */
const showRecoveryCodes = signedInWorkflow(
  UserSettings.commands.getSetting,
  async (workflow, { password }) => {
    const account = await workflow.turn({ reads: ownAccount, turn: ownRow });
    const refused = await serverPasswordIs(workflow, account, password);
    if (refused !== undefined) return refused;
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => {
        audit(turn, 'recovery-codes-shown', session);
        returnAttempts(turn, account);
        const setting = secretResponse(turn, 'RECOVERY_CODES');
        return setting === undefined ? notSet : { success: true, setting };
      },
    });
  },
);

const getSetting = choiceCommand(UserSettings.commands.getSetting, ({ name }) =>
  settingNamed(name) === 'RECOVERY_CODES' ? showRecoveryCodes : showSetting,
);

const putAccountSetting = signedInTurn(UserSettings.commands.putSetting, (turn, input, _reads, { session }) =>
  putNow(turn, input, session),
);

type PutInput = z.infer<typeof UserSettings.commands.putSetting.fields>;

function putNow(turn: Turn, { name, value, totpToken }: PutInput, session: Session) {
  const known = settingNamed(name);
  if (known === undefined) return unknownName;
  const closed = refusalOfSetting(session, known);
  if (closed !== undefined) return closed;
  if (known === 'MFA_SECRET') return turnOnTotp(turn, value, totpToken, session);
  const refused = putByUser(turn, known, value);
  if (refused !== undefined) return refused;
  if (known === 'ACCOUNT_RECOVERY_ESCROW') audit(turn, 'recovery-escrow-changed', session);
  return knownSetting(known).secret === true
    ? { success: true }
    : { success: true, setting: settingResponse(turn, known) };
}

/** Users rely on their backups, so a server that can send none does not let them ask for any. */
const askForBackups = signedInWorkflow(UserSettings.commands.putSetting, async (workflow, input) => {
  await workflow.turn({ turn: (turn) => refusalOfBackups(turn) ?? null });
  const noMail = await noMailConfigured(workflow.actors);
  if (noMail !== undefined) return noMail;
  return workflow.lastTurn({ turn: (turn, _reads, { session }) => putNow(turn, input, session) });
});

const putSettingOfAnyName = choiceCommand(UserSettings.commands.putSetting, ({ name, value }) =>
  settingNamed(name) === 'EMAIL_BACKUP_FREQUENCY' && asksForBackups(value)
    ? askForBackups
    : putAccountSetting,
);

function turnOnTotp(turn: Turn, secret: string | null, code: string | undefined, from: EventOrigin) {
  const refused = enableTotp(turn, secret, code);
  if (refused === undefined) audit(turn, 'authenticator-app-added', from);
  return refused ?? { success: true };
}

const deleteSetting = signedInWorkflow(
  UserSettings.commands.deleteSetting,
  async (workflow, { name, password }) => {
    const known = settingNamed(name);
    const account = await workflow.turn({
      reads: ownAccount,
      turn: (turn, reads, { session }) => (known && refusalOfSetting(session, known)) ?? ownRow(turn, reads),
    });
    if (known === undefined) return unknownName;
    if (known === 'MFA_SECRET') {
      const refused = await serverPasswordIs(workflow, account, password);
      if (refused !== undefined) return refused;
    }
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => {
        if (known === 'MFA_SECRET') returnAttempts(turn, account);
        return deleteNow(turn, known, session);
      },
    });
  },
);

function deleteNow(turn: Turn, name: SettingName, from: EventOrigin) {
  if (!isStored(turn, name)) return notSet;
  if (name === 'MFA_SECRET') {
    disableTotp(turn);
    audit(turn, 'authenticator-app-removed', from);
  } else if (knownSetting(name).setBy === 'user') {
    removeSetting(turn, name);
    if (name === 'REMINDER_DELIVERY_ENABLED') applyGate(turn);
    if (name === 'EMAIL_BACKUP_FREQUENCY') scheduleBackup(turn);
    if (name === 'ACCOUNT_RECOVERY_ESCROW') audit(turn, 'recovery-escrow-changed', from);
  } else return notChangedHere;
  return { success: true, settingName: name, userUuid: turn.self.id };
}

const getSubscriptionSetting = signedInRead(
  UserSettings.commands.getSubscriptionSetting,
  (view, { name }) => {
    const known = subscriptionSettingNamed(name);
    return known === undefined ? unknownName : { success: true, setting: settingResponse(view, known) };
  },
);

const putSubscriptionSetting = signedInTurn(
  UserSettings.commands.putSubscriptionSetting,
  (turn, { name, value }, _reads, { session }) => {
    const known = subscriptionSettingNamed(name);
    if (known === undefined) return unknownName;
    return (
      refusalOfSetting(session, known) ??
      putByUser(turn, known, value) ?? { success: true, setting: settingResponse(turn, known) }
    );
  },
);

const refusalOfSetting = (session: Session, name: SettingName): Refused | undefined =>
  protectsAccount(name) ? refusalOfBridge(session) : undefined;

function putByUser(turn: Turn, name: SettingName, text: string | null): Refused | undefined {
  if (knownSetting(name).setBy !== 'user') return notChangedHere;
  const checked = text === null ? { value: null } : checkedValue(name, text);
  if ('why' in checked) return refuse.badRequest(checked.why);
  const { value } = checked;
  const bytes = Buffer.byteLength(value ?? '');
  if (bytes > settingValueBytesMax) return tooLarge;
  if (bytes + otherSettingBytes(turn, name) > settingsBytesMax) return tooMuch;
  putSetting(turn, name, value);
  if (name === 'REMINDER_DELIVERY_ENABLED') applyGate(turn);
  if (name === 'EMAIL_BACKUP_FREQUENCY') scheduleBackup(turn);
  if (name === 'LOG_SESSION_USER_AGENT' && value === 'disabled') forgetUserAgents(turn);
  return undefined;
}

function forgetUserAgents(turn: Turn): void {
  for (const [uuid, session] of turn.entries(sessionMap)) {
    if (session.userAgent !== null) turn.setEntry(sessionMap, uuid, { ...session, userAgent: null });
  }
}

export const settings = userPart(UserSettings, {
  name: 'settings',
  uses: [FileSettings, UserSecrets],
  slices: [settingMap],
  commands: {
    listSettings,
    getSetting,
    putSetting: putSettingOfAnyName,
    deleteSetting,
    getSubscriptionSetting,
    putSubscriptionSetting,
  },
});
