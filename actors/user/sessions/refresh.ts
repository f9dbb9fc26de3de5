/**
 * Refresh: a pair for a new pair (docs/protocol/authentication.md, "Refresh").
 *
 * A client that loses the answer of a refresh asks again with the pair it has, so a pair that was replaced less
 * than the grace time ago still refreshes, any number of times and in any order: each refresh puts the current
 * pair into grace and makes a new one. A client whose pair was replaced within the grace is never locked out,
 * which is why a session that has rotated too often within the grace refuses another refresh instead of
 * dropping a pair.
 */
import { command, type Turn } from '../../../runtime/command.ts';
import type { Device, Issued } from '../../identity/session.ts';
import type { Credentials } from '../../identity/session-tokens.ts';
import { answerOf, type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { findSession } from './check.ts';
import { Sessions } from './contract.ts';
import { renewSession } from './issue.ts';
import { inGrace, type Session, standingOf } from './session.ts';

interface RefreshRequest {
  readonly access: Credentials;
  readonly refreshSecrets: readonly string[];
  readonly apiVersion: string;
  readonly device: Device;
}

/** Pairs in grace at most; they all fit a slice many times over. */
const replacedPairsMax = 200;

const invalidParameters = refuse.badRequest('The provided parameters are not valid.', 'invalid-parameters');
const invalidRefreshToken = refuse.badRequest('The refresh token is not valid.', 'invalid-refresh-token');
const expiredRefreshToken = refuse.badRequest('The refresh token has expired.', 'expired-refresh-token');

export const refresh = command({
  ...Sessions.commands.refresh,
  repeat: 'recorded',
  turn: (turn, request) => answerOf(refreshSession(turn, request)),
});

function refreshSession(
  turn: Turn,
  { access, refreshSecrets, apiVersion, device }: RefreshRequest,
): Issued | Refused {
  const { nowMs } = turn;
  const graceMs = turn.use(AccountSettings).replacedPairGraceMs;
  const session = findSession(turn, access);
  if (session === undefined || session.legacy) return invalidParameters;
  if (standingOf(session, 'accessHash', access, nowMs, graceMs) === undefined) return invalidParameters;
  const refresh = { style: access.style, secrets: refreshSecrets };
  if (standingOf(session, 'refreshHash', refresh, nowMs, graceMs) === undefined) return invalidRefreshToken;
  if (nowMs >= session.refreshExpiresAtMs) return expiredRefreshToken;
  if (nowMs >= session.keptUntilMs) return invalidParameters;
  const retired = retireCurrent(session, nowMs, graceMs);
  if (retired.replaced.length > replacedPairsMax) return tooManyRefreshes(retired, nowMs, graceMs);
  return renewSession(turn, retired, { apiVersion, device });
}

function retireCurrent(session: Session, nowMs: number, graceMs: number): Session {
  const still = inGrace(session.replaced, nowMs, graceMs);
  return { ...session, replaced: [...still, { ...session.current, replacedAtMs: nowMs }] };
}

/** Room comes as soon as the oldest pair has left its grace. */
function tooManyRefreshes({ replaced: [oldest] }: Session, nowMs: number, graceMs: number): Refused {
  const message = 'Too many refreshes of one session. Please try again later.';
  const retryAfterMs = (oldest?.replacedAtMs ?? nowMs) + graceMs - nowMs;
  return refuse.tooMany(message, retryAfterMs);
}
