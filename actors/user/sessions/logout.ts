import { command } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { audit } from '../audit/trail.ts';
import { findSession } from './check.ts';
import { Sessions } from './contract.ts';
import { endSessions, standingOf } from './session.ts';

const invalidSessionToken = refuse.unauthenticated('Invalid session token.');

export const logout = command({
  ...Sessions.commands.logout,
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
