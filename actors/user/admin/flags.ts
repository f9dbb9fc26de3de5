/** What administrators may set for a user (docs/protocol/account.md, "Administration"). */
import type { Turn, View } from '../../../runtime/command.ts';
import { audit } from '../audit/trail.ts';
import { knownSetting, type SettingName } from '../settings/known.ts';
import { isStored, putSetting, removeSetting, settingValue } from '../settings/stored.ts';

export const flagNames = [
  'AI_ENABLED',
  'AI_REQUEST_LIMIT',
  'COLLABORATION_ENABLED',
  'EMAIL_BACKUP_FREQUENCY',
  'EMAIL_REMINDERS_ENABLED',
  'LIVE_SYNC_ENABLED',
  'NEXTCLOUD_BACKUP_ALLOWED',
  'NEXTCLOUD_BACKUP_FREQUENCY',
  'OCR_SERVER_ALLOWED',
] as const satisfies readonly SettingName[];
export type FlagName = (typeof flagNames)[number];

const positive = /^[1-9]\d{0,8}$/;

export function allowsFlagValue(name: FlagName, value: string | null): boolean {
  if (value === null) return true;
  if (name === 'AI_REQUEST_LIMIT') return positive.test(value);
  return knownSetting(name).values?.includes(value) ?? false;
}

export function flagsOf(view: View) {
  const flags = Object.fromEntries(flagNames.map((name) => [name, settingValue(view, name)]));
  return { flags, nextcloudAppPasswordConfigured: isStored(view, 'NEXTCLOUD_BACKUP_APP_PASSWORD') };
}

export function setFlag(turn: Turn, name: FlagName, value: string | null): void {
  if (value === null) removeSetting(turn, name);
  else putSetting(turn, name, value);
  audit(turn, 'flag-changed-by-administrator');
}
