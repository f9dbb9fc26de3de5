/**
 * Deletion of an account (docs/protocol/authentication.md, "Deletion of an account"):
 *
 *     begin   turn: the session, the path, the row with the hash
 *     guard   as for a change of credentials, then the hash
 *     delete  one commit: the row goes, which frees the address; all sessions go, so that every token is
 *             401 `invalid-auth`; the profile says `deleted`; the timer `purge` is armed
 *     purge   timer: removes the account's rows in bounded commits (actors/user/purge.ts)
 *
 * A crash leaves the whole account, or a deleted one whose purge goes on. To delete a deleted account succeeds: the MAC of the
 * token proves that it was the account's.
 */
import type { Turn } from '../../../runtime/command.ts';
import { type AccountRow, accountTable } from '../../identity/account-table.ts';
import { tellToForgetSender } from '../../mailer/outgoing.ts';
import type { Refused, SignedInAnswer } from '../../reply.ts';
import type { RaisedHooks } from '../hooks.ts';
import { adminRoleSlice, callerOf, noAdminRole, noProfile, profileSlice } from '../profile.ts';
import { purgeFromStart } from '../purge.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { notAllowed } from './change-credentials.ts';
import { Account } from './contract.ts';
import { ownAccount } from './own-account.ts';
import { forgetAddress, serverPasswordIs, wrongServerPassword } from './password-guard.ts';

type Done = Record<never, never>;

export const deleteAccount = (hooks: RaisedHooks) =>
  signedInWorkflow(Account.commands.deleteAccount, async (workflow, { userUuid, password }) => {
    const unless = deletedBefore(userUuid);
    const account = await workflow.turn({
      unless,
      reads: ownAccount,
      turn: (turn, { account }) => {
        const row = account.get({ user_uuid: turn.self.id });
        return userUuid === turn.self.id && row !== undefined ? row : notAllowed;
      },
    });
    const refused = await serverPasswordIs(workflow, account, password);
    if (refused !== undefined) return refused;
    return workflow.lastTurn({ unless, turn: (turn) => deleteNow(turn, hooks, account) });
  });

const deletedBefore =
  (userUuid: string) =>
  (turn: Turn): SignedInAnswer<Done> | undefined => {
    if (turn.get(profileSlice).state !== 'deleted') return undefined;
    const caller = callerOf(turn);
    return userUuid === turn.self.id ? { caller, ok: {} } : { caller, ...notAllowed };
  };

function deleteNow(turn: Turn, hooks: RaisedHooks, account: AccountRow): Done | Refused {
  if (turn.get(profileSlice).credentialsVersion !== account.credentials_version) {
    return wrongServerPassword;
  }
  turn.remove(accountTable, { user_uuid: turn.self.id });
  for (const accountDeleted of hooks('accountDeleted')) accountDeleted(turn);
  turn.set(profileSlice, { ...noProfile, state: 'deleted' });
  turn.set(adminRoleSlice, noAdminRole);
  tellToForgetSender(turn);
  forgetAddress(turn, account);
  turn.arm(Account.timers.purge, turn.nowMs, purgeFromStart);
  return {};
}
