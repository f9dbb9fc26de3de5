/** The sessions of an account (docs/protocol/authentication.md). */
import { type ClockedView, command, type Turn } from '../../../runtime/command.ts';
import type { SessionEntry } from '../../identity/session.ts';
import { SessionTokens } from '../../identity/session-tokens.ts';
import { refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { isoTime } from '../../times.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { isActive } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { Sessions } from './contract.ts';
import { deviceInfo } from './device-info.ts';
import { refresh } from './refresh.ts';
import { deleteOtherSessions, deleteSession } from './revoke.ts';
import {
  endAllSessions,
  endSessions,
  findSession,
  graceStartMsOf,
  knowsNoSessions,
  lastUseMs,
  pairStatusOf,
  revokedSessionMap,
  type Session,
  sessionMap,
} from './session.ts';

const listSessions = signedInRead(
  Sessions.commands.listSessions,
  (view, _request, _reads, { session: current, readonly }) => {
    if (current.legacy) return knowsNoSessions;
    return readonly ? [] : listEntries(view, current);
  },
);

function listEntries(view: ClockedView, current: Session): SessionEntry[] {
  return [...view.entries(sessionMap).values()]
    .filter((session) => view.nowMs < session.keptUntilMs)
    .toSorted((a, b) => b.refreshExpiresAtMs - a.refreshExpiresAtMs)
    .map((session) => entryOf(session, lastUseMs(view.activation, session), session.uuid === current.uuid));
}

function entryOf(session: Session, usedMs: number, current: boolean): SessionEntry {
  return {
    uuid: session.uuid,
    api_version: session.apiVersion,
    created_at: isoTime(session.createdAtMs),
    updated_at: isoTime(usedMs),
    device_info: deviceInfo(session.userAgent),
    user_agent: session.userAgent,
    ip_address: session.ipAddress,
    current,
    readonly_access: session.readonly,
  };
}

const openSocket = command(Sessions.commands.openSocket, (turn, { gateway, sessions }) => {
  const leftMs = (uuid: string) => (turn.entry(sessionMap, uuid)?.keptUntilMs ?? 0) - turn.nowMs;
  const living = isActive(turn) ? sessions.filter((uuid) => leftMs(uuid) > 0) : [];
  if (living.length === 0) return { living };
  return {
    living,
    host: turn.subscribe(gateway),
    vaults: Object.fromEntries(membershipsOf(turn)),
    endsInMs: Math.min(...living.map(leftMs)),
  };
});

const invalidSessionToken = refuse.unauthenticated('Invalid session token.');

const logout = command(Sessions.commands.logout, {
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

const validateSession = signedInRead(
  Sessions.commands.validateSession,
  (_view, _request, _reads, { session, readonly }) => ({ sessionUuid: session.uuid, readonly }),
);

const validateBearer = signedInRead(Sessions.commands.validateBearer, () => ({}));

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
