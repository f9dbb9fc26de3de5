/** The account as a whole: it begins, changes its credentials and ends (docs/protocol/authentication.md). */
import { accountTable } from '../../identity/account-table.ts';
import { CaptchaVerifier } from '../../identity/captcha.ts';
import { fullKeyParams } from '../../identity/key-params.ts';
import { PasswordHasher } from '../../identity/password-hasher.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { AccountSettings } from '../../settings.ts';
import { Signin } from '../../signin/contract.ts';
import { type RaisedHooks, userPart } from '../hooks.ts';
import { mailOutcomeTell } from '../mails.ts';
import { adminRoleSlice, banSlice, profileSlice } from '../profile.ts';
import { purgeTimer } from '../purge.ts';
import { isBridge } from '../sessions/session.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { changeCredentials, upgradeSlice } from './change-credentials.ts';
import { Account } from './contract.ts';
import { deleteAccount } from './delete-account.ts';
import { openSession } from './open-session.ts';
import { ownAccount, ownRow } from './own-account.ts';
import { register } from './register.ts';
import { banningMap } from './set-ban.ts';

/** Asks for no second factor. The challenge goes where the login that follows looks for it. */
const keyParams = signedInWorkflow({
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

export const account = (hooks: RaisedHooks) =>
  userPart(Account, {
    name: 'account',
    uses: [AccountSettings, CaptchaVerifier, PasswordHasher, SigninKeys],
    slices: [profileSlice, upgradeSlice, adminRoleSlice, banSlice, banningMap],
    tables: [accountTable],
    commands: {
      register,
      openSession: openSession(hooks),
      keyParams,
      changeCredentials: changeCredentials(hooks),
      deleteAccount: deleteAccount(hooks),
    },
    tells: { mailOutcome: mailOutcomeTell(hooks) },
    timers: { purge: purgeTimer(hooks) },
  });
