/** The members of a vault, as one of them sees and changes them. */
import { isRefused } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askVault, namesNoUser, sessionAlone, uuidOf } from './ask.ts';
import { Vaults } from './contract.ts';
import { noteLeft } from './memberships.ts';

export const listVaultMembers = signedInWorkflow({
  ...Vaults.commands.listVaultMembers,
  run: async (workflow, { sharedVaultUuid }) => {
    await workflow.turn(sessionAlone);
    return askVault(workflow, sharedVaultUuid, (vault) => vault.members({ by: workflow.self.id }));
  },
});

export const removeVaultMember = signedInWorkflow({
  ...Vaults.commands.removeVaultMember,
  run: async (workflow, { sharedVaultUuid, userUuid: sent }) => {
    const { id: by } = workflow.self;
    await workflow.turn(sessionAlone);
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
});

export const designateSurvivor = signedInWorkflow({
  ...Vaults.commands.designateSurvivor,
  run: async (workflow, { sharedVaultUuid, userUuid: sent }) => {
    await workflow.turn(sessionAlone);
    const userUuid = uuidOf(sent) ?? namesNoUser;
    const done = await askVault(workflow, sharedVaultUuid, (vault) =>
      vault.designateSurvivor({ by: workflow.self.id, userUuid }),
    );
    return isRefused(done) ? done : { success: true };
  },
});
