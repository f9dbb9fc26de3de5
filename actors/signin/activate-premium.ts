/** Activates a subscription for the account that a conformance run names (docs/protocol/account.md, "Conformance runs"). */
import { lookup, workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { accountKey, accountTable } from '../identity/account-table.ts';
import { Subscription } from '../user/subscription/contract.ts';
import { Signin } from './contract.ts';
import { expireLater } from './expiry.ts';

export const activatePremium = workflow(Signin.commands.activatePremium, {
  creates: true,
  run: async (workflow, { premium, ...address }) => {
    const userUuid = await workflow.turn({
      reads: () => ({ account: lookup(accountTable, [accountKey(address)]) }),
      turn: (turn, { account }) => {
        expireLater(turn);
        return account.rows[0]?.user_uuid;
      },
    });
    if (userUuid === undefined) return { activated: false };
    const answer = workflow.actors.get(Subscription, userUuid).ask.activatePremium(premium);
    return (await unlessAbsent(answer)) ?? { activated: false };
  },
});
