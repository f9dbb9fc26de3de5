/** The user answers invites to shared vaults. The vault decides about each (`actors/vault/membership/invites.ts`). */
import { keys } from '../../../runtime/command.ts';
import { isRefused } from '../../reply.ts';
import { noSuchInvite, Vault } from '../../vault/contract.ts';
import { audit } from '../audit/trail.ts';
import { forgetInviteCopy, inboundInvitesPlan, inviteCopyPlan } from '../inbox/invites.ts';
import { clear, clearPlans, selfRemoved } from '../inbox/notifications.ts';
import { inboundInviteTable } from '../inbox/tables.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askIfThere, askVault, forEach, sessionCheckStep, uuidOf } from './ask.ts';
import { Vaults } from './contract.ts';
import { mayCollaborate, noteJoined, startJoining, stopJoining, switchedOff } from './memberships.ts';

/** The next sync must show what was accepted, so the user's actor notes it before it answers. */
export const acceptVaultInvite = signedInWorkflow(
  Vaults.commands.acceptVaultInvite,
  async (workflow, request) => {
    const { id: by } = workflow.self;
    const inviteUuid = request.inviteUuid.toLowerCase();
    const { vaultUuid, isMember } = await workflow.turn({
      turn: (turn) => {
        if (!mayCollaborate(turn)) return switchedOff;
        const vaultUuid = uuidOf(request.sharedVaultUuid);
        return vaultUuid === undefined ? noSuchInvite : startJoining(turn, vaultUuid);
      },
    });
    const joined = await askVault(
      workflow,
      vaultUuid,
      (vault) => vault.acceptInvite({ by, inviteUuid }),
      noSuchInvite,
    );
    return workflow.lastTurn({
      reads: (view) => ({
        ...inviteCopyPlan(view, vaultUuid),
        ...clearPlans(view, [selfRemoved(vaultUuid)]),
      }),
      turn: (turn, reads, { session }) => {
        if (isRefused(joined)) {
          stopJoining(turn, vaultUuid);
          return joined;
        }
        forgetInviteCopy(turn, { vaultUuid, inviteUuid }, reads);
        clear(turn, [selfRemoved(vaultUuid)], joined.membership, reads);
        // A tell may have come first: that the user was let in, or even that they were removed again.
        if (!noteJoined(turn, { vaultUuid, ...joined })) stopJoining(turn, vaultUuid);
        if (!isMember) audit(turn, 'shared-vault-joined', session, vaultUuid);
        return { success: true };
      },
    });
  },
);

/** Declines an invite, or cancels one that the user has sent. */
export const endVaultInvite = signedInWorkflow(Vaults.commands.endVaultInvite, async (workflow, request) => {
  const { id: by } = workflow.self;
  const inviteUuid = request.inviteUuid.toLowerCase();
  await workflow.turn(sessionCheckStep);
  const ended = await askVault(
    workflow,
    request.sharedVaultUuid,
    (vault) => vault.endInvite({ by, inviteUuid }),
    noSuchInvite,
  );
  if (isRefused(ended)) return ended;
  const vaultUuid = request.sharedVaultUuid.toLowerCase();
  return workflow.lastTurn({
    reads: (view) => inviteCopyPlan(view, vaultUuid),
    turn: (turn, reads) => {
      const copy = reads.copy.get({ user_uuid: by, vault_uuid: vaultUuid });
      if (copy?.uuid === inviteUuid) forgetInviteCopy(turn, { vaultUuid, inviteUuid }, reads);
      return { success: true };
    },
  });
});

export const declineInboundInvites = signedInWorkflow(
  Vaults.commands.declineInboundInvites,
  async (workflow) => {
    const { id: by } = workflow.self;
    const inbound = await workflow.turn({
      reads: (view) => ({ inbound: inboundInvitesPlan(view, ['vault_uuid', 'uuid']) }),
      turn: (_turn, { inbound }) => inbound.rows,
    });
    await forEach(inbound, ({ vault_uuid, uuid: inviteUuid }) =>
      askIfThere(workflow, Vault, vault_uuid, (vault) => vault.endInvite({ by, inviteUuid })),
    );
    return workflow.lastTurn({
      reads: () => ({
        copy: keys(
          inboundInviteTable,
          inbound.map(({ vault_uuid }) => ({ user_uuid: by, vault_uuid })),
        ),
      }),
      turn: (turn, reads) => {
        for (const { vault_uuid: vaultUuid, uuid: inviteUuid } of inbound) {
          forgetInviteCopy(turn, { vaultUuid, inviteUuid }, reads);
        }
        return { success: true };
      },
    });
  },
);
