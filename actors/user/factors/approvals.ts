/**
 * Sign-ins that wait for an approval by one of the account's devices (docs/protocol/account.md, "Approval by another device").
 * The `signin` actor of the address has them, as it has all unfinished sign-ins.
 */
import { tell } from '../../../runtime/command.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { refuse } from '../../reply.ts';
import { Signin } from '../../signin/contract.ts';
import { approvalRequested as requested, User } from '../contract.ts';
import { isActive, profileSlice } from '../profile.ts';
import { type SignedInWorkflow, signedInWorkflow } from '../signed-in.ts';
import { Factors } from './contract.ts';

const notPending = refuse.badRequest('This sign-in does not wait for an approval any more.');

const listApprovals = signedInWorkflow(Factors.commands.listApprovals, async (workflow) => {
  const { signin } = await ownSignin(workflow);
  const { approvals } = await signin.ask.pendingApprovals({});
  const pendingApprovals = approvals.map(({ uuid, userAgent, ipAddress, createdAtMs, expiresAtMs }) => ({
    uuid,
    challengeId: uuid,
    status: 'pending',
    requestingUserAgent: userAgent ?? '',
    requestingIpAddress: ipAddress,
    createdAt: createdAtMs,
    expiresAt: expiresAtMs,
  }));
  return { pendingApprovals };
});

const showApproval = signedInWorkflow(Factors.commands.showApproval, async (workflow, { challengeId }) => {
  const { signin } = await ownSignin(workflow);
  return signin.ask.approvalStatus({ uuid: challengeId });
});

const resolveApproval = signedInWorkflow(
  Factors.commands.resolveApproval,
  async (workflow, { challengeId, approve }) => {
    const { signin, from } = await ownSignin(workflow);
    const { resolved } = await signin.ask.resolveApproval({
      uuid: challengeId,
      approve: approve === true,
      userUuid: workflow.self.id,
      from,
    });
    if (!resolved) return notPending;
    return { status: approve === true ? ('approved' as const) : ('denied' as const) };
  },
);

/** A device that is in use shows the sign-in at once. */
export const approvalRequestedTell = tell(Factors.tells.approvalRequested, (turn, approval) => {
  if (!isActive(turn)) return;
  if (turn.nowMs < approval.expiresAtMs) turn.publish(User, requested(approval));
});

async function ownSignin<Ok>(workflow: SignedInWorkflow<Ok>) {
  const { address, from } = await workflow.turn({
    turn: (turn, _reads, { session: { userAgent, ipAddress } }) => {
      const { email, workspace } = turn.get(profileSlice);
      return { address: { email, workspace }, from: { userAgent, ipAddress } };
    },
  });
  const signin = workflow.actors.get(Signin, workflow.use(SigninKeys).actorId(address));
  return { signin, from };
}

export const approvalCommands = { listApprovals, showApproval, resolveApproval };
