/** The flags of a user, which administrators and operators set (docs/protocol/account.md, "Administration"). */
import type { Turn, View } from '../../../runtime/command.ts';
import { isProfileId } from '../../assistant/profiles.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { asksForBackups, refusalOfBackups, scheduleBackup } from '../mail-backup/schedule.ts';
import { checkedValue, type SettingName } from '../settings/known.ts';
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

const count = /^\d{1,9}$/;

/** This server does not have these features. An administrator who turned one on would see no effect. */
const notOffered: Partial<Record<FlagName, { readonly off: string; readonly why: string }>> = {
  NEXTCLOUD_BACKUP_ALLOWED: { off: 'false', why: 'This server makes no backups to Nextcloud.' },
  NEXTCLOUD_BACKUP_FREQUENCY: { off: 'disabled', why: 'This server makes no backups to Nextcloud.' },
  OCR_SERVER_ALLOWED: { off: 'false', why: 'This server reads no text in images.' },
};

const unknownFlag = refuse.badRequest('There is no flag of this name.');
const noCount = refuse.badRequest('This flag is a number of requests a day; 0 is the limit of all accounts.');
const noProfile = refuse.badRequest('This flag must be the id of a profile.');

/** The value as it is stored, or why the flag cannot have it. */
function checkedFlag(name: FlagName, text: string): { readonly value: string } | Refused {
  if (name === 'AI_REQUEST_LIMIT') return count.test(text) ? { value: text } : noCount;
  if (name === 'AI_PROFILE') return isProfileId(text) ? { value: text } : noProfile;
  const checked = checkedValue(name, text);
  const lacking = notOffered[name];
  if (lacking !== undefined && !('value' in checked && checked.value === lacking.off)) {
    return refuse.badRequest(notHere(lacking));
  }
  return 'why' in checked ? refuse.badRequest(checked.why) : checked;
}

const notHere = ({ off, why }: { readonly off: string; readonly why: string }): string =>
  `${why} This flag can only be ${off}.`;

export function flagsOf(view: View) {
  // Null says that the flag was never set. A default may hold all the same.
  const storedValue = (name: FlagName) => (isStored(view, name) ? settingValue(view, name) : null);
  const flags = Object.fromEntries(flagNames.map((name) => [name, storedValue(name)]));
  return { flags, nextcloudAppPasswordConfigured: isStored(view, 'NEXTCLOUD_BACKUP_APP_PASSWORD') };
}

/** `spelledName` may be in upper or lower case. */
export function setFlag(
  turn: Turn,
  spelledName: string,
  value: string | null,
  by: 'operator' | 'administrator',
) {
  const name = flagNames.find((each) => each === spelledName.toUpperCase());
  if (name === undefined) return unknownFlag;
  const checked = value === null ? { value } : checkedFlag(name, value);
  if (isRefused(checked)) return checked;
  if (name === 'EMAIL_BACKUP_FREQUENCY' && asksForBackups(checked.value)) {
    const refused = refusalOfBackups(turn);
    if (refused !== undefined) return refused;
  }
  if (checked.value === null) removeSetting(turn, name);
  else putSetting(turn, name, checked.value);
  if (name === 'EMAIL_BACKUP_FREQUENCY') scheduleBackup(turn);
  audit(turn, `flag-changed-by-${by}`);
  return { name, value: checked.value };
}
