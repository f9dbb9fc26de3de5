import { command } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { findSession } from './check.ts';
import { Sessions } from './contract.ts';
import { endSessions, graceStartMsOf, pairStatusOf } from './session.ts';

const invalidSessionToken = refuse.unauthenticated('Invalid session token.');

export const logout = command({
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
