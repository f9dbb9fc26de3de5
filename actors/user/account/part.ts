/** The account as a whole: it begins, changes its credentials and ends (docs/protocol/authentication.md). */
import { accountTable } from '../../identity/account-table.ts';
import { CaptchaVerifier } from '../../identity/captcha.ts';
import { PasswordHasher } from '../../identity/password-hasher.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { AccountSettings } from '../../settings.ts';
import { type RaisedHooks, userPart } from '../hooks.ts';
import { mailOutcomeTell } from '../mails.ts';
import { banSlice, profileSlice } from '../profile.ts';
import { purgeTimer } from '../purge.ts';
import { adminRoleSlice } from '../roles.ts';
import { changeCredentials, upgradeSlice } from './change-credentials.ts';
import { Account } from './contract.ts';
import { deleteAccount } from './delete-account.ts';
import { keyParams } from './key-params.ts';
import { openSession } from './open-session.ts';
import { register } from './register.ts';
import { banningMap } from './set-ban.ts';

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
