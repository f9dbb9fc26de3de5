/** Compares an account: what its keys are derived from, its settings, second factors, messages and notifications. */
import type { ImportShowAccountResponse } from '../../../proto/generated/scriptorium/v1/import.ts';
import {
  keyParamsDigest,
  messageDigest,
  notificationDigest,
  valueDigest,
} from '../../../proto/import-digests.ts';
import {
  accountOf,
  keyParamsOf,
  protocolVersionOfUser,
  type ReadSettings,
  readSettings,
  reasonToSkipUser,
} from '../accounts.ts';
import type { ImportContext } from '../context.ts';
import { ImportReport } from '../report.ts';
import type { SourceNotification, SourceUser } from '../source/tables.ts';
import { type Compared, compareEntries, differ } from './compared.ts';

/** Whether an import would write an account that is not here. */
export async function isImportable(context: ImportContext, user: SourceUser): Promise<boolean> {
  const report = new ImportReport();
  if (reasonToSkipUser({ report }, user) !== undefined) return false;
  const account = await accountOf(context, user, { settings: [], locked: false });
  return (await context.target.check(account)).refused === '';
}

export async function compareAccount(
  context: ImportContext,
  compared: Compared,
  user: SourceUser,
  imported: ImportShowAccountResponse,
): Promise<void> {
  const { tables, limits } = context;
  const { uuid } = user;
  if (imported.keyParamsSha256 !== keyParamsDigest(publicKeyParams(user))) {
    differ(compared, { what: 'key params', uuid, why: 'differs' });
  }
  // The import has reported the findings of this reading already.
  const read = await readSettings({ ...context, report: new ImportReport() }, user);
  const account = await accountOf(context, user, read);
  const refused = new Set((await context.target.check(account)).refusedSettings);
  compareSettings(compared, user, read, { imported, refused });
  compareUuids(compared, 'security key', {
    here: imported.authenticators,
    there: account.authenticators.map((each) => each.uuid),
  });
  const messages = await tables.messages(uuid);
  compared.messages += compareEntries(compared, 'message', {
    here: imported.messages,
    there: messages.map((each) => ({ uuid: each.uuid, sha256: messageDigest(each) })),
  });
  const notifications = newestOfEachSubject(await tables.notifications(uuid), limits.notificationTypes);
  compared.notifications += compareEntries(compared, 'notification', {
    here: imported.notifications,
    there: notifications.map((each) => ({ uuid: each.uuid, sha256: notificationDigest(each) })),
  });
}

/** This server counts these again, or takes them over only on request. */
const ofFiles: readonly string[] = ['FILE_UPLOAD_BYTES_USED', 'FILE_UPLOAD_BYTES_LIMIT'];

function compareSettings(
  compared: Compared,
  user: SourceUser,
  { settings, unread }: ReadSettings,
  {
    imported,
    refused,
  }: { readonly imported: ImportShowAccountResponse; readonly refused: ReadonlySet<string> },
): void {
  const what = 'setting';
  const left = new Map(imported.settings.map(({ name, valueSha256 }) => [name, valueSha256]));
  for (const { name, value, uuid } of settings) {
    if (refused.has(name) || ofFiles.includes(name)) continue;
    const found = left.get(name);
    left.delete(name);
    compared.settings += 1;
    if (found === undefined) differ(compared, { what, uuid, why: 'missing' });
    else if (found !== valueDigest(value)) differ(compared, { what, uuid, why: 'differs' });
  }
  // Without its second factor an account is safe only while nobody can sign in to it.
  const isUnprotected = unread.includes('MFA_SECRET') && !left.has('MFA_SECRET');
  if (isUnprotected && imported.phase !== 'locked') {
    differ(compared, { what: 'second factor', uuid: user.uuid, why: 'missing' });
  }
  for (const name of [...unread, ...ofFiles]) left.delete(name);
  for (const name of left.keys()) {
    differ(compared, { what: `${what} ${name}`, uuid: user.uuid, why: 'surplus' });
  }
}

function compareUuids(
  compared: Compared,
  what: string,
  { here, there }: { readonly here: readonly string[]; readonly there: readonly string[] },
): void {
  const entry = (uuid: string) => ({ uuid, sha256: '' });
  compareEntries(compared, what, { here: here.map(entry), there: there.map(entry) });
}

/** This server keeps one notification of each subject. */
function newestOfEachSubject(
  notifications: readonly SourceNotification[],
  types: readonly string[],
): readonly SourceNotification[] {
  const known = notifications.filter(({ type }) => types.includes(type));
  const inOrder = known.toSorted((a, b) => a.createdAt - b.createdAt);
  return [...new Map(inOrder.map((each) => [subjectOf(each), each])).values()];
}

function subjectOf({ uuid, payload }: SourceNotification): string {
  try {
    const { type, primaryIdentifier, secondaryIdentifier } = JSON.parse(payload);
    return JSON.stringify([type, primaryIdentifier, secondaryIdentifier]);
  } catch {
    return uuid;
  }
}

/** The key parameters as any client gets them at a sign-in. */
function publicKeyParams(user: SourceUser): Record<string, string | number | undefined> {
  const params = keyParamsOf(user);
  const version = protocolVersionOfUser(user) ?? '';
  const identifier = user.email ?? '';
  const all = { pw_cost: params.pwCost, pw_nonce: params.pwNonce, pw_salt: params.pwSalt };
  const first = { pw_alg: params.pwAlg, pw_func: params.pwFunc, pw_key_size: params.pwKeySize };
  if (version === '001') {
    const { pw_cost, pw_salt } = all;
    return { email: identifier, identifier, version, pw_cost, pw_salt, ...first };
  }
  if (version === '002') {
    return { email: identifier, identifier, version, pw_cost: all.pw_cost, pw_salt: all.pw_salt };
  }
  if (version === '003') return { identifier, version, pw_cost: all.pw_cost, pw_nonce: all.pw_nonce };
  return { identifier, version, pw_nonce: all.pw_nonce };
}
