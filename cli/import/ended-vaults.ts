/**
 * Shared vaults that an earlier pass has brought, and that the other server has deleted since. Only the members whose accounts it
 * still has are asked. So vaults of a third server, which another import has brought, are no part of this.
 */
import { ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import { forEachConcurrently, type ImportContext } from './context.ts';
import { pruneItems, type VaultStates } from './items.ts';

const usersConcurrencyMax = 4;

/**
 * Ends them here, too. Their items are removed first. Those that the other server still has are imported with their owners. An
 * interrupted pass leaves the vault, and the next one goes on.
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
 * Without those that have members who have signed in here, those that were made here, and those that other rows of the source
 * still name. An ended vault never comes back, so a source that lacks a part of its rows must not end it.
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
