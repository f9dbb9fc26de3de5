/** A vault with its members, as one turn reads it. */
import {
  type KeysResult,
  keys,
  type RangeResult,
  range,
  type Turn,
  type View,
} from '../../runtime/command.ts';
import { head } from '../collection/head.ts';
import type { Permission } from '../inbox-entries.ts';
import { Inbox } from '../user/inbox/contract.ts';
import { Vaults } from '../user/vaults/contract.ts';
import { Vault } from './contract.ts';
import { membersMax } from './settings.ts';
import { type ChangeStamp, nextChangeStamp } from './state.ts';
import { type MemberRow, memberTable, type VaultRow, vaultTable } from './tables.ts';

export interface MemberList {
  readonly vault: VaultRow;
  /** In the order in which their rows were written. */
  readonly members: readonly MemberRow[];
}

interface Reads {
  readonly vaults: KeysResult<typeof vaultTable>;
  readonly members: RangeResult<typeof memberTable>;
}

export const vaultKey = ({ self }: Pick<View, 'self'>) => ({ vault: self.id });
export const memberKey = ({ self }: Pick<View, 'self'>, member: string) => ({ vault: self.id, member });

export const memberListPlan = (view: View) => ({
  vaults: keys(vaultTable, [vaultKey(view)]),
  members: range(memberTable, { after: 0, through: view.get(head).position, limit: membersMax }),
});

/** The uuids of the members, and no other column. */
export const memberUuidsPlan = (view: View) =>
  range(memberTable, {
    after: 0,
    through: view.get(head).position,
    limit: membersMax,
    columns: ['member'],
  });

/** Undefined for a vault that does not exist, or has ended. */
export function memberListOf(view: Pick<View, 'self'>, { vaults, members }: Reads): MemberList | undefined {
  const vault = vaults.get(vaultKey(view));
  return vault && { vault, members: members.rows };
}

export const memberIn = ({ members }: MemberList, userUuid: string): MemberRow | undefined =>
  members.find(({ member }) => member === userUuid);

/** The member list, with the member who asks. Undefined if they are no member. */
export function memberListFor(view: Pick<View, 'self'>, by: string, reads: Reads) {
  const memberList = memberListOf(view, reads);
  const asker = memberList && memberIn(memberList, by);
  return memberList && asker && { ...memberList, asker, isOwner: memberList.vault.owner_uuid === by };
}

/** Members see the change by their next sync. */
export function changeVault(turn: Turn, vault: VaultRow, to: Partial<VaultRow>): VaultRow {
  const { position, micros } = nextChangeStamp(turn);
  const changed = { ...vault, ...to, position, updated_at: micros };
  turn.put(vaultTable, changed);
  return changed;
}

export function changeMember(turn: Turn, member: MemberRow, to: Partial<MemberRow>): void {
  const { position, micros } = nextChangeStamp(turn);
  turn.put(memberTable, { ...member, ...to, position, updated_at: micros });
}

/** Makes the user a member. */
export function admit(
  turn: Turn,
  userUuid: string,
  permission: Permission,
  changeStamp: ChangeStamp,
): MemberRow {
  const { position, micros } = changeStamp;
  const row: MemberRow = {
    vault: turn.self.id,
    member: userUuid,
    uuid: turn.random.uuid(),
    permission,
    position,
    membership: position,
    created_at: micros,
    updated_at: micros,
  };
  turn.put(memberTable, row);
  turn.tell(Vaults, userUuid).joined({ vaultUuid: turn.self.id, membership: position });
  turn.tell(Inbox, userUuid).rejoined({ vaultUuid: turn.self.id, at: position });
  return row;
}

/** Removes a member. From this commit on they can read nothing of the vault. */
export function dismiss(turn: Turn, { member, membership }: MemberRow, at: number): void {
  turn.remove(memberTable, memberKey(turn, member));
  turn.publish(Vault, { event: 'member-removed', userUuid: member, membership });
  turn.tell(Vaults, member).left({ vaultUuid: turn.self.id, membership, at });
}

/** Notifies these members by sync and push. */
export function addNotifications(
  turn: Turn,
  members: readonly Pick<MemberRow, 'member'>[],
  type:
    | 'user_added_to_shared_vault'
    | 'user_removed_from_shared_vault'
    | 'shared_vault_file_uploaded'
    | 'shared_vault_file_removed',
  at: number,
): void {
  for (const { member } of members) {
    turn.tell(Inbox, member).notified({ subject: { type, vaultUuid: turn.self.id }, at });
  }
}
