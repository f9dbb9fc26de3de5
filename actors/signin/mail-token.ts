/**
 * A subscription token by mail (docs/protocol/account.md, "Subscription tokens"), for the owner of the address. Nobody
 * learns whether there is such an account: the turn that counts the request also tells a user, who does not exist where
 * there is no account. So both take the same steps, and the mail leaves later.
 *
 * The request counts together with those for codes, so that the owner pays for no limit where they have signed in before.
 */
import { lookup, workflow } from '../../runtime/command.ts';
import { accountTable, addressKey } from '../identity/account-table.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { refusalOfMail } from '../mailer/outgoing.ts';
import { Subscription } from '../user/subscription/contract.ts';
import { Signin } from './contract.ts';
import { countMailRequest } from './emailed-codes.ts';
import { expireLater } from './expiry.ts';

export const mailSubscriptionToken = workflow({
  ...Signin.commands.mailSubscriptionToken,
  creates: true,
  run: async (workflow, { device, cookieSessions, ...address }) => {
    const noMail = await refusalOfMail(workflow.actors, 'other');
    if (noMail !== undefined) return noMail;
    return workflow.turn({
      recorded: true,
      reads: () => ({ account: lookup(accountTable, [addressKey(address)]) }),
      turn: (turn, { account }) => {
        const full = countMailRequest(turn, { ipAddress: device.ipAddress, cookieSessions });
        if (full !== undefined) return full;
        const userUuid = account.rows[0]?.user_uuid ?? turn.use(SigninKeys).pseudoUser(address);
        turn.tell(Subscription, userUuid).mailSubscriptionToken({ email: address.email });
        expireLater(turn);
        return { ok: {} };
      },
    });
  },
});
