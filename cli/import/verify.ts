/**
 * Compares both servers, account by account, by the digest of everything that a client gets. An account that has been signed in
 * to since is named and left out, because it has changed on its own since then.
 */

import { createHash } from 'node:crypto';
import { type ImportCollection, ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import {
  itemDigest,
  keyParamsDigest,
  messageDigest,
  notificationDigest,
  revisionDigest,
  valueDigest,
} from '../../proto/import-digests.ts';
import { keyParamsOf, readSettings, versionOf } from './accounts.ts';
import { forEachConcurrently, groups, type ImportContext } from './context.ts';
import { ownerOf } from './files/import.ts';
import type { SourceFiles } from './files/source.ts';
import { itemOf, numbered, owningVaultOf, refusalOf, revisionOf, type Vaults, versionedOf } from './items.ts';
import { ImportReport } from './report.ts';
import type { ItemKey, SourceUser, Tables } from './source/tables.ts';

const usersConcurrencyMax = 4;
const historiesConcurrencyMax = 8;
const differencesMax = 1_000;

interface Difference {
  readonly what: string;
  readonly uuid: string;
  readonly why: 'missing' | 'differs' | 'surplus';
}

export interface Compared {
  accounts: number;
  inUse: number;
  notImported: number;
  items: number;
  revisions: number;
  settings: number;
  messages: number;
  notifications: number;
  files: number;
  differenceCount: number;
  readonly differences: Difference[];
  /** For each account and vault: how many items both servers have, and one digest over all of those items. */
  readonly collections: { uuid: string; items: number; revisions: number; sha256: string; same: boolean }[];
}

export async function verifyImport(
  context: ImportContext,
  files: SourceFiles | undefined,
): Promise<Compared> {
  const compared = nothing();
  const accepted = new Map<string, { fresh: boolean }>();
  const inUse = new Set<string>();
  await forEachConcurrently(context.tables.users(), usersConcurrencyMax, async (user) => {
    const uuid = user.uuid.toLowerCase();
    const imported = await context.target.showAccount(uuid);
    if (imported === undefined) compared.notImported += 1;
    else if (imported.phase === 'used' || imported.phase === 'none') {
      compared.inUse += 1;
      inUse.add(uuid);
    } else {
      accepted.set(uuid, { fresh: false });
      compared.accounts += 1;
      await compareAccount(context, compared, user, imported);
    }
  });
  const vaults = await vaultsHere(context, accepted, inUse);
  await forEachConcurrently(accepted.keys(), usersConcurrencyMax, (uuid) =>
    compareCollection(context, compared, { isVault: false, uuid }, vaults),
  );
  for (const [uuid, state] of vaults) {
    if (state !== 'here') continue;
    await compareCollection(context, compared, { isVault: true, uuid }, vaults);
  }
  if (files !== undefined) await compareFiles(context, compared, files, { accepted, vaults });
  return compared;
}

const nothing = (): Compared => ({
  accounts: 0,
  inUse: 0,
  notImported: 0,
  items: 0,
  revisions: 0,
  settings: 0,
  messages: 0,
  notifications: 0,
  files: 0,
  differenceCount: 0,
  differences: [],
  collections: [],
});

function differ(compared: Compared, difference: Difference): void {
  compared.differenceCount += 1;
  if (compared.differences.length < differencesMax) compared.differences.push(difference);
}

type ImportedAccount = NonNullable<Awaited<ReturnType<ImportContext['target']['showAccount']>>>;

async function compareAccount(
  context: ImportContext,
  compared: Compared,
  user: SourceUser,
  imported: ImportedAccount,
): Promise<void> {
  const { uuid } = user;
  if (imported.keyParamsSha256 !== keyParamsDigest(publicKeyParams(user))) {
    differ(compared, { what: 'key params', uuid, why: 'differs' });
  }
  // The import has reported the findings of this reading already.
  const { settings } = await readSettings({ ...context, report: new ImportReport() }, user);
  const here = new Map(imported.settings.map(({ name, valueSha256 }) => [name, valueSha256]));
  for (const { name, value, uuid: settingUuid } of settings) {
    const found = here.get(name);
    if (found === undefined) continue;
    compared.settings += 1;
    if (found !== valueDigest(value))
      differ(compared, { what: 'setting', uuid: settingUuid, why: 'differs' });
  }
  const keys = new Set(imported.authenticators);
  for (const { uuid: keyUuid } of await context.tables.authenticators(uuid)) {
    if (!keys.has(keyUuid)) differ(compared, { what: 'security key', uuid: keyUuid, why: 'missing' });
  }
  const messages = await context.tables.messages(uuid);
  compared.messages += compareEntries(
    compared,
    'message',
    { here: imported.messages, there: messages },
    messageDigest,
  );
  const notifications = await context.tables.notifications(uuid);
  const known = notifications.filter((each) =>
    imported.notifications.some((found) => found.uuid === each.uuid),
  );
  compared.notifications += compareEntries(
    compared,
    'notification',
    { here: imported.notifications, there: known },
    notificationDigest,
  );
}

type ListedEntry = { readonly uuid: string; readonly sha256: string };

function compareEntries<T extends { readonly uuid: string }>(
  compared: Compared,
  what: string,
  { here, there }: { readonly here: readonly ListedEntry[]; readonly there: readonly T[] },
  digestOf: (each: T) => string,
): number {
  const found = new Map(here.map(({ uuid, sha256 }) => [uuid, sha256]));
  for (const each of there) {
    const sha256 = found.get(each.uuid);
    if (sha256 === undefined) differ(compared, { what, uuid: each.uuid, why: 'missing' });
    else if (sha256 !== digestOf(each)) differ(compared, { what, uuid: each.uuid, why: 'differs' });
  }
  return there.length;
}

/** The key parameters as any client gets them at a sign-in. */
function publicKeyParams(user: SourceUser): Record<string, string | number | undefined> {
  const params = keyParamsOf(user);
  const version = versionOf(user) ?? '';
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

/** A vault is here if its items can be listed. */
async function vaultsHere(
  { tables, target }: ImportContext,
  accepted: ReadonlyMap<string, unknown>,
  inUse: ReadonlySet<string>,
): Promise<Vaults> {
  const vaults = new Map<string, 'here' | 'not-now'>();
  for (const { uuid } of await tables.vaults()) {
    const collection = { isVault: true, uuid };
    const isHere = await target.isThere(collection);
    if (!isHere) continue;
    const members = (await tables.members(uuid)).map(({ userUuid }) => userUuid);
    const isUsed = members.some((member) => inUse.has(member));
    vaults.set(uuid, isUsed || !members.some((member) => accepted.has(member)) ? 'not-now' : 'here');
  }
  return vaults;
}

async function compareCollection(
  context: ImportContext,
  compared: Compared,
  collection: ImportCollection,
  vaults: Vaults,
): Promise<void> {
  const before = { differences: compared.differenceCount, revisions: compared.revisions };
  const there = await compareListed(context, compared, collection, vaults);
  const expected = await countExpected(context, collection, vaults);
  if (expected > there.known) {
    await nameMissing(context, compared, collection, vaults);
  }
  compared.items += there.items;
  compared.collections.push({
    uuid: collection.uuid,
    items: there.items,
    revisions: compared.revisions - before.revisions,
    sha256: there.sha256,
    same: compared.differenceCount === before.differences,
  });
}

/** Compares every item that is here with the other server. */
async function compareListed(
  context: ImportContext,
  compared: Compared,
  collection: ImportCollection,
  vaults: Vaults,
): Promise<{ readonly items: number; readonly known: number; readonly sha256: string }> {
  const { tables, target } = context;
  // A sum does not depend on the order, which differs between the servers.
  const sum = Buffer.alloc(32);
  let count = 0;
  let surplus = 0;
  for (let after = 0; ; ) {
    const query = { collection, after, pageSize: context.limits.batchItems, withDigests: true };
    const { items, nextAfter } = await target.ask(ImportService.listItems, query);
    const uuids = items.flatMap(({ version }) => version?.uuid ?? []);
    const sources = new Map(
      (await tables.items(uuids)).map((item) => [item.uuid.toLowerCase(), item] as const),
    );
    const versioned = await versionedOf(
      context,
      [...sources.values()].map((item) => ({ ...item, bytes: 0 })),
      { collection },
    );
    const versions = new Map(versioned.map(({ version }) => [version.uuid, version]));
    for (const { version, sha256 } of items) {
      const uuid = version?.uuid ?? '';
      const source = sources.get(uuid);
      const own = versions.get(uuid);
      count += 1;
      add(sum, sha256);
      if (source === undefined || own === undefined || !liesHere(source, collection, vaults)) {
        surplus += 1;
        differ(compared, { what: 'item', uuid, why: 'surplus' });
      } else if (itemDigest(itemOf(source, own, { collection })) !== sha256) {
        differ(compared, { what: 'item', uuid, why: 'differs' });
      } else if (own.revisions !== version?.revisions) {
        differ(compared, { what: 'history', uuid, why: 'differs' });
      }
    }
    await forEachConcurrently(
      versioned.filter(({ version }) => version.revisions > 0),
      historiesConcurrencyMax,
      ({ uuid, createdAt, ownerUuid }) =>
        compareHistory(context, compared, collection, { uuid, createdAt, ownerUuid }),
    );
    if (nextAfter === 0) return { items: count, known: count - surplus, sha256: sum.toString('hex') };
    after = nextAfter;
  }
}

const liesHere = (
  item: Pick<ItemKey, 'vaultUuid' | 'ownerUuid'>,
  { isVault, uuid }: ImportCollection,
  vaults: Vaults,
): boolean =>
  isVault
    ? owningVaultOf(item, vaults) === uuid
    : owningVaultOf(item, vaults) === undefined && item.ownerUuid === uuid;

function add(sum: Buffer, sha256: string): void {
  let carry = 0;
  const more = Buffer.from(sha256, 'hex');
  for (let at = sum.length - 1; at >= 0; at -= 1) {
    carry += (sum[at] ?? 0) + (more[at] ?? 0);
    sum[at] = carry & 0xff;
    carry >>= 8;
  }
}

async function compareHistory(
  { tables, target, limits }: ImportContext,
  compared: Compared,
  collection: ImportCollection,
  item: Pick<ItemKey, 'uuid' | 'createdAt' | 'ownerUuid'>,
): Promise<void> {
  const keys = await tables.revisionKeys([item.uuid]);
  const createdAtMs = Math.floor(item.createdAt / 1_000);
  const { newest } = numbered(keys, () => createdAtMs, limits.revisionsPerItemMax);
  const itemUuid = item.uuid.toLowerCase();
  const here = (await target.ask(ImportService.listRevisions, { collection, itemUuid })).revisions;
  const byUuid = new Map(newest.map((key) => [key.uuid, key]));
  const digests = new Map<number, string>();
  for await (const group of groups(newest, limits.batchItems, limits.batchBytes, ({ bytes }) => bytes)) {
    for (const revision of await tables.revisions(group.map(({ uuid }) => uuid))) {
      const key = byUuid.get(revision.uuid);
      if (key === undefined) continue;
      digests.set(key.number, revisionDigest(revisionOf(revision, key, item, collection)));
    }
  }
  compared.revisions += newest.length;
  for (const { uuid, number } of newest) {
    const found = here[number];
    if (found === undefined) differ(compared, { what: 'revision', uuid, why: 'missing' });
    else if (found.sha256 !== digests.get(number))
      differ(compared, { what: 'revision', uuid, why: 'differs' });
  }
}

const keysOf = (tables: Tables, { isVault, uuid }: ImportCollection): AsyncIterable<ItemKey> =>
  isVault ? tables.itemsIn(uuid) : tables.itemsOf(uuid);

/** Items of the other server that this one accepts. */
async function countExpected(
  context: ImportContext,
  collection: ImportCollection,
  vaults: Vaults,
): Promise<number> {
  let count = 0;
  for await (const group of groups(keysOf(context.tables, collection), context.limits.batchItems)) {
    count += group.filter((key) => liesHere(key, collection, vaults)).length;
  }
  return count;
}

async function nameMissing(
  context: ImportContext,
  compared: Compared,
  collection: ImportCollection,
  vaults: Vaults,
): Promise<void> {
  const { tables, target, limits } = context;
  for await (const group of groups(keysOf(tables, collection), limits.batchItems)) {
    const here = group.filter((key) => liesHere(key, collection, vaults));
    const versioned = await versionedOf(context, here, { collection });
    const query = { collection, items: versioned.map(({ version }) => version) };
    const absent = new Set(await target.missingItems(query));
    const missing = versioned.filter(({ version }) => absent.has(version.uuid)).map(({ uuid }) => uuid);
    for (const item of await tables.items(missing)) {
      // The import has reported why it left these out.
      if (refusalOf(context, item) !== undefined) continue;
      differ(compared, { what: 'item', uuid: item.uuid, why: 'missing' });
    }
  }
}

async function compareFiles(
  { target }: ImportContext,
  compared: Compared,
  files: SourceFiles,
  owners: { readonly accepted: ReadonlyMap<string, { fresh: boolean }>; readonly vaults: Vaults },
): Promise<void> {
  await forEachConcurrently(files.list(), 2, async (file) => {
    const owner = ownerOf(file, owners, owners.vaults);
    if (owner === undefined || file.bytes === 0) return;
    compared.files += 1;
    const hash = createHash('sha256');
    for await (const piece of await files.read(file)) hash.update(piece);
    const sha256 = await target.fileDigest(owner, file.name.toLowerCase());
    if (sha256 === undefined) differ(compared, { what: 'file', uuid: file.name, why: 'missing' });
    else if (sha256 !== hash.digest('hex'))
      differ(compared, { what: 'file', uuid: file.name, why: 'differs' });
  });
}
