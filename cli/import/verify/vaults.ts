/** Compares shared vaults with their members and open invites. */
import { inviteDigest, memberDigest, vaultDigest } from '../../../proto/import-digests.ts';
import type { ImportContext } from '../context.ts';
import type { VaultStates } from '../items.ts';
import { ImportReport } from '../report.ts';
import { type Population, planOf } from '../vaults.ts';
import { type Compared, compareEntries, differ } from './compared.ts';

/** Resolves to the vaults whose items can be compared, and those that are in use. */
export async function compareVaults(
  context: ImportContext,
  compared: Compared,
  population: Population,
): Promise<VaultStates> {
  const { tables, target } = context;
  const vaults = new Map<string, 'here' | 'not-now'>();
  for (const vault of await tables.vaults()) {
    const { uuid } = vault;
    const plan = await planOf({ tables, report: new ImportReport() }, vault, population);
    if (plan === 'gone') continue;
    if (plan === 'in-use') {
      vaults.set(uuid, 'not-now');
      continue;
    }
    const imported = await target.showVault(uuid);
    if (imported === undefined) {
      differ(compared, { what: 'vault', uuid, why: 'missing' });
      continue;
    }
    vaults.set(uuid, 'here');
    compared.vaults += 1;
    if (imported.sha256 !== vaultDigest(plan)) differ(compared, { what: 'vault', uuid, why: 'differs' });
    compared.members += compareEntries(compared, 'member', {
      here: imported.members,
      there: plan.members.map((each) => ({ uuid: each.uuid, sha256: memberDigest(each) })),
    });
    compared.invites += compareEntries(compared, 'invite', {
      here: imported.invites,
      there: plan.invites.map((each) => ({ uuid: each.uuid, sha256: inviteDigest(each) })),
    });
  }
  return vaults;
}
