/** Creates a shared vault, or ends one. */
import { derivedUuid } from '../../identity/derived-uuid.ts';
import { isRefused } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askVault, sessionAlone } from './ask.ts';
import { Vaults } from './contract.ts';
import {
  mayCollaborate,
  noteJoined,
  noteLeft,
  startJoining,
  stopJoining,
  switchedOff,
} from './memberships.ts';

export const createVault = signedInWorkflow({
  ...Vaults.commands.createVault,
  run: async (workflow) => {
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
        const { membership, ...shown } = answer;
        noteJoined(turn, { vaultUuid, membership });
        audit(turn, 'shared-vault-made', session, vaultUuid);
        return shown;
      },
    });
  },
});

export const deleteVault = signedInWorkflow({
  ...Vaults.commands.deleteVault,
  run: async (workflow, { sharedVaultUuid }) => {
    await workflow.turn(sessionAlone);
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
  },
});
