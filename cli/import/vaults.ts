/** Imports shared vaults with their members and invites. The report names the vaults that are not imported, and why. */
import {
  type ImportInvite,
  type ImportMember,
  ImportService,
  type ImportWriteVaultRequest,
} from '../../proto/generated/scriptorium/v1/import.ts';
import type { ImportContext } from './context.ts';
import type { VaultStates } from './items.ts';
import type { SourceInvite, SourceMember, SourceVault } from './source/tables.ts';

export interface Population {
  /** Accounts that this pass writes. */
  readonly accepted: ReadonlyMap<string, { readonly fresh: boolean }>;
  /** Existing accounts that this pass does not write to. */
  readonly refused: ReadonlySet<string>;
}

const permissions: readonly string[] = ['read', 'write', 'admin'];

/** Decides which vaults there will be, and writes them once all accounts exist. */
export async function importVaults(
  context: ImportContext,
  population: Population,
): Promise<{ readonly vaults: VaultStates; readonly fresh: ReadonlySet<string> }> {
  const { tables, report, target, dryRun } = context;
  const vaults = new Map<string, 'here' | 'not-now'>();
  const fresh = new Set<string>();
  for (const vault of await tables.vaults()) {
    const plan = await planOf(context, vault, population);
    if (plan === 'gone') {
      report.skipped('shared_vaults', 'owner-gone', vault.uuid);
      continue;
    }
    if (plan === 'in-use') {
      report.skipped('shared_vaults', 'in-use', vault.uuid);
      vaults.set(vault.uuid, 'not-now');
      continue;
    }
    const written = dryRun ? { refused: '', fresh: true } : await target.ask(ImportService.writeVault, plan);
    if (written.refused !== '') {
      report.skipped('shared_vaults', written.refused, vault.uuid);
      vaults.set(vault.uuid, 'not-now');
      continue;
    }
    report.written('shared_vaults', 1);
    report.written('shared_vault_users', plan.members.length);
    report.written('shared_vault_invites', plan.invites.length);
    vaults.set(vault.uuid, 'here');
    if (written.fresh) fresh.add(vault.uuid);
  }
  return { vaults, fresh };
}

/** The vault as it is written, and as it is compared. */
export async function planOf(
  { tables, report }: Pick<ImportContext, 'tables' | 'report'>,
  vault: SourceVault,
  { accepted, refused }: Population,
): Promise<ImportWriteVaultRequest | 'gone' | 'in-use'> {
  const all = await tables.members(vault.uuid);
  const isThere = (uuid: string) => accepted.has(uuid) || refused.has(uuid);
  const ownerUuid = isThere(vault.ownerUuid)
    ? vault.ownerUuid
    : all.find(({ isSurvivor, userUuid }) => isSurvivor && isThere(userUuid))?.userUuid;
  if (ownerUuid === undefined) return 'gone';
  if ([ownerUuid, ...all.map(({ userUuid }) => userUuid)].some((uuid) => refused.has(uuid))) return 'in-use';
  for (const { uuid } of all.filter(({ userUuid }) => !isThere(userUuid))) {
    report.skipped('shared_vault_users', 'account-gone', uuid);
  }
  const members = membersOf(
    vault,
    ownerUuid,
    all.filter(({ userUuid }) => isThere(userUuid)),
    report,
  );
  const survivor = all.find(
    ({ isSurvivor, userUuid }) => isSurvivor && userUuid !== ownerUuid && isThere(userUuid),
  );
  const invites = invitesOf(await tables.invites(vault.uuid), members, isThere, report);
  const { uuid: vaultUuid, createdAt, updatedAt } = vault;
  return {
    vaultUuid,
    ownerUuid,
    survivorUuid: survivor?.userUuid ?? '',
    createdAt,
    updatedAt,
    members,
    invites,
  };
}

/** One membership for each user. Two become one with the higher permission and the earlier time. The owner is an admin. */
function membersOf(
  vault: SourceVault,
  ownerUuid: string,
  all: readonly SourceMember[],
  report: ImportContext['report'],
): ImportMember[] {
  const members = new Map<string, ImportMember>();
  for (const { isSurvivor: _isSurvivor, ...member } of all.toSorted((a, b) => a.createdAt - b.createdAt)) {
    const before = members.get(member.userUuid);
    if (before !== undefined) report.skipped('shared_vault_users', 'twice', member.uuid);
    const isHigher = permissions.indexOf(member.permission) > permissions.indexOf(before?.permission ?? '');
    if (before === undefined) members.set(member.userUuid, member);
    else if (isHigher) members.set(member.userUuid, { ...before, permission: member.permission });
  }
  const owner = members.get(ownerUuid);
  const { createdAt, updatedAt } = vault;
  members.set(ownerUuid, {
    ...(owner ?? { uuid: vault.uuid, userUuid: ownerUuid, createdAt, updatedAt }),
    permission: 'admin',
  });
  return [...members.values()];
}

function invitesOf(
  all: readonly SourceInvite[],
  members: readonly ImportMember[],
  isThere: (uuid: string) => boolean,
  report: ImportContext['report'],
): ImportInvite[] {
  const invites = new Map<string, ImportInvite>();
  for (const invite of all.toSorted((a, b) => a.updatedAt - b.updatedAt)) {
    const isMember = members.some(({ userUuid }) => userUuid === invite.inviteeUuid);
    const why = !isThere(invite.inviteeUuid) ? 'account-gone' : isMember ? 'is-member' : undefined;
    const before = invites.get(invite.inviteeUuid);
    if (why !== undefined) report.skipped('shared_vault_invites', why, invite.uuid);
    else {
      if (before !== undefined) report.skipped('shared_vault_invites', 'older', before.uuid);
      invites.set(invite.inviteeUuid, invite);
    }
  }
  return [...invites.values()];
}
