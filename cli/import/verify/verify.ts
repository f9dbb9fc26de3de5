/**
 * Compares both servers, account by account, by the digest of everything that a client gets. What an import refuses is not
 * missing. An account that has been signed in to since is counted and left out, because it has changed on its own since then.
 */
import { forEachConcurrently, type ImportContext } from '../context.ts';
import type { SourceFiles } from '../files/source.ts';
import type { Population } from '../vaults.ts';
import { compareAccount, isImportable } from './accounts.ts';
import { compareCollection } from './collections.ts';
import { type Compared, differ, nothingCompared } from './compared.ts';
import { compareFiles } from './files.ts';
import { compareVaults } from './vaults.ts';

const usersConcurrencyMax = 4;

export async function verifyImport(
  context: ImportContext,
  files: SourceFiles | undefined,
): Promise<Compared> {
  const compared = nothingCompared();
  const { here, missing, inUse } = await compareAccounts(context, compared);
  // Vaults and memberships of missing accounts are missing, too.
  const vaults = await compareVaults(context, compared, {
    accepted: new Map([...here, ...missing]),
    refused: inUse,
  });
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
}

async function compareAccounts(context: ImportContext, compared: Compared): Promise<Accounts> {
  const here = new Map<string, { fresh: boolean }>();
  const missing = new Map<string, { fresh: boolean }>();
  const inUse = new Set<string>();
  await forEachConcurrently(context.tables.users(), usersConcurrencyMax, async (user) => {
    const uuid = user.uuid.toLowerCase();
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
      await compareAccount(context, compared, user, imported);
    }
  });
  return { here, missing, inUse };
}
