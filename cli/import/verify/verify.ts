/**
 * Compares both servers, account by account, by the digest of everything that a client gets. What an import refuses does not
 * count as missing. An account that somebody has used since the import is counted and left out, because it has changed on its own.
 */
import { forEachConcurrently, type ImportContext } from '../context.ts';
import { deletedAmong } from '../ended-vaults.ts';
import { fileDigestOf, ownerOf } from '../files/import.ts';
import type { SourceFiles } from '../files/source.ts';
import type { VaultStates } from '../items.ts';
import type { Population } from '../vaults.ts';
import { compareAccount, isImportable } from './accounts.ts';
import { compareCollection } from './collections.ts';
import { type Compared, differ, nothingCompared } from './compared.ts';
import { compareVaults } from './vaults.ts';

const usersConcurrencyMax = 4;
const filesConcurrencyMax = 2;

export async function verifyImport(
  context: ImportContext,
  files: SourceFiles | undefined,
  /** The source has all accounts and vaults of its server, so that what is here alone is a difference. */
  { isWhole }: { readonly isWhole: boolean },
): Promise<Compared> {
  const compared = nothingCompared();
  const accounts = await compareAccounts(context, compared);
  const { here, missing, inUse } = accounts;
  // Vaults and memberships of missing accounts are missing, too.
  const vaults = await compareVaults(context, compared, {
    accepted: new Map([...here, ...missing]),
    refused: inUse,
  });
  if (isWhole) {
    for (const uuid of await deletedAmong(context, accounts.vaultsHere, vaults)) {
      differ(compared, { what: 'vault', uuid, why: 'surplus' });
    }
    await findSurplusAccounts(context, compared, accounts.known);
  }
  await forEachConcurrently(here.keys(), usersConcurrencyMax, (uuid) =>
    compareCollection(context, compared, { isVault: false, uuid }, vaults),
  );
  for (const [uuid, state] of vaults) {
    if (state !== 'here') continue;
    await compareCollection(context, compared, { isVault: true, uuid }, vaults);
  }
  if (files !== undefined) await compareFiles(context, compared, files, { accepted: here, vaults });
  return compared;
}

interface Accounts {
  readonly here: Population['accepted'];
  readonly missing: Population['accepted'];
  readonly inUse: ReadonlySet<string>;
  /** All accounts of the other server. */
  readonly known: ReadonlySet<string>;
  /** Vaults of accounts that are here. */
  readonly vaultsHere: ReadonlySet<string>;
}

async function compareAccounts(context: ImportContext, compared: Compared): Promise<Accounts> {
  const here = new Map<string, { fresh: boolean }>();
  const missing = new Map<string, { fresh: boolean }>();
  const inUse = new Set<string>();
  const known = new Set<string>();
  const vaultsHere = new Set<string>();
  await forEachConcurrently(context.tables.users(), usersConcurrencyMax, async (user) => {
    const uuid = user.uuid.toLowerCase();
    known.add(uuid);
    const imported = await context.target.showAccount(uuid);
    if (imported === undefined) {
      if (await isImportable(context, user)) {
        missing.set(uuid, { fresh: true });
        differ(compared, { what: 'account', uuid: user.uuid, why: 'missing' });
      } else compared.notImported += 1;
    } else if (imported.phase === 'used' || imported.phase === 'none') {
      compared.inUse += 1;
      inUse.add(uuid);
    } else {
      here.set(uuid, { fresh: false });
      compared.accounts += 1;
      for (const vaultUuid of imported.vaultUuids) vaultsHere.add(vaultUuid);
      await compareAccount(context, compared, user, imported);
    }
  });
  return { here, missing, inUse, known, vaultsHere };
}

/** Compares files by their hashes. */
async function compareFiles(
  { target }: ImportContext,
  compared: Compared,
  files: SourceFiles,
  owners: Pick<Population, 'accepted'> & { readonly vaults: VaultStates },
): Promise<void> {
  await forEachConcurrently(files.list(), filesConcurrencyMax, async (file) => {
    const owner = ownerOf(file, owners, owners.vaults);
    if (owner === undefined || file.bytes === 0) return;
    compared.files += 1;
    const expected = await fileDigestOf(files, file);
    const sha256 = await target.fileDigest(owner, file.name.toLowerCase());
    if (sha256 === undefined) differ(compared, { what: 'file', uuid: file.name, why: 'missing' });
    else if (sha256 !== expected) differ(compared, { what: 'file', uuid: file.name, why: 'differs' });
  });
}

/** Accounts that were imported, that no user has used yet, and that the other server does not have. */
async function findSurplusAccounts(
  { target }: ImportContext,
  compared: Compared,
  known: ReadonlySet<string>,
): Promise<void> {
  for await (const uuid of target.accounts()) {
    if (known.has(uuid)) continue;
    const phase = (await target.showAccount(uuid))?.phase ?? 'none';
    if (phase !== 'none' && phase !== 'used') differ(compared, { what: 'account', uuid, why: 'surplus' });
  }
}
