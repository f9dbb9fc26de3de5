/**
 * Every setting of an account, declared once (docs/protocol/account.md, "Settings"): its values, who may set it, and whether it
 * is secret. Any other name is refused.
 */
import { parsedSwitch } from '../../../runtime/setting.ts';

export interface KnownSetting {
  /** Stored encrypted, and never shown to a client again. */
  readonly secret?: true;
  /** `user`: by the endpoint of the settings. The others have endpoints of their own, or only the server sets them. */
  readonly setBy: 'user' | 'administrator' | 'second-factor' | 'server';
  /** Absent: any text. */
  readonly values?: readonly string[];
  /** The first of the two values means on. `true` and `false`, `yes` and `no`, `on` and `off`, `1` and `0` set it too. */
  readonly isSwitch?: true;
  /** Why a value may not be set. Undefined: it may. */
  readonly refusalOf?: (value: string) => string | undefined;
  /** The value of an account that has never set it. */
  readonly default?: string;
  /** It decides how one signs in to the account, or who learns of it. Bridges may not set it, and no secret either. */
  readonly protects?: true;
  /** The server keeps the value for clients, and does nothing by it. */
  readonly storedOnly?: true;
}

/** UTF-8 bytes of a value. The largest is the escrow of a recovery. */
export const settingValueBytesMax = 64 * 1024;

const trueOrFalse = { isSwitch: true, values: ['true', 'false'] } as const;
const enabledOrDisabled = { isSwitch: true, values: ['enabled', 'disabled'] } as const;
const mutedOrNot = { isSwitch: true, values: ['muted', 'not_muted'] } as const;

const refusalOfEscrow = (text: string) =>
  isUsableEscrow(text)
    ? undefined
    : 'A recovery could not use this: it has to be a JSON object with a version above 1. Please update the app.';

const byUser = { setBy: 'user' } as const;
/** Clients disagree on what these may hold, so any text is kept. */
const storedForClients = { setBy: 'user', storedOnly: true } as const;
const secretForClients = { ...storedForClients, secret: true } as const;
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
  MUTE_MARKETING_EMAILS: { ...storedForClients, ...mutedOrNot, default: 'not_muted' },
  CONFLICT_RESOLUTION_STRATEGY: {
    ...storedForClients,
    values: ['ask', 'keepBoth', 'keepLocal', 'keepRemote'],
  },
  SEARCH_INDEX_ENABLED: { ...storedForClients, ...trueOrFalse },
  /** To make a reminder is to ask for a mail, so it is on until the user turns it off. */
  EMAIL_REMINDERS_ENABLED: { ...byUser, ...trueOrFalse, default: 'true' },
  CALDAV_ENABLED: { ...byUser, ...trueOrFalse },
  REMINDER_DELIVERY_ENABLED: { ...byUser, ...trueOrFalse },
  LISTED_AUTHOR_SECRETS: { ...byServer, storedOnly: true },

  EMAIL_BACKUP_FREQUENCY: { ...byUser, values: ['disabled', 'daily', 'weekly', 'monthly'] },
  EMAIL_BACKUP_LAST_SENT: byServer,
  DROPBOX_BACKUP_FREQUENCY: storedForClients,
  DROPBOX_BACKUP_TOKEN: secretForClients,
  ONE_DRIVE_BACKUP_FREQUENCY: storedForClients,
  ONE_DRIVE_BACKUP_TOKEN: secretForClients,
  GOOGLE_DRIVE_BACKUP_FREQUENCY: storedForClients,
  GOOGLE_DRIVE_BACKUP_TOKEN: secretForClients,
  NEXTCLOUD_BACKUP_FREQUENCY: storedForClients,
  NEXTCLOUD_BACKUP_URL: storedForClients,
  NEXTCLOUD_BACKUP_FOLDER: storedForClients,
  NEXTCLOUD_BACKUP_APP_PASSWORD: secretForClients,
  NEXTCLOUD_BACKUP_LAST_RUN: { ...byServer, storedOnly: true },

  AI_ENABLED: { ...byAdministrator, ...trueOrFalse },
  AI_REQUEST_LIMIT: byAdministrator,
  AI_PROFILE: byAdministrator,
  COLLABORATION_ENABLED: { ...byAdministrator, ...trueOrFalse },
  LIVE_SYNC_ENABLED: { ...byAdministrator, ...trueOrFalse },
  OCR_SERVER_ALLOWED: { ...byAdministrator, ...trueOrFalse, storedOnly: true },
  NEXTCLOUD_BACKUP_ALLOWED: { ...byAdministrator, ...trueOrFalse, storedOnly: true },
} as const satisfies Record<string, KnownSetting>;

/** Settings that clients may also read and set by way of the subscription. They are stored like the others. */
const subscriptionSettings = {
  MUTE_SIGN_IN_EMAILS: { ...byUser, ...mutedOrNot, default: 'not_muted', protects: true },
  /** The default is the operator's limit for all accounts. */
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

/** The settings that change what the server does. */
export const settingsActedOn: readonly string[] = Object.entries(all)
  .filter(([, { storedOnly }]) => storedOnly !== true)
  .map(([name]) => name);

export const knownSetting = (name: SettingName): KnownSetting => all[name];

/** A bridge may neither set nor remove these. */
export function protectsAccount(name: SettingName): boolean {
  const { setBy, secret = false, protects = false } = knownSetting(name);
  return secret || protects || setBy !== 'user';
}

/** The value to store, or why it may not be set. */
export function checkedValue(
  name: SettingName,
  text: string,
): { readonly value: string } | { readonly why: string } {
  const { values, isSwitch = false, refusalOf } = knownSetting(name);
  const value = isSwitch ? switchedTo(values, text) : text;
  if (values?.includes(value) === false) return { why: `The value has to be one of ${values.join(', ')}.` };
  const why = refusalOf?.(value);
  return why === undefined ? { value } : { why };
}

/** Whether an import may not bring this value. It may bring any known setting as null. */
export function isRefusedSetting(inputName: string, value: string | undefined): boolean {
  const name = settingNamed(inputName);
  if (name === undefined) return true;
  return value !== undefined && 'why' in checkedValue(name, value);
}

function switchedTo([on, off]: readonly string[] = [], text: string): string {
  const isOn = parsedSwitch(text);
  return (isOn === undefined ? undefined : isOn ? on : off) ?? text;
}

/** Undefined: there is no setting of this name, in upper or lower case. */
export const settingNamed = (name: string): SettingName | undefined => nameIn(all, name);
export const subscriptionSettingNamed = (name: string): SubscriptionSettingName | undefined =>
  nameIn(subscriptionSettings, name);

function nameIn<Names extends object>(names: Names, text: string): (keyof Names & string) | undefined {
  const name = text.toUpperCase();
  return Object.hasOwn(names, name) ? (name as keyof Names & string) : undefined;
}

/**
 * Whether a recovery could use what a client leaves for it (docs/protocol/account.md, "Recovery of an account"). Asked when the
 * value is stored, so that no user relies on a useless one, and again when it is looked up. Version 1 was protected by the
 * password alone, so it is never handed out without the password.
 */
export function isUsableEscrow(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    const { version } = (parsed ?? {}) as { readonly version?: unknown };
    return typeof version === 'number' && version > 1;
  } catch {
    return false;
  }
}
