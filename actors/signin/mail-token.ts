/**
 * Mails a subscription token to the owner of the address (docs/protocol/account.md, "Subscription tokens"). The answer does not show
 * whether there is such an account. The turn that counts the request also tells a user actor, which does not exist if there is no
 * account. So both cases take the same steps, and the mail leaves later.
 *
 * The request counts together with those for codes. So strangers cannot use up the requests of a network or device that the owner has
 * signed in from.
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
