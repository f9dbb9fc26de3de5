/**
 * Deletion of an account (auth.md 9):
 *
 *     begin   turn: the session, the path, the row with the hash
 *     guard   as for a change of credentials, then the hash
 *     delete  one commit: the row that holds the address goes, so that the address is free; all sessions go, so that
 *             every token is 401 `invalid-auth`; the profile says `deleted`; the timer `purge` is armed
 *     purge   timer: removes the account's rows in bounded commits, then buries the actor (purge.ts)
 *
 * A crash leaves either the whole account or one that is deleted and whose purge goes on. Deleting a deleted account
 * is a success: the token's MAC proves that it was the account's.
 */
import { z } from 'zod';
import { type Flow, type FlowCommand, flow, keys, type Turn } from '../../../runtime/command.ts';
import type { UserServices } from '../../services.ts';
import { type Caller, callerOf, noProfile, profileSlice } from '../profile.ts';
import { purgeFromStart } from '../purge.ts';
import { isRefused, refuse } from '../refusal.ts';
import { type Credentials, credentialsSchema } from '../sessions/credentials.ts';
import { revokedSessionMap } from '../sessions/session.ts';
import { authenticate, type SignedInReply, signedInReplySchema } from '../signed-in.ts';
import { type AccountRow, accountTable } from './account-table.ts';
import { endAllSessions, notAllowed } from './change-credentials.ts';
import { passwordIs, resetAttempts } from './password-guard.ts';

export interface AccountDeletion {
  readonly credentials: Credentials;
  /** Of the path; has to be the caller's own. */
  readonly userUuid: string;
  /** `x-server-password`. */
  readonly password?: string | undefined;
}

const deletionSchema: z.ZodType<AccountDeletion> = z.object({
  credentials: credentialsSchema,
  userUuid: z.string(),
  password: z.string().optional(),
});

type Reply = SignedInReply<Record<never, never>>;

const passwordMissing = refuse(400, 'Please update your application to the latest version.');
const wrongPassword = refuse(400, 'The password you entered is incorrect. Please try again.');

/** Errors: 400, 401 and 403 of auth.md 9; 423 after too many wrong passwords. */
export function deleteAccountCommand(services: UserServices): FlowCommand<AccountDeletion, Reply> {
  return flow({
    request: deletionSchema,
    reply: signedInReplySchema(z.object({})),
    run: async (flow, deletion) => {
      const begun = await begin(flow, services, deletion);
      if ('refused' in begun || 'reply' in begun) return begun;
      const { caller, account } = begun;
      const { password } = deletion;
      if (password === undefined || password === '') return { caller, ...passwordMissing };
      const refused = await passwordIs(flow, services, account, password, wrongPassword);
      if (refused !== undefined) return { caller, ...refused };
      return flow.turn({ turn: (turn) => deleteAccount(turn, services, caller, account) });
    },
  });
}

type Begun = { readonly caller: Caller; readonly account: AccountRow };

function begin(
  flow: Flow,
  { settings }: UserServices,
  { credentials, userUuid }: AccountDeletion,
): Promise<Begun | Reply> {
  return flow.turn({
    reads: (view) => ({ account: keys(accountTable, [{ user_uuid: view.self.id }]) }),
    turn: (turn, { account }): Begun | Reply => {
      const profile = turn.get(profileSlice);
      if (profile.state === 'deleted') {
        const caller = callerOf(turn.self.id, profile, settings);
        return userUuid === turn.self.id ? { caller, reply: {} } : { caller, ...notAllowed };
      }
      const signedIn = authenticate(turn, turn.nowMs, credentials, settings, true);
      if (isRefused(signedIn)) return signedIn;
      const { caller } = signedIn;
      const row = account.get({ user_uuid: turn.self.id });
      if (userUuid !== turn.self.id || row === undefined) return { caller, ...notAllowed };
      return { caller, account: row };
    },
  });
}

function deleteAccount(turn: Turn, services: UserServices, caller: Caller, account: AccountRow): Reply {
  const profile = turn.get(profileSlice);
  if (profile.state === 'deleted') return { caller, reply: {} };
  if (profile.credentialsVersion !== account.credentials_version) return { caller, ...wrongPassword };
  turn.remove(accountTable, { user_uuid: turn.self.id });
  turn.set(profileSlice, { ...noProfile, state: 'deleted' });
  endAllSessions(turn);
  for (const uuid of turn.entries(revokedSessionMap).keys()) turn.removeEntry(revokedSessionMap, uuid);
  resetAttempts(turn, services, account);
  turn.arm('purge', turn.nowMs, purgeFromStart);
  return { caller, reply: {} };
}
