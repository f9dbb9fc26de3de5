/**
 * Ends a vault, and reacts to the deletion of an account (docs/protocol/shared-vaults.md).
 *
 * One commit ends the vault for everybody: it removes the rows of the vault, its members and its invites, and with them all
 * access. The same commit tells everybody concerned. The actor goes once no part has anything left (tear-down.ts).
 */
import { command, type Turn, tell } from '../../../runtime/command.ts';
import { noSuchVault, notTheOwner, Vault } from '../contract.ts';
import type { RaisedHooks } from '../hooks.ts';
import {
  addNotifications,
  changeMember,
  changeVault,
  dismiss,
  type MemberList,
  memberIn,
  memberListFor,
  memberListOf,
  memberListPlan,
} from '../member-list.ts';
import { nextChangeStamp, statusSlice } from '../state.ts';
import { transferOwnership } from '../successors.ts';
import { vaultTable } from '../tables.ts';
import { cancel, type PendingInvites, pendingPlan } from './invites.ts';
import { part } from './members.ts';
import { tearDownLater } from './tear-down.ts';

export const end = (hooks: RaisedHooks) =>
  command(Vault.commands.end, {
    repeat: 'recorded',
    reads: (view) => ({ ...memberListPlan(view), ...pendingPlan(view) }),
    turn: (turn, { by }, { pending, ...reads }) => {
      const memberList = memberListFor(turn, by, reads);
      if (memberList === undefined) return noSuchVault;
      if (!memberList.isOwner) return notTheOwner;
      endForAll(turn, hooks, memberList, pending);
      return { ok: { membership: memberList.asker.membership } };
    },
  });

function endForAll(
  turn: Turn,
  hooks: RaisedHooks,
  { vault, members }: MemberList,
  pending: PendingInvites,
): void {
  turn.set(statusSlice, 'ended');
  cancel(turn, pending.rows);
  const { position } = nextChangeStamp(turn);
  for (const each of members) dismiss(turn, each, position);
  turn.remove(vaultTable, { vault: vault.vault });
  for (const endPart of hooks('ended')) endPart(turn, vault);
  tearDownLater(turn);
}

/**
 * This may come before a vault that the user has asked for is made. Then the tombstone keeps it from being made. It also
 * removes an invite, so that a deleted account cannot accept it.
 */
export const userGone = (hooks: RaisedHooks) =>
  tell(Vault.tells.userGone, {
    creates: true,
    reads: (view) => ({ ...memberListPlan(view), ...pendingPlan(view) }),
    turn: (turn, _nothing, { address: { id: gone } }, { pending, ...reads }) => {
      if (turn.get(statusSlice) === 'none') return turn.tombstone();
      const memberList = memberListOf(turn, reads);
      if (memberList === undefined) return;
      if (memberList.vault.owner_uuid === gone) {
        loseOwner(turn, hooks, memberList, pending);
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
function loseOwner(turn: Turn, hooks: RaisedHooks, memberList: MemberList, pending: PendingInvites): void {
  const { vault, members } = memberList;
  const survivor = vault.survivor_uuid === null ? undefined : memberIn(memberList, vault.survivor_uuid);
  const owner = memberIn(memberList, vault.owner_uuid);
  const isTransferred = survivor !== undefined && transferOwnership(turn, vault.owner_uuid, survivor.member);
  if (owner === undefined || !isTransferred) {
    endForAll(turn, hooks, memberList, pending);
    return;
  }
  cancel(turn, pending.rows);
  changeMember(turn, survivor, { permission: 'admin' });
  const transferred = changeVault(turn, vault, { owner_uuid: survivor.member, survivor_uuid: null });
  const { position } = transferred;
  for (const changeOwner of hooks('ownerChanged')) changeOwner(turn, transferred);
  dismiss(turn, owner, position);
  const others = members.filter(({ member }) => member !== owner.member);
  addNotifications(turn, others, 'user_removed_from_shared_vault', position);
}
