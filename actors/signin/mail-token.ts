/**
 * A subscription token by mail (docs/protocol/account.md, "Subscription tokens"), for whoever owns the address. Whether
 * there is such an account is told to nobody: the turn that counts the request also tells the account, if there is one,
 * so both take the same steps, and the mail leaves later.
 */
import { lookup, workflow } from '../../runtime/command.ts';
import { accountTable, addressKey } from '../identity/account-table.ts';
import { isMailConfigured, refusalOf } from '../mailer/outgoing.ts';
import { User } from '../user/contract.ts';
import { Signin } from './contract.ts';
import { debitAttempt, originOf, refusedAttempt, tooMany } from './counting.ts';
import { expireLater } from './expiry.ts';

/** Nothing that waiting would mend. */
const noMail = {
  refused: { ...refusalOf({ queued: false, why: 'not-configured', retryAfterMs: 0 }), status: 400 },
};

export const mailSubscriptionToken = workflow({
  ...Signin.commands.mailSubscriptionToken,
  creates: true,
  run: async (workflow, { device, ...address }) => {
    if (!(await isMailConfigured(workflow.actors))) return noMail;
    return workflow.turn({
      recorded: true,
      reads: () => ({ account: lookup(accountTable, [addressKey(address)]) }),
      turn: (turn, { account }) => {
        const origin = originOf(turn, { ipAddress: device.ipAddress });
        if (refusedAttempt(turn, origin, true) !== undefined) return tooMany;
        debitAttempt(turn, origin);
        expireLater(turn);
        for (const { user_uuid } of account.rows) {
          turn.tell(User, user_uuid).mailSubscriptionToken({ email: address.email });
        }
        return { ok: {} };
      },
    });
  },
});
