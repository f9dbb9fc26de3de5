/** What administrators and operators may set for a user (docs/protocol/account.md, "Administration"). */
import type { Turn, View } from '../../../runtime/command.ts';
import { isProfileId } from '../../assistant/profiles.ts';
import { refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { knownSetting, type SettingName } from '../settings/known.ts';
import { isStored, putSetting, removeSetting, settingValue } from '../settings/stored.ts';

export const flagNames = [
  'AI_ENABLED',
  'AI_REQUEST_LIMIT',
  'AI_PROFILE',
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

const unknownFlag = refuse(400, 'There is no flag of this name.');
const wrongValue = refuse(400, 'This flag cannot have this value.');

function allowsValue(name: FlagName, value: string | null): boolean {
  if (value === null) return true;
  if (name === 'AI_REQUEST_LIMIT') return positive.test(value);
  if (name === 'AI_PROFILE') return isProfileId(value);
  return knownSetting(name).values?.includes(value) ?? false;
}

export function flagsOf(view: View) {
  const flags = Object.fromEntries(flagNames.map((name) => [name, settingValue(view, name)]));
  return { flags, nextcloudAppPasswordConfigured: isStored(view, 'NEXTCLOUD_BACKUP_APP_PASSWORD') };
}

/** `given` is the name in any case. */
export function setFlag(turn: Turn, given: string, value: string | null, by: 'operator' | 'administrator') {
  const name = flagNames.find((each) => each === given.toUpperCase());
  if (name === undefined) return unknownFlag;
  if (!allowsValue(name, value)) return wrongValue;
  if (value === null) removeSetting(turn, name);
  else putSetting(turn, name, value);
  audit(turn, `flag-changed-by-${by}`);
  return { name };
}
