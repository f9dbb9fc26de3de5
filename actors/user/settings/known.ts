/**
 * Every setting of an account, declared once (docs/protocol/account.md, "Settings"): what clients may name, who may
 * set it, what it may hold, and whether it is a secret. A name that is not here is refused.
 */
import { parsedSwitch } from '../../../runtime/setting.ts';
import { isUsableEscrow } from '../factors/usable-escrow.ts';

export interface KnownSetting {
  /** Encrypted at rest, and never shown to a client again. */
  readonly secret?: true;
  /**
   * `user`: by the endpoint of the settings. Others have endpoints of their own, or are set only by the
   * server.
   */
  readonly setBy: 'user' | 'administrator' | 'second-factor' | 'server';
  /** The values it may hold; any text when absent. */
  readonly values?: readonly string[];
  /** The first of its two values means on. `true` and `false`, `yes` and `no`, `on` and `off`, `1` and `0` set it too. */
  readonly isSwitch?: true;
  /** Why a value may not be set, unless it may. */
  readonly refusalOf?: (value: string) => string | undefined;
  /** The value of an account that never set it. */
  readonly default?: string;
  /** How the account is signed in to, or who learns of it: not for bridges. Secrets are not either. */
  readonly protects?: true;
  /** The server does nothing by it: it keeps the value for clients. */
  readonly onlyKept?: true;
}

/** UTF-8 bytes of a value; large enough for a recovery's escrow, which is the largest. */
export const settingValueBytesMax = 64 * 1024;

const trueOrFalse = { isSwitch: true, values: ['true', 'false'] } as const;
const enabledOrDisabled = { isSwitch: true, values: ['enabled', 'disabled'] } as const;
const mutedOrNot = { isSwitch: true, values: ['muted', 'not_muted'] } as const;

const refusalOfBackupMails = (frequency: string) =>
  frequency === 'disabled'
    ? undefined
    : 'This server sends no backups by e-mail, so this setting can only be disabled.';

const refusalOfEscrow = (text: string) =>
  isUsableEscrow(text)
    ? undefined
    : 'A recovery could not use this: it has to be a JSON object with a version above 1. Please update the app.';

const byUser = { setBy: 'user' } as const;
/** Clients disagree on what these may hold, so any text is kept. */
const keptForClients = { setBy: 'user', onlyKept: true } as const;
const secretForClients = { ...keptForClients, secret: true } as const;
const byAdministrator = { setBy: 'administrator' } as const;
const byServer = { setBy: 'server' } as const;

const accountSettings = {
  MFA_SECRET: { setBy: 'second-factor', secret: true },
  RECOVERY_CODES: { setBy: 'second-factor', secret: true },
  MAGIC_LINK_ENABLED: { setBy: 'second-factor', ...trueOrFalse },
  EXTENSION_KEY: secretForClients,
  ACCOUNT_RECOVERY_ESCROW: { ...byUser, protects: true, refusalOf: refusalOfEscrow },
  LOG_SESSION_USER_AGENT: {
    ...byUser,
    ...enabledOrDisabled,
    default: 'enabled',
    protects: true,
  },
  MUTE_MARKETING_EMAILS: { ...keptForClients, ...mutedOrNot, default: 'not_muted' },
  CONFLICT_RESOLUTION_STRATEGY: { ...keptForClients, values: ['ask', 'keepBoth', 'keepLocal', 'keepRemote'] },
  SEARCH_INDEX_ENABLED: { ...keptForClients, ...trueOrFalse },
  /** To make a reminder is to ask for the mail, so it is on until the user turns it off. */
  EMAIL_REMINDERS_ENABLED: { ...byUser, ...trueOrFalse, default: 'true' },
  CALDAV_ENABLED: { ...byUser, ...trueOrFalse },
  REMINDER_DELIVERY_ENABLED: { ...byUser, ...trueOrFalse },
  LISTED_AUTHOR_SECRETS: { ...byServer, onlyKept: true },

  EMAIL_BACKUP_FREQUENCY: { ...keptForClients, refusalOf: refusalOfBackupMails },
  EMAIL_BACKUP_LAST_SENT: { ...byServer, onlyKept: true },
  DROPBOX_BACKUP_FREQUENCY: keptForClients,
  DROPBOX_BACKUP_TOKEN: secretForClients,
  ONE_DRIVE_BACKUP_FREQUENCY: keptForClients,
  ONE_DRIVE_BACKUP_TOKEN: secretForClients,
  GOOGLE_DRIVE_BACKUP_FREQUENCY: keptForClients,
  GOOGLE_DRIVE_BACKUP_TOKEN: secretForClients,
  NEXTCLOUD_BACKUP_FREQUENCY: keptForClients,
  NEXTCLOUD_BACKUP_URL: keptForClients,
  NEXTCLOUD_BACKUP_FOLDER: keptForClients,
  NEXTCLOUD_BACKUP_APP_PASSWORD: secretForClients,
  NEXTCLOUD_BACKUP_LAST_RUN: { ...byServer, onlyKept: true },

  AI_ENABLED: { ...byAdministrator, ...trueOrFalse },
  AI_REQUEST_LIMIT: byAdministrator,
  AI_PROFILE: byAdministrator,
  COLLABORATION_ENABLED: { ...byAdministrator, ...trueOrFalse },
  LIVE_SYNC_ENABLED: { ...byAdministrator, ...trueOrFalse },
  OCR_SERVER_ALLOWED: { ...byAdministrator, ...trueOrFalse, onlyKept: true },
  NEXTCLOUD_BACKUP_ALLOWED: { ...byAdministrator, ...trueOrFalse, onlyKept: true },
} as const satisfies Record<string, KnownSetting>;

