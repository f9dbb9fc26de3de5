/**
 * How a vault ends, and what becomes of it when an account is deleted (docs/protocol/shared-vaults.md).
 *
 * One commit ends it for everybody: its row, those of all members and of all invites are gone, and with them all access.
 * That commit tells whom it concerns. The actor goes once the vault has no items any more.
 */
import { command, type Turn, tell } from '../../runtime/command.ts';
import { noSuchVault, notTheOwner, Vault } from './contract.ts';
import { endFiles, inheritFiles } from './files/end.ts';
import { inherit } from './heirs.ts';
import { cancel, type PendingInvites, pendingPlan } from './invites.ts';
import { handItemsOnSoon } from './items/hand-on.ts';
import { part } from './members.ts';
import { nextMoment } from './moment.ts';
import {
  changeMember,
  changeVault,
  dismiss,
  memberIn,
  notify,
  type Roster,
  rosterFor,
  rosterOf,
  rosterPlan,
} from './roster.ts';
import { standingSlice } from './standing.ts';
import { vaultTable } from './tables.ts';
import { windUp } from './wind-up.ts';

export const end = command({
  ...Vault.commands.end,
  repeat: 'recorded',
  reads: (view) => ({ ...rosterPlan(view), ...pendingPlan(view) }),
  turn: (turn, { by }, { pending, ...reads }) => {
    const roster = rosterFor(turn, by, reads);
    if (roster === undefined) return noSuchVault;
    if (!roster.isOwner) return notTheOwner;
    endForAll(turn, roster, pending);
    return { ok: { membership: roster.asker.membership } };
  },
});

function endForAll(turn: Turn, { vault, members }: Roster, pending: PendingInvites): void {
  turn.set(standingSlice, 'ended');
  cancel(turn, pending.rows);
  const { position } = nextMoment(turn);
  for (const each of members) dismiss(turn, each, position);
  turn.remove(vaultTable, { vault: vault.vault });
  endFiles(turn, vault);
  windUp(turn);
}

/**
 * May come before the vault is made that the user has asked for: then nobody makes it any more. Nor does anybody who is
 * gone accept an invite, as that goes here too.
 */
export const userGone = tell({
  ...Vault.tells.userGone,
  creates: true,
  reads: (view) => ({ ...rosterPlan(view), ...pendingPlan(view) }),
  turn: (turn, _nothing, { address: { id: gone } }, { pending, ...reads }) => {
    if (turn.get(standingSlice) === 'none') return turn.tombstone();
    const roster = rosterOf(turn, reads);
    if (roster === undefined) return;
    if (roster.vault.owner_uuid === gone) {
      loseOwner(turn, roster, pending);
      return;
    }
    cancel(
      turn,
      pending.rows.filter(({ invitee }) => invitee === gone),
    );
    const leaving = memberIn(roster, gone);
    if (leaving !== undefined) part(turn, roster, leaving);
  },
});

/** The survivor takes over, if there is one. */
function loseOwner(turn: Turn, roster: Roster, pending: PendingInvites): void {
  const { vault, members } = roster;
  const survivor = vault.survivor_uuid === null ? undefined : memberIn(roster, vault.survivor_uuid);
  const owner = memberIn(roster, vault.owner_uuid);
  const isInherited = survivor !== undefined && inherit(turn, vault.owner_uuid, survivor.member);
  if (owner === undefined || !isInherited) {
    endForAll(turn, roster, pending);
    return;
  }
  cancel(turn, pending.rows);
  changeMember(turn, survivor, { permission: 'admin' });
  const inherited = changeVault(turn, vault, { owner_uuid: survivor.member, survivor_uuid: null });
  const { position } = inherited;
  inheritFiles(turn, inherited, survivor.member);
  handItemsOnSoon(turn);
  dismiss(turn, owner, position);
  const others = members.filter(({ member }) => member !== owner.member);
  notify(turn, others, 'user_removed_from_shared_vault', position);
}
