/**
 * Imports an account of another server (docs/import.md):
 *
 *     begin    one commit: the account exists, with its settings and factors, and nobody can sign in; a repeat updates it
 *     items    see `actors/import/`
 *     open     the account takes the password hash that the other server made
 *     used     the first sign-in replaces that hash with one of our own (`actors/user/account/part.ts`)
 *
 * A crash between two steps leaves a closed account, and the next pass goes on with it.
 */
import type { z } from 'zod';
import { command, type Turn } from '../../../runtime/command.ts';
import { type AccountRow, accountKey, accountTable } from '../../identity/account-table.ts';
import { closedHash, isImportedHash } from '../../identity/imported-password.ts';
import { storedKeyParams } from '../../identity/key-params.ts';
import { defaultWorkspace, normaliseUsername } from '../../identity/usernames.ts';
import { isUnusable, sentKeyParamsOf } from '../../import/key-params.ts';
import type { ImportedAuthenticator, ImportedSetting } from '../../import/messages.ts';
import { type accountRefusals, UserImport } from '../../import/operator-contract.ts';
import { importSlice, notWritable } from '../../import/phase.ts';
import { Instance, instanceId } from '../../instance/contract.ts';
import { type OwnAccount, ownAccount } from '../account/own-account.ts';
import { audit } from '../audit/trail.ts';
import { authenticatorMap, authenticatorsMax } from '../factors/authenticators.ts';
import { spreadFirstBackup } from '../mail-backup/schedule.ts';
import { adminRoleSlice, profileSlice } from '../profile.ts';
import { checkedValue, isRefusedSetting, type SettingName, settingNamed } from '../settings/known.ts';
import { restoreSetting, settingMap } from '../settings/stored.ts';

type ImportedAccount = z.infer<typeof UserImport.commands.importAccount.request>;

export const importAccount = command(UserImport.commands.importAccount, {
  creates: true,
  reads: ownAccount,
  turn: (turn, imported: ImportedAccount, reads) => begin(turn, imported, reads),
});

function begin(turn: Turn, imported: ImportedAccount, reads: OwnAccount) {
  const before = turn.get(importSlice);
  const refused = refusalOf(turn, imported);
  if (refused !== undefined) return { refused };
  const fresh = before.phase === 'none';
  writeRow(turn, imported, reads);
  turn.set(importSlice, { phase: 'closed', passwordHash: imported.passwordHash, locked: imported.locked });
  if (imported.administrator) turn.set(adminRoleSlice, { administrator: true, hasMoved: false });
  const refusedSettings = writeSettings(turn, imported.settings);
  writeAuthenticators(turn, imported.authenticators);
  if (fresh) {
    audit(turn, 'imported');
    turn.tell(Instance, instanceId).importedPasswords({ by: 1 });
  }
  return { fresh, refusedSettings };
}

function refusalOf(turn: Turn, imported: ImportedAccount): (typeof accountRefusals)[number] | undefined {
  const { state } = turn.get(profileSlice);
  const { phase } = turn.get(importSlice);
  if (phase === 'used') return 'used';
  if (state === 'deleted') return 'deleted';
  if (state === 'active' && phase === 'none') return 'native';
  if (isUnusable(imported.keyParams)) return 'key-params';
  const holder = turn.conflicting(accountTable, addressOf(imported));
  return holder !== undefined && holder.user_uuid !== turn.self.id ? 'taken' : undefined;
}

const addressOf = ({ identifier }: ImportedAccount) =>
  accountKey({ email: normaliseUsername(identifier), workspace: defaultWorkspace });

function writeRow(turn: Turn, imported: ImportedAccount, { account }: OwnAccount): void {
  const before = account.get({ user_uuid: turn.self.id });
  const address = addressOf(imported);
  const spelled = imported.identifier === address.identifier ? {} : { identifier: imported.identifier };
  const keyParams = { ...storedKeyParams(sentKeyParamsOf(imported.keyParams), {}), ...spelled };
  const row: AccountRow = {
    user_uuid: turn.self.id,
    ...address,
    password_hash: closedHash,
    // A new version, so that an account which an earlier pass has opened is checked again.
    credentials_version: (before?.credentials_version ?? 0) + 1,
    key_params: JSON.stringify(keyParams),
  };
  if (before === undefined) turn.insert(accountTable, row);
  else turn.put(accountTable, row);
  turn.set(profileSlice, {
    state: 'active',
    email: address.identifier,
    workspace: address.workspace,
    protocolVersion: keyParams.version,
    credentialsVersion: row.credentials_version,
    createdAtMs: imported.createdAtMs,
  });
}

/** Returns the names that this server does not keep. */
function writeSettings(turn: Turn, settings: readonly ImportedSetting[]): string[] {
  const refused: string[] = [];
  const storedNames = new Set<string>(['FILE_UPLOAD_BYTES_USED']);
  for (const { name: inputName, value, uuid, createdAt, updatedAt } of settings) {
    const name = settingNamed(inputName);
    if (name === undefined || isRefusedSetting(name, value)) {
      refused.push(inputName);
      continue;
    }
    storedNames.add(name);
    const times = { createdAtMicros: createdAt, updatedAtMicros: updatedAt };
    restoreSetting(turn, name, valueToStore(name, value), { uuid, ...times });
  }
  for (const name of turn.entries(settingMap).keys()) {
    if (!storedNames.has(name)) turn.removeEntry(settingMap, name);
  }
  return refused;
}

function valueToStore(name: SettingName, text: string | undefined): string | null {
  if (text === undefined) return null;
  const checked = checkedValue(name, text);
  return 'value' in checked ? checked.value : text;
}

/** Keeps their uuids, as clients keep the users' names for the keys by uuid. */
function writeAuthenticators(turn: Turn, authenticators: readonly ImportedAuthenticator[]): void {
  const imported = authenticators.slice(0, authenticatorsMax);
  const uuids = new Set(imported.map(({ uuid }) => uuid));
  for (const uuid of turn.entries(authenticatorMap).keys()) {
    if (!uuids.has(uuid)) turn.removeEntry(authenticatorMap, uuid);
  }
  for (const { uuid, ...each } of imported) {
    const publicKey = Uint8Array.from(each.publicKey);
    turn.setEntry(authenticatorMap, uuid, { uuid, ...each, publicKey, lastUsedAtMs: null });
  }
}

export const importOpen = command(UserImport.commands.importOpen, {
  reads: ownAccount,
  turn: (turn, { unlock }, { account }) => {
    const before = turn.get(importSlice);
    const row = account.get({ user_uuid: turn.self.id });
    if (before.phase === 'none' || row === undefined) return notWritable;
    const opens = before.phase === 'closed' && (unlock || !before.locked);
    if (!opens) return { ok: { opened: false } };
    // A text that is no hash never let anyone sign in, here or there.
    const isUsable = isImportedHash(before.passwordHash);
    turn.put(accountTable, { ...row, password_hash: isUsable ? before.passwordHash : closedHash });
    turn.set(importSlice, { phase: 'open', passwordHash: '', locked: false });
    spreadFirstBackup(turn);
    return { ok: { opened: true } };
  },
});

/** Call at a sign-in. After it, no import writes here. */
export function endImport(turn: Turn): void {
  if (turn.get(importSlice).phase !== 'open') return;
  turn.set(importSlice, { ...turn.get(importSlice), phase: 'used' });
  turn.tell(Instance, instanceId).importedPasswords({ by: -1 });
}
