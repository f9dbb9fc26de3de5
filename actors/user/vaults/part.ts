/** The shared vaults of a user (docs/protocol/shared-vaults.md). */
import { ItemSettings } from '../../collection/settings.ts';
import { VaultSettings } from '../../vault/settings.ts';
import { userPart } from '../hooks.ts';
import { acceptVaultInvite, declineInboundInvites, endVaultInvite } from './answer-invites.ts';
import { Vaults } from './contract.ts';
import { createVault, deleteVault } from './create.ts';
import { listVaults } from './list.ts';
import { inviteMailSlice, mailVaultInviteTell } from './mail-invite.ts';
import { designateSurvivor, listVaultMembers, removeVaultMember } from './members.ts';
import { joinedTell, leaveSomeVaults, leftTell, membershipMap } from './memberships.ts';
import {
  cancelOutboundInvites,
  cancelVaultInvites,
  changeVaultInvite,
  inviteToVault,
  listOutboundInvites,
  listVaultInvites,
} from './sent-invites.ts';

/** Each costs a tell. */
const leftAtOnce = 100;

const commands = {
  createVault,
  listVaults,
  deleteVault,
  listVaultMembers,
  removeVaultMember,
  designateSurvivor,
  inviteToVault,
  changeVaultInvite,
  acceptVaultInvite,
  endVaultInvite,
  listVaultInvites,
  cancelVaultInvites,
  listOutboundInvites,
  cancelOutboundInvites,
  declineInboundInvites,
};

export const vaults = userPart(Vaults, {
  name: 'vaults',
  uses: [ItemSettings, VaultSettings],
  slices: [membershipMap, inviteMailSlice],
  commands,
  tells: { joined: joinedTell, left: leftTell, mailVaultInvite: mailVaultInviteTell },
  on: {
    purgeFirst: { turn: (turn) => ({ left: leaveSomeVaults(turn, leftAtOnce) ? 'more' : 'nothing' }) },
  },
});
