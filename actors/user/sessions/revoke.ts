/**
 * Ends other sessions of the account in a way that makes their clients wipe what they hold (docs/protocol/authentication.md,
 * "Revoking sessions").
 */
import type { Turn } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { signedInTurn } from '../signed-in.ts';
import { Sessions } from './contract.ts';
import {
  endSessions,
  knowsNoSessions,
  revokedSessionMap,
  type Session,
  sessionMap,
  sessionsMax,
} from './session.ts';

export const deleteSession = signedInTurn(Sessions.commands.deleteSession, {
  repeat: 'recorded',
  turn: (turn, { sessionUuid }, _reads, { session: current }) => {
    if (current.legacy) return knowsNoSessions;
    if (sessionUuid === current.uuid) return refuse.badRequest('You can not delete your current session.');
    const session = turn.entry(sessionMap, sessionUuid);
    if (session === undefined) return refuse.badRequest('No session exists with the provided identifier.');
    revoke(turn, [session]);
    audit(turn, 'session-revoked', current, sessionUuid);
    return {};
  },
});

export const deleteOtherSessions = signedInTurn(
  Sessions.commands.deleteOtherSessions,
  (turn, _request, _reads, { session: current }) => {
    if (current.legacy) return knowsNoSessions;
    const others = [...turn.entries(sessionMap).values()].filter(({ uuid }) => uuid !== current.uuid);
    revoke(turn, others);
    if (others.length > 0) audit(turn, 'other-sessions-revoked', current);
    return {};
  },
);

function revoke(turn: Turn, sessions: readonly Session[]): void {
  evictRevoked(turn, sessions.length);
  endSessions(
    turn,
    sessions.map(({ uuid }) => uuid),
  );
  for (const { uuid, privateIdentifier, refreshExpiresAtMs } of sessions) {
    turn.setEntry(revokedSessionMap, uuid, { privateIdentifier, keptUntilMs: refreshExpiresAtMs });
  }
}

/** Forgets what has expired. If that is not enough, forgets what would expire first. */
function evictRevoked(turn: Turn, count: number): void {
  const oldestFirst = [...turn.entries(revokedSessionMap)].toSorted(
    ([, a], [, b]) => a.keptUntilMs - b.keptUntilMs,
  );
  const surplus = oldestFirst.length + count - sessionsMax;
  for (const [index, [uuid, { keptUntilMs }]] of oldestFirst.entries()) {
    if (index < surplus || keptUntilMs <= turn.nowMs) turn.removeEntry(revokedSessionMap, uuid);
  }
}
