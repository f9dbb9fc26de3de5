/** The account commands of the `user` actor (docs/protocol/authentication.md). */
import { fullKeyParams } from '../../identity/key-params.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { Signin } from '../../signin/contract.ts';
import { User } from '../contract.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { changeCredentials } from './change-credentials.ts';
import { deleteAccount } from './delete-account.ts';
import { openSession } from './open-session.ts';
import { ownAccount, ownRow } from './own-account.ts';
import { register } from './register.ts';

/** No second factor is asked for, and the challenge is stored where the following login looks for it. */
const keyParams = signedInWorkflow({
  ...User.commands.keyParams,
  run: async (workflow, { codeChallenge }) => {
    const { row, readonly } = await workflow.turn({
      reads: ownAccount,
      turn: (turn, reads, by) => ({ row: ownRow(turn, reads), readonly: by.readonly }),
    });
    // A session that may only read must not prepare a sign-in to one that may write, past the second factor.
    if (readonly) return fullKeyParams(row);
    const address = { email: row.identifier, workspace: row.workspace };
    const signin = workflow.actors.get(Signin, workflow.use(SigninKeys).actorId(address));
    await signin.ask.storeChallenge({ codeChallenge });
    return fullKeyParams(row);
  },
});

export const accountCommands = { register, openSession, keyParams, changeCredentials, deleteAccount };
