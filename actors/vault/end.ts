/**
 * How a vault ends, and what becomes of it when an account is deleted (docs/protocol/shared-vaults.md).
 *
 * One commit ends it for everybody: its row, those of all members and of all invites are gone, and with them all access.
 * That commit tells whom it concerns. The actor goes once the vault has no items any more.
 */
import { command, type Turn, tell } from '../../runtime/command.ts';
import { nextChangeStamp } from './change-stamp.ts';
import { noSuchVault, notTheOwner, Vault } from './contract.ts';
import { endFiles, transferFiles } from './files/end.ts';
import { cancel, type PendingInvites, pendingPlan } from './invites.ts';
import { handItemsOnSoon } from './items/hand-on.ts';
import {
  changeMember,
  changeVault,
  dismiss,
  type MemberList,
  memberIn,
  memberListFor,
  memberListOf,
  memberListPlan,
  notify,
} from './member-list.ts';
import { part } from './members.ts';
import { standingSlice } from './standing.ts';
import { transferOwnership } from './successors.ts';
import { vaultTable } from './tables.ts';
import { beginTearDown } from './tear-down.ts';

export const end = command({
  ...Vault.commands.end,
  repeat: 'recorded',
  reads: (view) => ({ ...memberListPlan(view), ...pendingPlan(view) }),
  turn: (turn, { by }, { pending, ...reads }) => {
    const memberList = memberListFor(turn, by, reads);
    if (memberList === undefined) return noSuchVault;
    if (!memberList.isOwner) return notTheOwner;
    endForAll(turn, memberList, pending);
    return { ok: { membership: memberList.asker.membership } };
  },
});

function endForAll(turn: Turn, { vault, members }: MemberList, pending: PendingInvites): void {
  turn.set(standingSlice, 'ended');
  cancel(turn, pending.rows);
  const { position } = nextChangeStamp(turn);
  for (const each of members) dismiss(turn, each, position);
  turn.remove(vaultTable, { vault: vault.vault });
  endFiles(turn, vault);
  beginTearDown(turn);
}

/**
 * May come before the vault is made that the user has asked for: then nobody makes it any more. Nor does anybody who is
 * gone accept an invite, as that goes here too.
 */
export const userGone = tell({
  ...Vault.tells.userGone,
  creates: true,
  reads: (view) => ({ ...memberListPlan(view), ...pendingPlan(view) }),
  turn: (turn, _nothing, { address: { id: gone } }, { pending, ...reads }) => {
    if (turn.get(standingSlice) === 'none') return turn.tombstone();
    const memberList = memberListOf(turn, reads);
    if (memberList === undefined) return;
    if (memberList.vault.owner_uuid === gone) {
      loseOwner(turn, memberList, pending);
      return;
    }
    cancel(
      turn,
      pending.rows.filter(({ invitee }) => invitee === gone),
    );
    const leaving = memberIn(memberList, gone);
    if (leaving !== undefined) part(turn, memberList, leaving);
  },
});

/** The survivor takes over, if there is one. */
function loseOwner(turn: Turn, memberList: MemberList, pending: PendingInvites): void {
  const { vault, members } = memberList;
  const survivor = vault.survivor_uuid === null ? undefined : memberIn(memberList, vault.survivor_uuid);
  const owner = memberIn(memberList, vault.owner_uuid);
  const isTransferred = survivor !== undefined && transferOwnership(turn, vault.owner_uuid, survivor.member);
  if (owner === undefined || !isTransferred) {
    endForAll(turn, memberList, pending);
    return;
  }
  cancel(turn, pending.rows);
  changeMember(turn, survivor, { permission: 'admin' });
  const transferred = changeVault(turn, vault, { owner_uuid: survivor.member, survivor_uuid: null });
  const { position } = transferred;
  transferFiles(turn, transferred, survivor.member);
  handItemsOnSoon(turn);
  dismiss(turn, owner, position);
  const others = members.filter(({ member }) => member !== owner.member);
  notify(turn, others, 'user_removed_from_shared_vault', position);
}
