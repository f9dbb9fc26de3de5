/**
 * Imports the items of one user or one vault, with their history. It holds one group at a time in memory. The history of an
 * item is written before its row, and the row says how much history there is. So a pass that is killed in between finds the row
 * missing.
 */
import {
  type ImportCollection,
  type ImportItem,
  type ImportItemVersion,
  type ImportRevision,
  ImportService,
} from '../../proto/generated/scriptorium/v1/import.ts';
import { forEachConcurrently, groups, type ImportContext } from './context.ts';
import type { RevisionKey, SizedItemHeader, SourceItem, SourceRevision } from './source/tables.ts';

/** Groups in flight at once, while the next is read. */
const groupsConcurrencyMax = 3;

/** A vault is imported (`here`), left unchanged because it is in use (`not-now`), or absent (undefined). */
export type VaultStates = ReadonlyMap<string, 'here' | 'not-now'>;

export interface Where {
  readonly collection: ImportCollection;
  /** The collection is new, so there is nothing to compare with. */
  readonly fresh: boolean;
  readonly vaults: VaultStates;
}

export interface VersionedItem extends SizedItemHeader {
  readonly version: ImportItemVersion;
}

/** The vault that owns an item. Undefined if its creator's collection does, as when the vault is gone. */
export const owningVaultOf = (
  { vaultUuid }: Pick<SizedItemHeader, 'vaultUuid'>,
  vaults: VaultStates,
): string | undefined =>
  vaultUuid === undefined ? undefined : vaults.has(vaultUuid) ? vaultUuid : undefined;

export async function importItems(
  context: ImportContext,
  where: Where,
  keys: AsyncIterable<SizedItemHeader>,
): Promise<void> {
  const own = inThisCollection(context, where, keys);
  const { batchItems } = context.limits;
  await forEachConcurrently(groups(own, batchItems), groupsConcurrencyMax, async (group) => {
    const versioned = await versionedOf(context, group, where);
    const missing = await rowsToImport(context, versioned, where);
    const { batchBytes } = context.limits;
    for await (const some of groups(missing, batchItems, batchBytes, ({ bytes }) => bytes)) {
      await write(context, some, where);
    }
  });
}

/** A user's items, without those that lie in a vault: these are read with their vault. */
async function* inThisCollection(
  { report }: ImportContext,
  { collection, vaults }: Where,
  keys: AsyncIterable<SizedItemHeader>,
): AsyncGenerator<SizedItemHeader> {
  for await (const key of keys) {
    const owningVault = owningVaultOf(key, vaults);
    if (collection.isVault || owningVault === undefined) yield key;
    else if (vaults.get(owningVault) === 'not-now') report.skipped('items', 'vault-in-use', key.uuid);
  }
}

export async function versionedOf(
  { tables, limits }: Pick<ImportContext, 'tables' | 'limits'>,
  keys: readonly SizedItemHeader[],
  { collection }: Pick<Where, 'collection'>,
): Promise<readonly VersionedItem[]> {
  const living = keys.filter(({ deleted }) => !deleted).map(({ uuid }) => uuid);
  const histories = await tables.histories(living);
  return keys.map((key) => {
    const uuid = key.uuid.toLowerCase();
    const history = key.deleted ? undefined : histories.get(uuid);
    const latestMs = history && (history.latestMs ?? Math.floor(key.createdAt / 1_000));
    const version: ImportItemVersion = {
      uuid,
      updatedAt: key.updatedAt,
      deleted: key.deleted,
      ownerUuid: key.ownerUuid,
      vaultUuid: collection.isVault ? collection.uuid : '',
      revisions: Math.min(history?.count ?? 0, limits.revisionsPerItemMax),
      revisedAt: latestMs === undefined ? 0 : latestMs * 1_000,
    };
    return { ...key, version };
  });
}

async function rowsToImport(
  { target, report, dryRun }: ImportContext,
  versioned: readonly VersionedItem[],
  { collection, fresh }: Where,
): Promise<readonly VersionedItem[]> {
  if (fresh || dryRun) return versioned;
  const items = versioned.map(({ version }) => version);
  const { uuids } = await target.ask(ImportService.wantItems, { collection, items });
  const missing = new Set(uuids);
  const unchanged = versioned.filter(({ version }) => !missing.has(version.uuid));
  report.unchanged('items', unchanged.length);
  report.unchanged(
    'revisions_revisions',
    unchanged.reduce((sum, { version }) => sum + version.revisions, 0),
  );
  return versioned.filter(({ version }) => missing.has(version.uuid));
}

