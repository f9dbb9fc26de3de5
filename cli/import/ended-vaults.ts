/**
 * Finds the shared vaults that an earlier pass has imported and that the other server has deleted since. It looks only at vaults
 * of accounts that the other server still has. So it never touches a vault that was imported from a third server.
 */
import { ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import { forEachConcurrently, type ImportContext } from './context.ts';
import { pruneItems, type VaultStates } from './items.ts';

const usersConcurrencyMax = 4;

/**
 * Ends these vaults here, too, and removes their items first. Items that the other server still has are imported with their
 * owners. A pass that is interrupted leaves the vault, and the next pass goes on.
 */
export async function endDeletedVaults(
  context: ImportContext,
  earlierUsers: Iterable<string>,
  vaults: VaultStates,
): Promise<void> {
  const { target, report, dryRun } = context;
  const candidates = new Set<string>();
  await forEachConcurrently(earlierUsers, usersConcurrencyMax, async (uuid) => {
    for (const vault of (await target.showAccount(uuid))?.vaultUuids ?? []) candidates.add(vault);
  });
  for (const vaultUuid of await deletedAmong(context, candidates, vaults)) {
    report.ended(vaultUuid);
    if (dryRun) continue;
    await pruneItems(context, { collection: { isVault: true, uuid: vaultUuid }, vaults });
    await target.ask(ImportService.endVault, { vaultUuid, checkOnly: false });
  }
}

/**
 * The candidates that are certainly deleted. A vault stays if a member has signed in here, if it was made here, or if any row of
 * the source names it. An ended vault never comes back, so a source that lacks some of its rows must not end it.
 */
export async function deletedAmong(
  { tables, target }: Pick<ImportContext, 'tables' | 'target'>,
  candidates: Iterable<string>,
  vaults: VaultStates,
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const vaultUuid of candidates) {
    if (vaults.has(vaultUuid) || (await tables.namesVault(vaultUuid))) continue;
    if (await target.mayEndVault(vaultUuid)) deleted.push(vaultUuid);
  }
  return deleted;
}
