/**
 * A subscription token by mail (docs/protocol/account.md, "Subscription tokens"), for whoever owns the address. Whether
 * there is such an account is told to nobody: the turn that counts the request also tells the account, if there is one,
 * so both take the same steps, and the mail leaves later.
 */
import { lookup, workflow } from '../../runtime/command.ts';
import { accountTable, addressKey } from '../identity/account-table.ts';
import { refusalOfMail } from '../mailer/outgoing.ts';
import { User } from '../user/contract.ts';
import { Signin } from './contract.ts';
import { countedAttempt } from './counted-attempt.ts';

export const mailSubscriptionToken = workflow({
  ...Signin.commands.mailSubscriptionToken,
  creates: true,
  run: async (workflow, { device, ...address }) => {
    const noMail = await refusalOfMail(workflow.actors, 'other');
    if (noMail !== undefined) return noMail;
    return workflow.turn({
      recorded: true,
      reads: () => ({ account: lookup(accountTable, [addressKey(address)]) }),
      turn: (turn, { account }) => {
        const counted = countedAttempt(turn, device);
        if ('refused' in counted) return counted;
        for (const { user_uuid } of account.rows) {
          turn.tell(User, user_uuid).mailSubscriptionToken({ email: address.email });
        }
        return { ok: {} };
      },
    });
  },
});