async function write(
  context: ImportContext,
  versioned: readonly VersionedItem[],
  where: Where,
): Promise<void> {
  const { tables, report, target, dryRun } = context;
  const versions = new Map(versioned.map(({ version }) => [version.uuid, version]));
  const items: ImportItem[] = [];
  for (const item of await tables.items(versioned.map(({ uuid }) => uuid))) {
    const version = versions.get(item.uuid.toLowerCase());
    const reason = version === undefined ? 'changing' : reasonToSkipItem(context, item);
    if (version === undefined || reason !== undefined) {
      report.skipped('items', reason ?? 'changing', item.uuid);
      continue;
    }
    noteAbout(context, item, where);
    items.push(itemOf(item, version, where));
  }
  await writeHistory(context, items, where);
  if (items.length === 0) return;
  report.bytes(items.reduce((sum, { content }) => sum + (content?.length ?? 0), 0));
  if (dryRun) {
    report.written('items', items.length);
    return;
  }
  const { written, unchanged, refused } = await target.writeItems(where.collection, items);
  report.written('items', written);
  report.unchanged('items', unchanged);
  for (const { uuid, reason } of refused) report.skipped('items', reason, uuid);
}

export function reasonToSkipItem(
  { limits }: Pick<ImportContext, 'limits'>,
  item: SourceItem,
): string | undefined {
  if (item.contentType !== undefined && !limits.contentTypes.includes(item.contentType))
    return 'content-type';
  const isTooLarge = Buffer.byteLength(item.content ?? '') > limits.contentBytesMax;
  return isTooLarge ? 'too-large' : undefined;
}

/** The longest text that MySQL keeps. A text of exactly this length was cut off. */
const cutContentBytes = 16_777_215;
const cutKeyBytes = 65_535;

function noteAbout({ report }: ImportContext, item: SourceItem, { collection }: Where): void {
  if (item.deleted && item.content !== undefined) report.note('items', 'deleted-with-content', item.uuid);
  if (!collection.isVault && item.vaultUuid !== undefined) report.note('items', 'vault-gone', item.uuid);
  const isCut =
    Buffer.byteLength(item.content ?? '') === cutContentBytes ||
    Buffer.byteLength(item.encItemKey ?? '') === cutKeyBytes;
  if (isCut) report.note('items', 'cut-off', item.uuid);
}

/** The item as it is written, and as its digest is computed. */
export function itemOf(
  item: SourceItem,
  version: ImportItemVersion,
  { collection }: Pick<Where, 'collection'>,
): ImportItem {
  const blank = { content: undefined, encItemKey: undefined, itemsKeyId: undefined, authHash: undefined };
  const { content, encItemKey, itemsKeyId, authHash } = item.deleted ? blank : item;
  return {
    uuid: version.uuid,
    content,
    encItemKey,
    itemsKeyId,
    authHash,
    contentType: item.contentType,
    duplicateOf: item.duplicateOf,
    deleted: item.deleted,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    keySystemIdentifier: item.keySystemIdentifier,
    ownerUuid: item.ownerUuid,
    lastEditedBy: collection.isVault ? (item.lastEditedBy ?? item.ownerUuid) : undefined,
    revisions: version.revisions,
    revisedAt: version.revisedAt,
  };
}

export interface NumberedRevision extends RevisionKey {
  readonly number: number;
}

/** The newest revisions of each item, in the order of their times. */
export function numbered(
  keys: readonly RevisionKey[],
  createdAtMsOf: (itemUuid: string) => number,
  max: number,
): { readonly newest: readonly NumberedRevision[]; readonly left: readonly RevisionKey[] } {
  const byItem = new Map<string, RevisionKey[]>();
  for (const key of keys) byItem.set(key.itemUuid, [...(byItem.get(key.itemUuid) ?? []), key]);
  const newest: NumberedRevision[] = [];
  const left: RevisionKey[] = [];
  for (const [itemUuid, history] of byItem) {
    const timeOf = (key: RevisionKey) => key.createdAtMs ?? createdAtMsOf(itemUuid);
    const inOrder = history.toSorted((a, b) => timeOf(a) - timeOf(b) || (a.uuid < b.uuid ? -1 : 1));
    left.push(...inOrder.slice(0, -max));
    newest.push(...inOrder.slice(-max).map((key, number) => ({ ...key, createdAtMs: timeOf(key), number })));
  }
  return { newest, left };
}

