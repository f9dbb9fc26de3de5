/**
 * Refresh: a new token pair for an old one (docs/protocol/authentication.md, "Refresh").
 *
 * A client that loses the answer asks again with its old pair. So a pair that was replaced less than the grace time ago can still
 * refresh, any number of times and in any order. Each refresh puts the current pair into grace and makes a new one.
 *
 * A client whose pair is in grace is never locked out. So a session with too many pairs in grace refuses the next refresh
 * instead of dropping a pair.
 */
import type { z } from 'zod';
import { command, type Turn } from '../../../runtime/command.ts';
import type { IssuedSession } from '../../identity/session.ts';
import { answerOf, type Refused, refuse } from '../../reply.ts';
import { Sessions } from './contract.ts';
import { renewSession } from './issue.ts';
import { findSession, graceStartMsOf, inGrace, pairStatusOf, type Session } from './session.ts';

type RefreshRequest = z.infer<typeof Sessions.commands.refresh.request>;

/** The most pairs in grace. A slice has room for many more. */
const replacedPairsMax = 200;

const invalidParameters = refuse.badRequest('The provided parameters are not valid.', 'invalid-parameters');
const invalidRefreshToken = refuse.badRequest('The refresh token is not valid.', 'invalid-refresh-token');
const expiredRefreshToken = refuse.badRequest('The refresh token has expired.', 'expired-refresh-token');

export const refresh = command(Sessions.commands.refresh, {
  repeat: 'recorded',
  turn: (turn, request) => answerOf(refreshSession(turn, request)),
});

function refreshSession(
  turn: Turn,
  { access, refreshSecrets, apiVersion, device }: RefreshRequest,
): IssuedSession | Refused {
  const { nowMs } = turn;
  const graceStartMs = graceStartMsOf(turn);
  const session = findSession(turn, access);
  if (session === undefined || session.legacy) return invalidParameters;
  if (pairStatusOf(session, 'accessHash', access, graceStartMs) === undefined) return invalidParameters;
  const refresh = { style: access.style, secrets: refreshSecrets };
  if (pairStatusOf(session, 'refreshHash', refresh, graceStartMs) === undefined) return invalidRefreshToken;
  if (nowMs >= session.refreshExpiresAtMs) return expiredRefreshToken;
  if (nowMs >= session.keptUntilMs) return invalidParameters;
  const retired = retireCurrent(session, nowMs, graceStartMs);
  if (retired.replaced.length > replacedPairsMax) return tooManyRefreshes(retired, graceStartMs);
  return renewSession(turn, retired, { apiVersion, device });
}

function retireCurrent(session: Session, nowMs: number, graceStartMs: number): Session {
  const remaining = inGrace(session.replaced, graceStartMs);
  return { ...session, replaced: [...remaining, { ...session.current, replacedAtMs: nowMs }] };
}

/** The client may try again once the oldest pair leaves grace. */
function tooManyRefreshes({ replaced: [oldest] }: Session, graceStartMs: number): Refused {
  const message = 'Too many refreshes of one session. Please try again later.';
  return refuse.tooMany(message, (oldest?.replacedAtMs ?? graceStartMs) - graceStartMs);
}
