/** Imports accounts with their passwords, settings and second factors. */
import {
  type ImportBeginAccountRequest,
  type ImportKeyParams,
  ImportService,
  type ImportSetting,
} from '../../proto/generated/scriptorium/v1/import.ts';
import type { ImportContext } from './context.ts';
import { envelopeIn, opened, userKeyFrom } from './envelope.ts';
import { numberIn, type SourceRow, textIn } from './source/database.ts';
import type { SourceSetting, SourceUser } from './source/tables.ts';

const bcryptForm = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;
const base32Form = /^[A-Z2-7]{16,}$/;

/** This setting does not come: the server counts the bytes of the imported files itself. */
const usedBytesSetting = 'FILE_UPLOAD_BYTES_USED';

export interface ReadSettings {
  readonly settings: ImportSetting[];
  /** There is a second factor, and it cannot be read. */
  readonly locked: boolean;
  /** Names of settings that exist and cannot be read. */
  readonly unread: readonly string[];
  /** The uuids of those `settings` that come from a subscription of the user. */
  readonly ofSubscription: ReadonlySet<string>;
}

/** `in-use`: the account exists, and an import must not write to it. */
export type AccountOutcome =
  | { readonly state: 'written'; readonly fresh: boolean }
  | { readonly state: 'in-use' | 'skipped' };

export async function importSourceUser(context: ImportContext, user: SourceUser): Promise<AccountOutcome> {
  const { report, target, dryRun } = context;
  const reason = reasonToSkipUser(context, user);
  if (reason !== undefined) {
    report.skipped('users', reason, user.uuid);
    return { state: 'skipped' };
  }
  const read = await readSettings(context, user);
  const { settings, locked, ofSubscription } = read;
  const request = await accountOf(context, user, read);
  const { authenticators } = request;
  const begun = dryRun ? await target.check(request) : await target.ask(ImportService.beginAccount, request);
  if (begun.refused !== '') {
    report.skipped('users', begun.refused, user.uuid);
    return { state: ['used', 'native'].includes(begun.refused) ? 'in-use' : 'skipped' };
  }
  report.written('users', 1);
  if (locked) report.locked += 1;
  const refused = new Set(begun.refusedSettings);
  for (const { name, uuid } of settings) {
    if (refused.has(name)) report.skipped('settings', 'not-kept-here', uuid);
    else if (!ofSubscription.has(uuid)) report.written('settings', 1);
  }
  report.written('authenticators', authenticators.length);
  for (const { uuid } of authenticators) report.note('authenticators', 'of-relying-party', uuid);
  return { state: 'written', fresh: begun.fresh };
}

/** The account as it is written, and as it is compared. */
export async function accountOf(
  { tables, administrators }: ImportContext,
  user: SourceUser,
  { settings, locked }: Pick<ReadSettings, 'settings' | 'locked'>,
): Promise<ImportBeginAccountRequest> {
  return {
    userUuid: user.uuid.toLowerCase(),
    identifier: user.email ?? '',
    passwordHash: user.passwordHash,
    keyParams: keyParamsOf(user),
    createdAtMs: user.createdAtMs,
    administrator: administrators && (await tables.isAdministrator(user.uuid)),
    settings,
    authenticators: [...(await tables.authenticators(user.uuid))],
    locked,
  };
}

export function reasonToSkipUser(
  { report }: Pick<ImportContext, 'report'>,
  user: SourceUser,
): string | undefined {
  if (user.email === undefined || user.email.trim() === '') return 'no-address';
  if (protocolVersionOfUser(user) === undefined) return 'key-params';
  if (!bcryptForm.test(user.passwordHash)) report.note('users', 'password-unusable', user.uuid);
  return undefined;
}

/** Very old accounts do not name their version, and have only the fields of the first one. */
export function protocolVersionOfUser(user: SourceUser): string | undefined {
  if (user.version !== undefined) return user.version;
  const isFirst =
    textIn(user.keyParams, 'pw_func') !== undefined || textIn(user.keyParams, 'pw_alg') !== undefined;
  return isFirst ? '001' : undefined;
}