/** What clients may read and set through the subscription, too. Every account has one, so they are kept like all others. */
const subscriptionSettings = {
  MUTE_SIGN_IN_EMAILS: { ...byUser, ...mutedOrNot, default: 'not_muted', protects: true },
  /** By default what the operator allows every account. */
  FILE_UPLOAD_BYTES_LIMIT: byServer,
  FILE_UPLOAD_BYTES_USED: { ...byServer, default: '0' },
} as const satisfies Record<string, KnownSetting>;

type SubscriptionSettingName = keyof typeof subscriptionSettings;
export type SettingName = keyof typeof accountSettings | SubscriptionSettingName;

const all: Readonly<Record<SettingName, KnownSetting>> = {
  ...accountSettings,
  ...subscriptionSettings,
};

export const settingNames = Object.keys(all) as readonly SettingName[];

/** Those that change what the server does. */
export const settingsActedOn: readonly string[] = Object.entries(all)
  .filter(([, { onlyKept }]) => onlyKept !== true)
  .map(([name]) => name);

export const knownSetting = (name: SettingName): KnownSetting => all[name];

/** What a bridge may not set or remove. */
export function protectsAccount(name: SettingName): boolean {
  const { setBy, secret = false, protects = false } = knownSetting(name);
  return secret || protects || setBy !== 'user';
}

/** The value as it is stored, or why it may not be set. */
export function checkedValue(
  name: SettingName,
  given: string,
): { readonly value: string } | { readonly why: string } {
  const { values, isSwitch = false, refusalOf } = knownSetting(name);
  const value = isSwitch ? switchedTo(values, given) : given;
  if (values?.includes(value) === false) return { why: `The value has to be one of ${values.join(', ')}.` };
  const why = refusalOf?.(value);
  return why === undefined ? { value } : { why };
}

/** Whether an import may not bring it. A null is as good as any value. */
export function isRefusedSetting(givenName: string, value: string | undefined): boolean {
  const name = settingNamed(givenName);
  if (name === undefined) return true;
  return value !== undefined && 'why' in checkedValue(name, value);
}

function switchedTo([on, off]: readonly string[] = [], given: string): string {
  const isOn = parsedSwitch(given);
  return (isOn === undefined ? undefined : isOn ? on : off) ?? given;
}

/** Names are case-insensitive. Undefined for an unknown one. */
export const settingNamed = (name: string): SettingName | undefined => nameIn(all, name);
export const subscriptionSettingNamed = (name: string): SubscriptionSettingName | undefined =>
  nameIn(subscriptionSettings, name);

function nameIn<Names extends object>(names: Names, given: string): (keyof Names & string) | undefined {
  const name = given.toUpperCase();
  return Object.hasOwn(names, name) ? (name as keyof Names & string) : undefined;
}
