/**
 * Mails that anyone may request for an address. One has a code that the next `login-params` asks for (docs/protocol/account.md,
 * "Codes by e-mail"). The other has a subscription token for the owner (docs/protocol/account.md, "Subscription tokens").
 *
 * Every address, known or not, gets the same answer after the same work. Work that differs is done after the answer has left.
 * The turn that counts the request tells a user actor, which does not exist if there is no account. All requests count together.
 * So others cannot use up the requests of a network or device that the owner has signed in from.
 */
import { lookup, tell, workflow } from '../../runtime/command.ts';
import { accountKey, accountTable, readAccount } from '../identity/account-table.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { refusalOfMail } from '../mailer/outgoing.ts';
import { Factors } from '../user/factors/contract.ts';
import { Subscription } from '../user/subscription/contract.ts';
import { Signin } from './contract.ts';
import { codeAgeMs, countMailRequest, makeEmailedCode } from './emailed-codes.ts';
import { expireLater } from './expiry.ts';

export const mailSubscriptionToken = workflow(Signin.commands.mailSubscriptionToken, {
  creates: true,
  run: async (workflow, { device, cookieSessions, ...address }) => {
    const noMail = await refusalOfMail(workflow.actors, 'other');
    if (noMail !== undefined) return noMail;
    return workflow.turn({
      recorded: true,
      reads: () => ({ account: lookup(accountTable, [accountKey(address)]) }),
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

export const requestCode = workflow(Signin.commands.requestCode, {
  creates: true,
  run: async (workflow, { device, cookieSessions, ...address }) => {
    const noMail = await refusalOfMail(workflow.actors, 'magic-link');
    if (noMail !== undefined) return noMail;
    const account = await readAccount(workflow, address);
    return workflow.turn({
      recorded: true,
      turn: (turn) => {
        const full = countMailRequest(turn, { ipAddress: device.ipAddress, cookieSessions });
        if (full !== undefined) return full;
        const nonce = makeEmailedCode(turn, device.ipAddress);
        const expiresAtMs = turn.nowMs + codeAgeMs;
        const from = account && { ...address, userUuid: account.user_uuid, nonce, expiresAtMs };
        turn.tell(Signin, turn.self.id).codeRequested({ from: from ?? null });
        expireLater(turn);
        return { ok: { emailed: true } };
      },
    });
  },
});

export const codeRequested = tell(Signin.tells.codeRequested, (turn, { from }) => {
  if (from === null) return;
  const { userUuid, ...requested } = from;
  turn.tell(Factors, userUuid).mailCode(requested);
});
