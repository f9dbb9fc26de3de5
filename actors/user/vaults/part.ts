/** What a user does with shared vaults (docs/protocol/shared-vaults.md). */
import { acceptVaultInvite, declineInboundInvites, endVaultInvite } from './answer-invites.ts';
import { createVault, deleteVault } from './create.ts';
import { listVaults } from './list.ts';
import { mailVaultInviteTell } from './mails.ts';
import { designateSurvivor, listVaultMembers, removeVaultMember } from './members.ts';
import { joinedTell, leftTell } from './memberships.ts';
import {
  cancelOutboundInvites,
  cancelVaultInvites,
  changeVaultInvite,
  inviteToVault,
  listOutboundInvites,
  listVaultInvites,
} from './sent-invites.ts';

export const vaultCommands = {
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

export const vaultTells = { joined: joinedTell, left: leftTell, mailVaultInvite: mailVaultInviteTell };
