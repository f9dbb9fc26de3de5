/** The session commands of the `user` actor (auth.md 3.6 to 3.10). */
import { z } from 'zod';
import { command, type Turn } from '../../../runtime/command.ts';
import type { State } from '../../../runtime/slice.ts';
import type { UserServices } from '../../services.ts';
import { refusalSchema, refuse } from '../refusal.ts';
import { signedInCommand, signedInSharedRead } from '../signed-in.ts';
import { findSession } from './check.ts';
import { credentialsSchema } from './credentials.ts';
import { deviceInfo } from './device-info.ts';
import { endSessions } from './end.ts';
import { deviceSchema, issuedSchema } from './issue.ts';
import { refreshSession } from './refresh.ts';
import { revokedSessionMap, type Session, sessionMap, sessionsMax, standingOf } from './session.ts';

export const refusedSchema = z.object({ refused: refusalSchema });

/** An entry of the session list (auth.md 3.7). */
export const sessionEntrySchema = z.object({
  uuid: z.string(),
  api_version: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  device_info: z.string(),
  user_agent: z.string().nullable(),
  ip_address: z.string().nullable(),
  current: z.boolean(),
  readonly_access: z.boolean(),
});
export type SessionEntry = z.infer<typeof sessionEntrySchema>;

const invalidSessionToken = refuse(401, 'Invalid session token.');

export function sessionCommands(services: UserServices) {
  const { settings } = services;
  return {
    /** Public; the proof is in the request. Errors: 400 of auth.md 3.6, 429 after too many within the grace. */
    refresh: command({
      request: z.object({
        access: credentialsSchema,
        refreshSecrets: z.array(z.string()).readonly(),
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      reply: z.union([issuedSchema, refusedSchema]),
      repeat: 'recorded',
      turn: (turn, request) => refreshSession(turn, services, request),
    }),

    /** Ends the session of the credentials. An expired access token will do, its secret must match (auth.md 3.9). */
    logout: command({
      request: z.object({ credentials: credentialsSchema }),
      reply: z.union([z.object({ sessionUuid: z.string() }), refusedSchema]),
      repeat: 'recorded',
      turn: (turn, { credentials }) => {
        const session = findSession(turn, credentials);
        if (session === undefined || turn.nowMs >= session.keptUntilMs) return invalidSessionToken;
        const graceMs = settings.replacedPairGraceMs;
        if (!standingOf(session, 'accessHash', credentials, turn.nowMs, graceMs)) return invalidSessionToken;
        endSessions(turn, [session.uuid]);
        return { sessionUuid: session.uuid };
      },
    }),

    /** Newest refresh expiry first. A read-only session is shown none. */
    listSessions: signedInSharedRead(settings, {
      request: z.object({}),
      reply: z.array(sessionEntrySchema),
      answer: (view, _request, _reads, { session: current, readonly }) =>
        readonly ? [] : listEntries(view, current, view.nowMs),
    }),

    /** Errors: 400 for the caller's own session and for one that is not there. */
    deleteSession: signedInCommand(settings, {
      request: z.object({ sessionUuid: z.string() }),
      reply: z.object({}),
      repeat: 'recorded',
      writes: true,
      turn: (turn, { sessionUuid }, _reads, { session: current }) => {
        if (sessionUuid === current.uuid) return refuse(400, 'You can not delete your current session.');
        const session = turn.entry(sessionMap, sessionUuid);
        if (session === undefined) return refuse(400, 'No session exists with the provided identifier.');
        revoke(turn, [session]);
        return {};
      },
    }),

    deleteOtherSessions: signedInCommand(settings, {
      request: z.object({}),
      reply: z.object({}),
      writes: true,
      turn: (turn, _request, _reads, { session: current }) => {
        revoke(
          turn,
          [...turn.entries(sessionMap).values()].filter(({ uuid }) => uuid !== current.uuid),
        );
        return {};
      },
    }),

    /** `sessions/validate` (auth.md 3.10): for the server's own parts; no route leads here. */
    validateSession: signedInSharedRead(settings, {
      request: z.object({}),
      reply: z.object({ sessionUuid: z.string(), readonly: z.boolean() }),
      answer: (_view, _request, _reads, { session, readonly }) => ({ sessionUuid: session.uuid, readonly }),
    }),
  };
}

function listEntries(state: State, current: Session, nowMs: number): SessionEntry[] {
  return [...state.entries(sessionMap).values()]
    .filter((session) => nowMs < session.keptUntilMs)
    .toSorted((a, b) => b.refreshExpiresAtMs - a.refreshExpiresAtMs)
    .map((session) => entryOf(session, session.uuid === current.uuid));
}

function entryOf(session: Session, current: boolean): SessionEntry {
  return {
    uuid: session.uuid,
    api_version: session.apiVersion,
    created_at: new Date(session.createdAtMs).toISOString(),
    updated_at: new Date(session.updatedAtMs).toISOString(),
    device_info: deviceInfo(session.userAgent),
    user_agent: session.userAgent,
    ip_address: session.ipAddress,
    current,
    readonly_access: session.readonly,
  };
}

/** Ends sessions so that their clients learn of it and wipe their data (auth.md 3.8). */
function revoke(turn: Turn, sessions: readonly Session[]): void {
  makeRoomForRevoked(turn, sessions.length);
  endSessions(
    turn,
    sessions.map(({ uuid }) => uuid),
  );
  for (const { uuid, privateIdentifier, refreshExpiresAtMs } of sessions) {
    turn.setEntry(revokedSessionMap, uuid, { privateIdentifier, keptUntilMs: refreshExpiresAtMs });
  }
}

/** What expired is forgotten; where that is not enough, what would be forgotten first. */
function makeRoomForRevoked(turn: Turn, count: number): void {
  const oldestFirst = [...turn.entries(revokedSessionMap)].toSorted(
    ([, a], [, b]) => a.keptUntilMs - b.keptUntilMs,
  );
  const surplus = oldestFirst.length + count - sessionsMax;
  for (const [index, [uuid, { keptUntilMs }]] of oldestFirst.entries()) {
    if (index < surplus || keptUntilMs <= turn.nowMs) turn.removeEntry(revokedSessionMap, uuid);
  }
}
