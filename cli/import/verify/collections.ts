/** Compares the items of one user or one vault, with their history. */
import { type ImportCollection, ImportService } from '../../../proto/generated/scriptorium/v1/import.ts';
import { itemDigest, revisionDigest } from '../../../proto/import-digests.ts';
import { forEachConcurrently, groups, type ImportContext } from '../context.ts';
import {
  itemOf,
  numbered,
  owningVaultOf,
  reasonToSkipItem,
  revisionOf,
  type VaultStates,
  versionedOf,
} from '../items.ts';
import type { SizedItemHeader, Tables } from '../source/tables.ts';
import { type Compared, differ } from './compared.ts';

const historiesConcurrencyMax = 8;

export async function compareCollection(
  context: ImportContext,
  compared: Compared,
  collection: ImportCollection,
  vaults: VaultStates,
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
  vaults: VaultStates,
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
  item: Pick<SizedItemHeader, 'vaultUuid' | 'ownerUuid'>,
  { isVault, uuid }: ImportCollection,
  vaults: VaultStates,
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
  item: Pick<SizedItemHeader, 'uuid' | 'createdAt' | 'ownerUuid'>,
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

const keysOf = (tables: Tables, { isVault, uuid }: ImportCollection): AsyncIterable<SizedItemHeader> =>
  isVault ? tables.itemsIn(uuid) : tables.itemsOf(uuid);

/** Items of the other server that this one accepts. */
async function countExpected(
  context: ImportContext,
  collection: ImportCollection,
  vaults: VaultStates,
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
  vaults: VaultStates,
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
      if (reasonToSkipItem(context, item) !== undefined) continue;
      differ(compared, { what: 'item', uuid: item.uuid, why: 'missing' });
    }
  }
}
