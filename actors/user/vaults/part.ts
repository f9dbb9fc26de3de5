/** The shared vaults of a user (docs/protocol/shared-vaults.md). */
import { ItemSettings } from '../../collection/settings.ts';
import { derivedUuid } from '../../identity/uuid-text.ts';
import { isRefused } from '../../reply.ts';
import { VaultSettings } from '../../vault/settings.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { acceptVaultInvite, declineInboundInvites, endVaultInvite } from './answer-invites.ts';
import { askVault, namesNoUser, sessionCheckStep, uuidOf } from './ask.ts';
import { Vaults } from './contract.ts';
import { listVaults } from './list.ts';
import { inviteMailSlice, mailVaultInviteTell } from './mail-invite.ts';
import {
  joinedTell,
  leaveSomeVaults,
  leftTell,
  mayCollaborate,
  membershipMap,
  noteJoined,
  noteLeft,
  startJoining,
  stopJoining,
  switchedOff,
} from './memberships.ts';
import {
  cancelOutboundInvites,
  cancelVaultInvites,
  changeVaultInvite,
  inviteToVault,
  listOutboundInvites,
  listVaultInvites,
} from './sent-invites.ts';

const listVaultMembers = signedInWorkflow(
  Vaults.commands.listVaultMembers,
  async (workflow, { sharedVaultUuid }) => {
    await workflow.turn(sessionCheckStep);
    return askVault(workflow, sharedVaultUuid, (vault) => vault.members({ by: workflow.self.id }));
  },
);

const removeVaultMember = signedInWorkflow(
  Vaults.commands.removeVaultMember,
  async (workflow, { sharedVaultUuid, userUuid: sent }) => {
    const { id: by } = workflow.self;
    await workflow.turn(sessionCheckStep);
    const userUuid = uuidOf(sent) ?? namesNoUser;
    const removed = await askVault(workflow, sharedVaultUuid, (vault) =>
      vault.removeMember({ by, userUuid }),
    );
    if (isRefused(removed)) return removed;
    if (userUuid !== by) return { success: true };
    const vaultUuid = sharedVaultUuid.toLowerCase();
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => {
        if (noteLeft(turn, { vaultUuid, ...removed })) audit(turn, 'shared-vault-left', session, vaultUuid);
        return { success: true };
      },
    });
  },
);

const designateSurvivor = signedInWorkflow(
  Vaults.commands.designateSurvivor,
  async (workflow, { sharedVaultUuid, userUuid: sent }) => {
    await workflow.turn(sessionCheckStep);
    const userUuid = uuidOf(sent) ?? namesNoUser;
    const done = await askVault(workflow, sharedVaultUuid, (vault) =>
      vault.designateSurvivor({ by: workflow.self.id, userUuid }),
    );
    return isRefused(done) ? done : { success: true };
  },
);

const createVault = signedInWorkflow(Vaults.commands.createVault, async (workflow) => {
  const { self, callId } = workflow;
  // A repeat of the call makes the same vault.
  const vaultUuid = derivedUuid(`vault\u0000${self.id}\u0000${callId}`);
  await workflow.turn({
    turn: (turn) => (mayCollaborate(turn) ? startJoining(turn, vaultUuid) : switchedOff),
  });
  const answer = await askVault(workflow, vaultUuid, (vault) => vault.create({ by: self.id }));
  return workflow.lastTurn({
    turn: (turn, _reads, { session }) => {
      if (isRefused(answer)) {
        stopJoining(turn, vaultUuid);
        return answer;
      }
      const { membership, ...vault } = answer;
      noteJoined(turn, { vaultUuid, membership });
      audit(turn, 'shared-vault-made', session, vaultUuid);
      return vault;
    },
  });
});

const deleteVault = signedInWorkflow(Vaults.commands.deleteVault, async (workflow, { sharedVaultUuid }) => {
  await workflow.turn(sessionCheckStep);
  const ended = await askVault(workflow, sharedVaultUuid, (vault) => vault.end({ by: workflow.self.id }));
  if (isRefused(ended)) return ended;
  const vaultUuid = sharedVaultUuid.toLowerCase();
  return workflow.lastTurn({
    turn: (turn, _reads, { session }) => {
      noteLeft(turn, { vaultUuid, ...ended });
      audit(turn, 'shared-vault-deleted', session, vaultUuid);
      return { success: true };
    },
  });
});

/** Each costs a tell. */
const leaveBatchMax = 100;

export const vaults = userPart(Vaults, {
  name: 'vaults',
  uses: [ItemSettings, VaultSettings],
  slices: [membershipMap, inviteMailSlice],
  commands: {
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
  },
  tells: { joined: joinedTell, left: leftTell, mailVaultInvite: mailVaultInviteTell },
  on: {
    purgeFirst: { turn: (turn) => ({ left: leaveSomeVaults(turn, leaveBatchMax) ? 'more' : 'nothing' }) },
  },
});
