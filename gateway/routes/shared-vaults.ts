/** Shared vaults, their members and their invites (docs/protocol/shared-vaults.md). */
import { Inbox } from '../../actors/user/inbox/contract.ts';
import { Vaults } from '../../actors/user/vaults/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family } from './endpoint.ts';

const { endpoint } = family({ tag: 'Shared vaults' });
const refusals = [400];
/** An encrypted message is JSON in a JSON string, so its quotes are escaped. */
const inviteBytesMax = 256 * 1_024;

const vaults = '/v1/shared-vaults';
const vault = `${vaults}/:sharedVaultUuid`;
const member = `${vault}/users/:userUuid`;
const invite = `${vault}/invites/:inviteUuid`;

const vaultRoutes = [
  endpoint(`GET ${vaults}`, {
    command: Vaults.commands.listVaults,
    summary: 'The shared vaults that the caller is a member of.',
  }),
  endpoint(`POST ${vaults}`, {
    command: Vaults.commands.createVault,
    summary: 'Makes a shared vault, which the caller owns.',
    refusals,
  }),
  endpoint(`DELETE ${vault}`, {
    command: Vaults.commands.deleteVault,
    summary: 'Ends a shared vault for all of its members. Its owner alone may.',
    refusals,
  }),
];

const memberRoutes = [
  endpoint(`GET ${vault}/users`, {
    command: Vaults.commands.listVaultMembers,
    summary: 'The members of a shared vault, for one of them.',
    refusals,
  }),
  endpoint(`DELETE ${member}`, {
    command: Vaults.commands.removeVaultMember,
    summary: 'Removes a member of a shared vault, or leaves it.',
    refusals,
  }),
  endpoint(`POST ${member}/designate-survivor`, {
    command: Vaults.commands.designateSurvivor,
    summary: 'Says which member gets a shared vault when the account of its owner is deleted.',
    refusals,
  }),
];

const invitesOfVault = [
  endpoint(`POST ${vault}/invites`, {
    command: Vaults.commands.inviteToVault,
    summary: 'Invites a user to a shared vault, whether there is such a user or not.',
    bodyLimit: inviteBytesMax,
    refusals,
  }),
  endpoint(`GET ${vault}/invites`, {
    command: Vaults.commands.listVaultInvites,
    summary: 'The invites to a shared vault that the caller has sent and that nobody has answered.',
  }),
  endpoint(`DELETE ${vault}/invites`, {
    command: Vaults.commands.cancelVaultInvites,
    summary: 'Cancels the invites to a shared vault that the caller has sent.',
  }),
  endpoint(`PATCH ${invite}`, {
    command: Vaults.commands.changeVaultInvite,
    summary: 'Changes what an invite says that the caller has sent.',
    bodyLimit: inviteBytesMax,
    refusals,
  }),
  endpoint(`POST ${invite}/accept`, {
    command: Vaults.commands.acceptVaultInvite,
    summary: 'Accepts an invite, again and again.',
    refusals,
  }),
  endpoint(`POST ${invite}/decline`, {
    command: Vaults.commands.endVaultInvite,
    summary: 'Declines an invite, or cancels one that the caller has sent.',
    refusals,
  }),
  endpoint(`DELETE ${invite}`, {
    command: Vaults.commands.endVaultInvite,
    summary: 'Declines an invite, or cancels one that the caller has sent.',
    refusals,
  }),
];

const invitesOfCaller = [
  endpoint(`GET ${vaults}/invites`, {
    command: Inbox.commands.listInboundInvites,
    summary: 'The invites that wait for the caller’s answer.',
  }),
  endpoint(`GET ${vaults}/invites/outbound`, {
    command: Vaults.commands.listOutboundInvites,
    summary: 'The invites that the caller has sent and that nobody has answered.',
  }),
  endpoint(`DELETE ${vaults}/invites/inbound`, {
    command: Vaults.commands.declineInboundInvites,
    summary: 'Declines all invites that wait for the caller’s answer.',
  }),
  endpoint(`DELETE ${vaults}/invites/outbound`, {
    command: Vaults.commands.cancelOutboundInvites,
    summary: 'Cancels all invites that the caller has sent.',
  }),
];

export const sharedVaultRoutes: readonly AnyRoute[] = [
  ...vaultRoutes,
  ...memberRoutes,
  ...invitesOfVault,
  ...invitesOfCaller,
];
