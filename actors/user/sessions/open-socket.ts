/** The session commands of the `user` actor (docs/protocol/authentication.md). */
import { command } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { audit } from '../audit/trail.ts';
import { User } from '../contract.ts';
import { profileSlice } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { findSession } from './check.ts';
import { endSessions } from './end.ts';
import { listSessions } from './list-sessions.ts';
import { refresh } from './refresh.ts';
import { deleteOtherSessions, deleteSession } from './revoke.ts';
import { sessionMap, standingOf } from './session.ts';

const invalidSessionToken = refuse(401, 'Invalid session token.');

const logout = command({
  ...User.commands.logout,
  repeat: 'recorded',
  turn: (turn, { credentials }) => {
    const session = findSession(turn, credentials);
    if (session === undefined || turn.nowMs >= session.keptUntilMs) return invalidSessionToken;
    const graceMs = turn.use(AccountSettings).replacedPairGraceMs;
    if (!standingOf(session, 'accessHash', credentials, turn.nowMs, graceMs)) return invalidSessionToken;
    endSessions(turn, [session.uuid]);
    audit(turn, 'signed-out', session, session.uuid);
    return { ok: { sessionUuid: session.uuid } };
  },
});

const validateSession = signedInRead({
  ...User.commands.validateSession,
  answer: (_view, _request, _reads, { session, readonly }) => ({ sessionUuid: session.uuid, readonly }),
});

const validateBearer = signedInRead({ ...User.commands.validateBearer, answer: () => ({}) });

const openSocket = command({
  ...User.commands.openSocket,
  turn: (turn, { gateway, sessions }) => {
    const isActive = turn.get(profileSlice).state === 'active';
    const leftMs = (uuid: string) => (turn.entry(sessionMap, uuid)?.keptUntilMs ?? 0) - turn.nowMs;
    const living = isActive ? sessions.filter((uuid) => leftMs(uuid) > 0) : [];
    if (living.length === 0) return { living };
    return {
      living,
      host: turn.subscribe(gateway),
      vaults: Object.fromEntries(membershipsOf(turn)),
      endsInMs: Math.min(...living.map(leftMs)),
    };
  },
});

export const sessionCommands = {
  refresh,
  logout,
  listSessions,
  deleteSession,
  deleteOtherSessions,
  validateSession,
  validateBearer,
  openSocket,
};
