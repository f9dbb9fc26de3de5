/**
 * The vault as a whole, with its members and invites: its creation, its change of owner and its end
 * (docs/protocol/shared-vaults.md).
 */

import { command, type Turn } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { noSuchVault, Vault } from '../contract.ts';
import { type RaisedHooks, vaultPart } from '../hooks.ts';
import { addNotifications, admit, memberListFor, memberListPlan } from '../member-list.ts';
import { memberResponse, vaultResponse } from '../responses.ts';
import { VaultSettings } from '../settings.ts';
import { nextChangeStamp, statusSlice } from '../state.ts';
import { successorMap } from '../successors.ts';
import { type MemberRow, memberTable, type VaultRow, vaultInviteTable, vaultTable } from '../tables.ts';
import { end, userGone } from './end.ts';
import { inviteCommands } from './invites.ts';
import { memberCommands } from './members.ts';
import { tearDownTimer } from './tear-down.ts';

/** Makes a vault. The user who makes it owns it and is its first member. */
const create = command(Vault.commands.create, {
  creates: true,
  reads: memberListPlan,
  turn: (turn, { by }, reads) => {
    if (turn.get(statusSlice) === 'none') return created(...begin(turn, by));
    // The call is repeated. The vault may have ended since.
    const memberList = memberListFor(turn, by, reads);
    return memberList?.isOwner ? created(memberList.vault, memberList.asker) : noSuchVault;
  },
});

function begin(turn: Turn, by: string): [VaultRow, MemberRow] {
  const changeStamp = nextChangeStamp(turn);
  const { position, micros } = changeStamp;
  const vault: VaultRow = {
    vault: turn.self.id,
    position,
    owner_uuid: by,
    survivor_uuid: null,
    file_bytes: 0,
    created_at: micros,
    updated_at: micros,
  };
  turn.set(statusSlice, 'open');
  turn.put(vaultTable, vault);
  const member = admit(turn, by, 'admin', changeStamp);
  addNotifications(turn, [member], 'user_added_to_shared_vault', position);
  return [vault, member];
}

const created = (vault: VaultRow, member: MemberRow) => ({
  ok: {
    sharedVault: vaultResponse(vault),
    sharedVaultUser: memberResponse(member, vault),
    membership: member.membership,
  },
});

export const membership = (hooks: RaisedHooks) =>
  vaultPart(Vault, {
    name: 'membership',
    uses: [VaultSettings],
    slices: [statusSlice, successorMap, head],
    tables: [vaultTable, memberTable, vaultInviteTable],
    commands: { create, end: end(hooks), ...memberCommands, ...inviteCommands },
    tells: { userGone: userGone(hooks) },
    timers: { tearDown: tearDownTimer(hooks) },
  });
