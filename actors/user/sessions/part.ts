/** The sessions of an account (docs/protocol/authentication.md). */
import { command, type Turn } from '../../../runtime/command.ts';
import { SessionTokens } from '../../identity/session-tokens.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { isActive } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { Sessions } from './contract.ts';
import { listSessions } from './list-sessions.ts';
import { refresh } from './refresh.ts';
import { deleteOtherSessions, deleteSession } from './revoke.ts';
import {
  endAllSessions,
  endSessions,
  findSession,
  graceStartMsOf,
  pairStatusOf,
  revokedSessionMap,
  sessionMap,
} from './session.ts';

const openSocket = command({
  ...Sessions.commands.openSocket,
  turn: (turn, { gateway, sessions }) => {
    const leftMs = (uuid: string) => (turn.entry(sessionMap, uuid)?.keptUntilMs ?? 0) - turn.nowMs;
    const living = isActive(turn) ? sessions.filter((uuid) => leftMs(uuid) > 0) : [];
    if (living.length === 0) return { living };
    return {
      living,
      host: turn.subscribe(gateway),
      vaults: Object.fromEntries(membershipsOf(turn)),
      endsInMs: Math.min(...living.map(leftMs)),
    };
  },
});

const invalidSessionToken = refuse.unauthenticated('Invalid session token.');

const logout = command({
  ...Sessions.commands.logout,
  repeat: 'recorded',
  turn: (turn, { credentials }) => {
    const session = findSession(turn, credentials);
    if (session === undefined || turn.nowMs >= session.keptUntilMs) return invalidSessionToken;
    if (!pairStatusOf(session, 'accessHash', credentials, graceStartMsOf(turn))) return invalidSessionToken;
    endSessions(turn, [session.uuid]);
    audit(turn, 'signed-out', session, session.uuid);
    return { ok: { sessionUuid: session.uuid } };
  },
});

const validateSession = signedInRead({
  ...Sessions.commands.validateSession,
  answer: (_view, _request, _reads, { session, readonly }) => ({ sessionUuid: session.uuid, readonly }),
});

const validateBearer = signedInRead({ ...Sessions.commands.validateBearer, answer: () => ({}) });

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
