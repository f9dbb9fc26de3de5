/**
 * Looks up the ciphertext for a recovery (docs/protocol/account.md, "Recovery of an account") by only a user's uuid. Every look-up
 * counts for its network, whether or not the user exists, and anything missing has the same answer. The time does not show it
 * either: the account is asked even if there is no such user, without an activation.
 *
 * A look-up that finds something gives all attempts back. So nobody who knows the uuid can keep the owner from recovering.
 */
import { lookup, workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { accountTable } from '../identity/account-table.ts';
import { refuse } from '../reply.ts';
import { Factors } from '../user/factors/contract.ts';
import { Signin } from './contract.ts';
import { countedAttempt } from './counted-attempt.ts';
import { forgetAttempts } from './counting.ts';
import { takeTurnsOfUser } from './unknown-account.ts';

const unavailable = refuse.notFound('Account recovery is not available for this code.');

export const lookUpEscrow = workflow(Signin.commands.lookUpEscrow, {
  creates: true,
  run: async (workflow, { userUuid, device }) => {
    const refused = await workflow.turn({
      recorded: true,
      turn: (turn) => countedAttempt(turn, device),
    });
    if (refused !== undefined) return refused;
    const isNobody = await workflow.turn({
      reads: () => ({ account: lookup(accountTable, [{ user_uuid: userUuid }]) }),
      turn: (_turn, { account }) => account.rows.length === 0,
    });
    const answer = await unlessAbsent(workflow.actors.get(Factors, userUuid).ask.escrow({ isNobody }));
    if (answer === undefined) return unavailable;
    if (isNobody) await takeTurnsOfUser(workflow, 1);
    if (answer.escrow === undefined) return unavailable;
    await workflow.turn({ turn: (turn) => forgetAttempts(turn) });
    return { ok: answer.escrow };
  },
});
