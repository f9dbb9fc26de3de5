/** The sessions of an account (docs/protocol/authentication.md). */
import type { Turn } from '../../../runtime/command.ts';
import { SessionTokens } from '../../identity/session-tokens.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { signedInRead } from '../signed-in.ts';
import { Sessions } from './contract.ts';
import { listSessions } from './list-sessions.ts';
import { logout } from './logout.ts';
import { openSocket } from './open-socket.ts';
import { refresh } from './refresh.ts';
import { deleteOtherSessions, deleteSession } from './revoke.ts';
import { endAllSessions, revokedSessionMap, sessionMap } from './session.ts';

export const validateSession = signedInRead({
  ...Sessions.commands.validateSession,
  answer: (_view, _request, _reads, { session, readonly }) => ({ sessionUuid: session.uuid, readonly }),
});

export const validateBearer = signedInRead({ ...Sessions.commands.validateBearer, answer: () => ({}) });

export const sessions = userPart(Sessions, {
  name: 'sessions',
  uses: [AccountSettings, SessionTokens],
  slices: [sessionMap, revokedSessionMap],
  commands: {
    refresh,
    logout,
    listSessions,
    deleteSession,
    deleteOtherSessions,
    validateSession,
    validateBearer,
    openSocket,
  },
  on: { accountDeleted: forgetSessions, banned: endAllSessions },
});

/** Makes every token of the account worthless. The sessions do not become "revoked", so no device wipes its data. */
function forgetSessions(turn: Turn): void {
  endAllSessions(turn);
  for (const uuid of turn.entries(revokedSessionMap).keys()) turn.removeEntry(revokedSessionMap, uuid);
}
