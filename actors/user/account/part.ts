/** The account as a whole: registration, change of credentials and deletion (docs/protocol/authentication.md). */

import { command, type KeysResult, keys, type Turn } from '../../../runtime/command.ts';
import { accountTable } from '../../identity/account-table.ts';
import { CaptchaVerifier } from '../../identity/captcha.ts';
import { fullKeyParams } from '../../identity/key-params.ts';
import { PasswordHasher } from '../../identity/password-hasher.ts';
import { sessionUuidOf } from '../../identity/session.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { AccountSettings } from '../../settings.ts';
import { Signin } from '../../signin/contract.ts';
import { audit } from '../audit/trail.ts';
import { restoreFactors } from '../factors/restore.ts';
import { type RaisedHooks, userPart } from '../hooks.ts';
import { mailOutcomeTell } from '../mails.ts';
import { noteNewDevice, noteRecovery } from '../notices.ts';
import { adminRoleSlice, banSlice, isBanned, profileSlice } from '../profile.ts';
import { purgeTimer } from '../purge.ts';
import { grantAccess } from '../sessions/issue.ts';
import { isBridge } from '../sessions/session.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { changeCredentials, upgradeSlice } from './change-credentials.ts';
import { Account } from './contract.ts';
import { deleteAccount } from './delete-account.ts';
import { ownAccount, ownRow } from './own-account.ts';
import { register } from './register.ts';
import { banningMap } from './set-ban.ts';

const openSession = (hooks: RaisedHooks) =>
  command(Account.commands.openSession, {
    repeat: 'recorded',
    reads: (view, { newHash }) => ({
      account: keys(accountTable, newHash === undefined ? [] : [{ user_uuid: view.self.id }]),
    }),
    turn: (
      turn,
      { credentialsVersion, email, workspace, recoveryCodes, isNewDevice, newHash, ...newSession },
      { account },
    ) => {
      const profile = turn.get(profileSlice);
      const isCurrent =
        profile.state === 'active' &&
        profile.credentialsVersion === credentialsVersion &&
        profile.email === email &&
        profile.workspace === workspace;
      if (!isCurrent) return { stale: true } as const;
      if (isBanned(turn)) {
        audit(turn, 'sign-in-refused-by-ban', newSession.device);
        return { banned: true } as const;
      }
      if (!isRecovered(turn, recoveryCodes)) return { stale: true } as const;
      if (newHash !== undefined) replaceHash(turn, newHash, account);
      for (const signedIn of hooks('signedIn')) signedIn(turn);
      const { protocolVersion } = profile;
      const issued = grantAccess(turn, protocolVersion, { ...newSession, readonly: false });
      if (recoveryCodes !== undefined) {
        audit(turn, 'recovery-codes-used', newSession.device);
        noteRecovery(turn, email);
      } else if (isNewDevice) noteNewDevice(turn, email, newSession.device);
      const event = isNewDevice ? 'signed-in-from-new-device' : 'signed-in';
      audit(turn, event, newSession.device, sessionUuidOf(issued));
      return { issued, protocolVersion };
    },
  });

const isRecovered = (turn: Turn, recoveryCodes: string | undefined): boolean =>
  recoveryCodes === undefined || restoreFactors(turn, recoveryCodes);

function replaceHash(turn: Turn, newHash: string, account: KeysResult<typeof accountTable>): void {
  const row = account.get({ user_uuid: turn.self.id });
  if (row !== undefined) turn.put(accountTable, { ...row, password_hash: newHash });
}

/** Asks for no second factor. The challenge goes where the login that follows looks for it. */
const keyParams = signedInWorkflow(Account.commands.keyParams, async (workflow, { codeChallenge }) => {
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
