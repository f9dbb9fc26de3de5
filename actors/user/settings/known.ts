/**
 * Every setting of an account, declared once (docs/protocol/account.md, "Settings"): what clients may name, who may
 * set it, what it may hold, and whether it is a secret. A name that is not here is refused.
 */

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
  /** The value of an account that never set it. */
  readonly default?: string;
  /** How the account is signed in to, or who learns of it: not for bridges. Secrets are not either. */
  readonly protects?: true;
  /** The server does nothing by it: it keeps the value for clients. */
  readonly onlyKept?: true;
}

/** UTF-8 bytes of a value; large enough for a recovery's escrow, which is the largest. */
export const settingValueBytesMax = 64 * 1024;

const frequencies = ['disabled', 'daily', 'weekly', 'monthly'];
const booleans = ['true', 'false'];
const muted = ['muted', 'not_muted'];

const byUser = { setBy: 'user' } as const;
/** Clients disagree on what these may hold, so any text is kept. */
const keptForClients = { setBy: 'user', onlyKept: true } as const;
const secretForClients = { ...keptForClients, secret: true } as const;
const byAdministrator = { setBy: 'administrator' } as const;
const byServer = { setBy: 'server' } as const;

export const accountSettingNames = {
  MFA_SECRET: { setBy: 'second-factor', secret: true },
  RECOVERY_CODES: { setBy: 'second-factor', secret: true },
  MAGIC_LINK_ENABLED: { setBy: 'second-factor', values: booleans },
  EXTENSION_KEY: secretForClients,
  ACCOUNT_RECOVERY_ESCROW: { ...byUser, protects: true },
  LOG_SESSION_USER_AGENT: {
    ...byUser,
    values: ['enabled', 'disabled'],
    default: 'enabled',
    protects: true,
  },
  MUTE_MARKETING_EMAILS: { ...keptForClients, values: muted, default: 'not_muted' },
  CONFLICT_RESOLUTION_STRATEGY: { ...keptForClients, values: ['ask', 'keepBoth', 'keepLocal', 'keepRemote'] },
  SEARCH_INDEX_ENABLED: { ...keptForClients, values: booleans },
  EMAIL_REMINDERS_ENABLED: { ...byUser, values: booleans },
  CALDAV_ENABLED: { ...byUser, values: booleans },
  REMINDER_DELIVERY_ENABLED: { ...byUser, values: booleans },
  LISTED_AUTHOR_SECRETS: { ...byServer, onlyKept: true },

  EMAIL_BACKUP_FREQUENCY: { ...keptForClients, values: frequencies },
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

  AI_ENABLED: { ...byAdministrator, values: booleans },
  AI_REQUEST_LIMIT: byAdministrator,
  AI_PROFILE: byAdministrator,
  COLLABORATION_ENABLED: { ...byAdministrator, values: booleans },
  LIVE_SYNC_ENABLED: { ...byAdministrator, values: booleans },
  OCR_SERVER_ALLOWED: { ...byAdministrator, values: booleans, onlyKept: true },
  NEXTCLOUD_BACKUP_ALLOWED: { ...byAdministrator, values: booleans, onlyKept: true },
} as const satisfies Record<string, KnownSetting>;

/** What clients read and set through the subscription. Every account has one, so they are kept like all others. */
export const subscriptionSettingNames = {
  MUTE_SIGN_IN_EMAILS: { ...byUser, values: muted, default: 'not_muted', protects: true },
  /** By default what the operator allows every account. */
  FILE_UPLOAD_BYTES_LIMIT: byServer,
  FILE_UPLOAD_BYTES_USED: { ...byServer, default: '0' },
} as const satisfies Record<string, KnownSetting>;

export type AccountSettingName = keyof typeof accountSettingNames;
export type SubscriptionSettingName = keyof typeof subscriptionSettingNames;
export type SettingName = AccountSettingName | SubscriptionSettingName;

const all: Readonly<Record<SettingName, KnownSetting>> = {
  ...accountSettingNames,
  ...subscriptionSettingNames,
};

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

/** Names are case-insensitive. Undefined for an unknown one. */
export const accountSettingNamed = (name: string): AccountSettingName | undefined =>
  nameIn(accountSettingNames, name);
export const subscriptionSettingNamed = (name: string): SubscriptionSettingName | undefined =>
  nameIn(subscriptionSettingNames, name);

function nameIn<Names extends object>(names: Names, given: string): (keyof Names & string) | undefined {
  const name = given.toUpperCase();
  return Object.hasOwn(names, name) ? (name as keyof Names & string) : undefined;
}
