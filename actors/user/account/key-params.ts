import { fullKeyParams } from '../../identity/key-params.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { Signin } from '../../signin/contract.ts';
import { isBridge } from '../sessions/session.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { Account } from './contract.ts';
import { ownAccount, ownRow } from './own-account.ts';

/** Asks for no second factor. The challenge goes where the login that follows looks for it. */
export const keyParams = signedInWorkflow({
  ...Account.commands.keyParams,
  run: async (workflow, { codeChallenge }) => {
    const { row, maySignIn } = await workflow.turn({
      reads: ownAccount,
      turn: (turn, reads, { readonly, session }) => ({
        row: ownRow(turn, reads),
        maySignIn: !readonly && !isBridge(session),
      }),
    });
    // Such a session must not prepare a sign-in that passes the second factor and may do more than it.
    if (!maySignIn) return fullKeyParams(row);
    const address = { email: row.identifier, workspace: row.workspace };
    const signin = workflow.actors.get(Signin, workflow.use(SigninKeys).actorId(address));
    await signin.ask.storeChallenge({ codeChallenge });
    return fullKeyParams(row);
  },
});
