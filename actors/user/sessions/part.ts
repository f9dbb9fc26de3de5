/** The sessions of an account (docs/protocol/authentication.md). */
import type { Turn } from '../../../runtime/command.ts';
import { SessionTokens } from '../../identity/session-tokens.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { Sessions } from './contract.ts';
import { endAllSessions } from './end.ts';
import { listSessions } from './list-sessions.ts';
import { logout } from './logout.ts';
import { openSocket } from './open-socket.ts';
import { refresh } from './refresh.ts';
import { deleteOtherSessions, deleteSession } from './revoke.ts';
import { revokedSessionMap, sessionMap } from './session.ts';
import { validateBearer, validateSession } from './validate.ts';

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

/** Every token of the account is worthless from now on, and no device is told to wipe its data. */
function forgetSessions(turn: Turn): void {
  endAllSessions(turn);
  for (const uuid of turn.entries(revokedSessionMap).keys()) turn.removeEntry(revokedSessionMap, uuid);
}