export function keyParamsOf(user: SourceUser): ImportKeyParams {
  const row = user.keyParams;
  return {
    version: protocolVersionOfUser(user) ?? '',
    pwNonce: textIn(row, 'pw_nonce'),
    pwCost: numberOrNone(row, 'pw_cost'),
    pwSalt: textIn(row, 'pw_salt'),
    pwAlg: textIn(row, 'pw_alg'),
    pwFunc: textIn(row, 'pw_func'),
    pwKeySize: numberOrNone(row, 'pw_key_size'),
    created: textIn(row, 'kp_created'),
    origination: textIn(row, 'kp_origination'),
  };
}

const numberOrNone = (row: SourceRow, column: string): number | undefined =>
  textIn(row, column) === undefined ? undefined : numberIn(row, column);

/** The newest setting of each name, decrypted. */
export async function readSettings(context: ImportContext, user: SourceUser): Promise<ReadSettings> {
  const { report, tables } = context;
  const userKey =
    user.serverKey === undefined || context.serverKey === undefined
      ? undefined
      : userKeyFrom(user.serverKey, context.serverKey);
  const own = await tables.settings(user.uuid);
  const ofUser = new Map<string, SourceSetting>();
  for (const setting of own) {
    const older = ofUser.get(setting.name);
    if (older !== undefined) report.skipped('settings', 'older', older.uuid);
    ofUser.set(setting.name, setting);
  }
  const subscribed = (await tables.subscriptionSettings(user.uuid)).filter(
    ({ name }) => name === 'MUTE_SIGN_IN_EMAILS' || (context.quotas && name === 'FILE_UPLOAD_BYTES_LIMIT'),
  );
  // A user may have several subscriptions. The last one decides, over the user's own setting too.
  const ofSubscription = new Map(subscribed.map((setting) => [setting.name, setting]));
  for (const name of ofSubscription.keys()) {
    const older = ofUser.get(name);
    if (older !== undefined) report.skipped('settings', 'older', older.uuid);
  }
  const settings: ImportSetting[] = [];
  const unread: string[] = [];
  let locked = false;
  for (const setting of new Map([...ofUser, ...ofSubscription]).values()) {
    const imported = importedValue(setting, userKey);
    const { name, uuid, createdAt, updatedAt } = setting;
    if (!('why' in imported)) {
      settings.push({ name, uuid, createdAt, updatedAt, value: imported.value });
      continue;
    }
    report.skipped('settings', imported.why, uuid);
    if (imported.why === 'not-opened-by-the-key' || imported.why === 'unreadable') unread.push(name);
    if (imported.why === 'unreadable') locked = true;
    if (name === 'MFA_SECRET' && imported.why === 'not-opened-by-the-key')
      locked ||= context.withoutKey !== 'drop';
  }
  return {
    settings,
    locked,
    unread,
    ofSubscription: new Set(subscribed.map(({ uuid }) => uuid)),
  };
}

/** The imported value, or the reason why there is none. */
function importedValue(
  setting: SourceSetting,
  userKey: Buffer | undefined,
): { readonly value: string | undefined } | { readonly why: string } {
  const { name } = setting;
  const value = plainOf(setting, userKey);
  if (value === unreadable) return { why: 'not-opened-by-the-key' };
  const isFactor = name === 'MFA_SECRET' || name === 'RECOVERY_CODES';
  if (isFactor && value === undefined) return { why: 'off' };
  if (name === usedBytesSetting) return { why: 'recounted' };
  if (name !== 'MFA_SECRET') return { value };
  const secret = totpSecretOf(value ?? '');
  return secret === undefined ? { why: 'unreadable' } : { value: secret };
}

const unreadable = Symbol('unreadable');

/** A value that is marked as encrypted but is not is taken as it is. */
function plainOf(
  { value, isEncrypted }: SourceSetting,
  key: Buffer | undefined,
): string | undefined | typeof unreadable {
  if (value === undefined || !isEncrypted) return value;
  const envelope = envelopeIn(value);
  if (envelope === undefined) return value;
  return (key && opened(envelope, key)) ?? unreadable;
}

/** Undefined if it cannot be the secret of an authenticator app. */
function totpSecretOf(text: string): string | undefined {
  const secret = text.replaceAll(/[\s=]/g, '').toUpperCase();
  return base32Form.test(secret) ? secret : undefined;
}
