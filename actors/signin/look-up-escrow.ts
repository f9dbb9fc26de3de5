/**
 * Looking up what was left for a recovery (docs/protocol/account.md, "Recovery of an account"), by only a
 * user's uuid. Every look-up is counted, right or not, whether or not the user exists, and one answer stands
 * for anything that is missing. Nor does the time tell: the account of no user is asked as well, without an activation.
 */
import { lookup, workflow } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { accountTable } from '../identity/account-table.ts';
import { refuse } from '../reply.ts';
import { User } from '../user/contract.ts';
import { Signin } from './contract.ts';
import { countedAttempt } from './counted-attempt.ts';

const unavailable = refuse(404, 'Account recovery is not available for this code.');

export const lookUpEscrow = workflow({
  ...Signin.commands.lookUpEscrow,
  creates: true,
  run: async (workflow, { userUuid, device }) => {
    const refused = await workflow.turn({
      recorded: true,
      turn: (turn) => {
        const counted = countedAttempt(turn, device);
        return 'refused' in counted ? counted : undefined;
      },
    });
    if (refused !== undefined) return refused;
    const isNobody = await workflow.turn({
      reads: () => ({ account: lookup(accountTable, [{ user_uuid: userUuid }]) }),
      turn: (_turn, { account }) => account.rows.length === 0,
    });
    try {
      const { escrow } = await workflow.actors.get(User, userUuid).ask.escrow({ isNobody });
      return escrow === undefined ? unavailable : { ok: escrow };
    } catch (error) {
      if (error instanceof NotFoundError) return unavailable;
      throw error;
    }
  },
});