async function writeHistory(
  context: ImportContext,
  items: readonly ImportItem[],
  where: Where,
): Promise<void> {
  const { tables, report, limits } = context;
  const withHistory = items.filter(({ revisions }) => revisions > 0);
  const byUuid = new Map(withHistory.map((item) => [item.uuid, item]));
  const keys = await tables.revisionKeys(withHistory.map(({ uuid }) => uuid));
  const createdAtMsOf = (uuid: string) => Math.floor((byUuid.get(uuid)?.createdAt ?? 0) / 1_000);
  const { newest, left } = numbered(keys, createdAtMsOf, limits.revisionsPerItemMax);
  for (const { uuid } of left) report.skipped('revisions_revisions', 'more-than-an-item-has-here', uuid);
  for (const { uuid } of keys.filter(({ createdAtMs }) => createdAtMs === undefined)) {
    report.note('revisions_revisions', 'without-time', uuid);
  }
  const { batchItems, batchBytes } = limits;
  for await (const group of groups(newest, batchItems, batchBytes, ({ bytes }) => bytes)) {
    await writeRevisions(context, group, byUuid, where);
  }
}

async function writeRevisions(
  { tables, report, target, dryRun }: ImportContext,
  group: readonly NumberedRevision[],
  items: ReadonlyMap<string, ImportItem>,
  { collection }: Where,
): Promise<void> {
  const byUuid = new Map(group.map((key) => [key.uuid, key]));
  const revisions: ImportRevision[] = [];
  for (const revision of await tables.revisions(group.map(({ uuid }) => uuid))) {
    const key = byUuid.get(revision.uuid);
    const item = items.get(revision.itemUuid);
    if (key === undefined || item === undefined) continue;
    const isAnothers = revision.ownerUuid !== undefined && revision.ownerUuid !== item.ownerUuid;
    if (isAnothers && !collection.isVault)
      report.note('revisions_revisions', 'of-another-owner', revision.uuid);
    revisions.push(revisionOf(revision, key, item, collection));
  }
  if (dryRun) {
    report.written('revisions_revisions', revisions.length);
    return;
  }
  const { written } = await target.ask(ImportService.writeRevisions, { collection, revisions });
  report.written('revisions_revisions', written);
  const leftOut = revisions.length - written;
  if (leftOut > 0) report.skipped('revisions_revisions', 'no-room', revisions[0]?.itemUuid ?? '', leftOut);
}

/** The owner of the item owns its history, whatever the row says. */
export const revisionOf = (
  revision: SourceRevision,
  key: NumberedRevision,
  item: Pick<ImportItem, 'ownerUuid'>,
  collection: ImportCollection,
): ImportRevision => ({
  uuid: revision.uuid.toLowerCase(),
  itemUuid: revision.itemUuid,
  number: key.number,
  createdAtMs: key.createdAtMs ?? 0,
  ownerUuid: item.ownerUuid,
  content: revision.content,
  contentType: revision.contentType,
  encItemKey: revision.encItemKey,
  itemsKeyId: revision.itemsKeyId,
  authHash: revision.authHash,
  keySystemIdentifier: revision.keySystemIdentifier,
  vaultUuid: collection.isVault ? collection.uuid : undefined,
  editedBy: revision.editedBy,
});

/** Removes items here that the other server no longer has in this collection, because they have moved or are gone. */
export async function pruneItems(
  context: ImportContext,
  { collection, vaults }: Omit<Where, 'fresh'>,
): Promise<void> {
  const { tables, target, limits } = context;
  for (let after = 0; ; ) {
    const query = { collection, after, pageSize: limits.batchItems, withDigests: false };
    const { items, nextAfter } = await target.ask(ImportService.listItems, query);
    const uuids = items.flatMap(({ version }) => version?.uuid ?? []);
    const there = new Map((await tables.itemHeaders(uuids)).map((key) => [key.uuid.toLowerCase(), key]));
    const gone = uuids.filter((uuid) => {
      const key = there.get(uuid);
      if (key === undefined) return true;
      return collection.isVault
        ? owningVaultOf(key, vaults) !== collection.uuid
        : owningVaultOf(key, vaults) !== undefined || key.ownerUuid !== collection.uuid;
    });
    if (gone.length > 0) await target.ask(ImportService.removeItems, { collection, uuids: gone });
    if (nextAfter === 0) return;
    after = nextAfter;
  }
}
