/**
 * Deletion of an account (docs/protocol/authentication.md, "Deletion of an account"):
 *
 *     begin   turn: the session, the path, the row with the hash
 *     guard   as for a change of credentials, then the hash
 *     delete  one commit: the row with the address goes, which frees the address; all sessions go, so that every token is 401 `invalid-auth`; the profile says `deleted`; the timer `purge` is armed
 *     purge   timer: removes the account's rows in bounded commits, then makes the actor a tombstone
 *     (actors/user/purge.ts)
 *
 * A crash leaves either the whole account or one that is deleted and whose purge goes on. Deleting a deleted account
 * is a success: the token's MAC proves that it was the account's.
 */
import type { Turn } from '../../../runtime/command.ts';
import { type AccountRow, accountTable } from '../../identity/account-table.ts';
import { tellToForgetSender } from '../../mailer/outgoing.ts';
import type { Refused, SignedInAnswer } from '../../reply.ts';
import { removeAuditTrail } from '../audit/trail.ts';
import { endCalendar } from '../calendar/forget.ts';
import { callerOf } from '../caller.ts';
import { User } from '../contract.ts';
import { forgetFiles } from '../files/by-token.ts';
import { noProfile, profileSlice } from '../profile.ts';
import { forgetDeliveries } from '../published-reminders/watch.ts';
import { purgeFromStart } from '../purge.ts';
import { noRank, rankSlice } from '../rank.ts';
import { forgetReminders } from '../reminders/send.ts';
import { endAllSessions } from '../sessions/end.ts';
import { revokedSessionMap } from '../sessions/session.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { forgetInvites } from '../subscription/invites.ts';
import { leaveShares } from '../subscription/shares.ts';
import { forgetSwitches } from '../switches/watch.ts';
import { notAllowed } from './change-credentials.ts';
import { ownAccount } from './own-account.ts';
import { forgetAddress, serverPasswordIs, wrongServerPassword } from './password-guard.ts';

type Done = Record<never, never>;

export const deleteAccount = signedInWorkflow({
  ...User.commands.deleteAccount,
  run: async (workflow, { userUuid, password }) => {
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
    return workflow.lastTurn({ unless, turn: (turn) => deleteNow(turn, account) });
  },
});

const deletedBefore =
  (userUuid: string) =>
  (turn: Turn): SignedInAnswer<Done> | undefined => {
    if (turn.get(profileSlice).state !== 'deleted') return undefined;
    const caller = callerOf(turn);
    return userUuid === turn.self.id ? { caller, ok: {} } : { caller, ...notAllowed };
  };

function deleteNow(turn: Turn, account: AccountRow): Done | Refused {
  if (turn.get(profileSlice).credentialsVersion !== account.credentials_version) {
    return wrongServerPassword;
  }
  turn.remove(accountTable, { user_uuid: turn.self.id });
  forgetInvites(turn);
  leaveShares(turn);
  forgetSwitches(turn);
  forgetReminders(turn);
  forgetFiles(turn);
  forgetDeliveries(turn);
  endCalendar(turn);
  turn.set(profileSlice, { ...noProfile, state: 'deleted' });
  turn.set(rankSlice, noRank);
  endAllSessions(turn);
  for (const uuid of turn.entries(revokedSessionMap).keys()) turn.removeEntry(revokedSessionMap, uuid);
  removeAuditTrail(turn);
  tellToForgetSender(turn);
  forgetAddress(turn, account);
  turn.arm(User.timers.purge, turn.nowMs, purgeFromStart);
  return {};
}
