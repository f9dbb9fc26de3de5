/** What administrators and operators may set for a user (docs/protocol/account.md, "Administration"). */
import type { Turn, View } from '../../../runtime/command.ts';
import { isProfileId } from '../../assistant/profiles.ts';
import { type Refused, refuse } from '../../reply.ts';
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

const count = /^\d{1,9}$/;

/** What this server does not do can only be turned off: an administrator would wait for it in vain. */
const notOffered: Partial<Record<FlagName, { readonly off: string; readonly why: string }>> = {
  EMAIL_BACKUP_FREQUENCY: { off: 'disabled', why: 'This server sends no backups by e-mail.' },
  NEXTCLOUD_BACKUP_ALLOWED: { off: 'false', why: 'This server makes no backups to Nextcloud.' },
  NEXTCLOUD_BACKUP_FREQUENCY: { off: 'disabled', why: 'This server makes no backups to Nextcloud.' },
  OCR_SERVER_ALLOWED: { off: 'false', why: 'This server reads no text in images.' },
};

const unknownFlag = refuse(400, 'There is no flag of this name.');
const noCount = refuse(400, 'This flag is a number of requests a day; 0 is the limit of all accounts.');
const noProfile = refuse(400, 'This flag is the id of a profile.');

function refusalOfValue(name: FlagName, value: string): Refused | undefined {
  if (name === 'AI_REQUEST_LIMIT') return count.test(value) ? undefined : noCount;
  if (name === 'AI_PROFILE') return isProfileId(value) ? undefined : noProfile;
  const lacking = notOffered[name];
  if (lacking !== undefined) return value === lacking.off ? undefined : refuse(400, notHere(lacking));
  const { values = [] } = knownSetting(name);
  return values.includes(value) ? undefined : refuse(400, `This flag is one of ${values.join(', ')}.`);
}

const notHere = ({ off, why }: { readonly off: string; readonly why: string }): string =>
  `${why} This flag can only be ${off}.`;

export function flagsOf(view: View) {
  const flags = Object.fromEntries(flagNames.map((name) => [name, settingValue(view, name)]));
  return { flags, nextcloudAppPasswordConfigured: isStored(view, 'NEXTCLOUD_BACKUP_APP_PASSWORD') };
}

/** `given` is the name in any case. */
export function setFlag(turn: Turn, given: string, value: string | null, by: 'operator' | 'administrator') {
  const name = flagNames.find((each) => each === given.toUpperCase());
  if (name === undefined) return unknownFlag;
  const refused = value === null ? undefined : refusalOfValue(name, value);
  if (refused !== undefined) return refused;
  if (value === null) removeSetting(turn, name);
  else putSetting(turn, name, value);
  audit(turn, `flag-changed-by-${by}`);
  return { name };
}
