/**
 * Handing out token pairs: what opens a session and what a refresh renews it with. Secrets leave in the reply and
 * in cookies, and only their hashes stay.
 */
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import type { UserServices } from '../../services.ts';
import { profileSlice } from '../profile.ts';
import { isPrivateUsername } from '../usernames.ts';
import { isReadonly } from './check.ts';
import type { SessionStyle } from './credentials.ts';
import { secretBytes } from './credentials.ts';
import { endSessions } from './end.ts';
import { type Pair, type Session, secretHash, sessionMap, sessionsMax } from './session.ts';

/** The api versions that have sessions (auth.md 3.1): the first of header style, the second of cookie style. */
export const sessionApiVersions: readonly string[] = ['20200115', '20240226'];
const cookieApiVersion = '20240226';

/** The device a session belongs to, as its requests tell. */
export interface Device {
  readonly userAgent: string | null;
  readonly ipAddress: string | null;
  readonly snjsVersion: string | null;
  readonly applicationVersion: string | null;
}

const headerText = z.string().max(512).nullable();
export const deviceSchema: z.ZodType<Device> = z.object({
  userAgent: headerText,
  ipAddress: headerText,
  snjsVersion: headerText,
  applicationVersion: headerText,
});

/** The session as clients get it (auth.md 3.2). Expirations in milliseconds since the epoch. */
export const sessionBodySchema = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  access_expiration: z.number().int(),
  refresh_expiration: z.number().int(),
  readonly_access: z.boolean(),
});

/** What the session's two cookies hold (auth.md 3.3). */
export const sessionSecretsSchema = z.object({
  sessionUuid: z.string(),
  accessSecret: z.string(),
  refreshSecret: z.string(),
  /** Both cookies live as long as the session can be refreshed. */
  refreshExpirationMs: z.number().int(),
});
export type SessionSecrets = z.infer<typeof sessionSecretsSchema>;

export const issuedSchema = z.object({ session: sessionBodySchema, secrets: sessionSecretsSchema });
export type Issued = z.infer<typeof issuedSchema>;

export interface NewSession {
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly readonly: boolean;
  readonly device: Device;
}

type IssuingServices = Pick<UserServices, 'settings' | 'tokens'>;

/** Opens a session, making room for it if need be. */
export function openSession(turn: Turn, services: IssuingServices, wanted: NewSession): Issued {
  makeRoom(turn);
  const pair = newPair(turn, styleOf(wanted.apiVersion, services));
  const session: Session = {
    uuid: turn.random.uuid(),
    privateIdentifier: turn.random.bytes(16).toString('hex'),
    current: pair.kept,
    replaced: [],
    ...expiries(turn.nowMs, wanted.ephemeral, services),
    ephemeral: wanted.ephemeral,
    readonly: wanted.readonly,
    apiVersion: wanted.apiVersion,
    ...keptDevice(turn, wanted.device),
    createdAtMs: turn.nowMs,
    updatedAtMs: turn.nowMs,
  };
  turn.setEntry(sessionMap, session.uuid, session);
  return issued(turn, services, session, pair);
}

/** Gives a session a new pair and a new life. The pair it had stays in grace. */
export function renewSession(
  turn: Turn,
  services: IssuingServices,
  session: Session,
  { apiVersion, device }: { apiVersion: string; device: Device },
): Issued {
  const pair = newPair(turn, styleOf(apiVersion, services));
  const renewed: Session = {
    ...session,
    ...keptDevice(turn, device),
    apiVersion,
    current: pair.kept,
    ...expiries(turn.nowMs, session.ephemeral, services),
    updatedAtMs: turn.nowMs,
  };
  turn.setEntry(sessionMap, session.uuid, renewed);
  return issued(turn, services, renewed, pair);
}

/** An account that hides its name is not told apart by its devices either (auth.md 3.4, 7.1). */
function keptDevice(turn: Turn, device: Device): Device {
  return isPrivateUsername(turn.get(profileSlice).email) ? { ...device, userAgent: null } : device;
}

interface NewPair {
  readonly kept: Pair;
  readonly accessSecret: string;
  readonly refreshSecret: string;
}

function newPair(turn: Turn, style: SessionStyle): NewPair {
  const accessSecret = turn.random.bytes(secretBytes).toString('base64url');
  const refreshSecret = turn.random.bytes(secretBytes).toString('base64url');
  return {
    kept: { style, accessHash: secretHash(accessSecret), refreshHash: secretHash(refreshSecret) },
    accessSecret,
    refreshSecret,
  };
}

function issued(
  turn: Turn,
  { tokens, settings }: IssuingServices,
  session: Session,
  { kept, accessSecret, refreshSecret }: NewPair,
): Issued {
  const userUuid = turn.self.id;
  const token = (secret: string) =>
    kept.style === 1
      ? tokens.mintHeaderToken(userUuid, session.uuid, secret)
      : tokens.mintCookieToken(userUuid, session.privateIdentifier);
  return {
    session: {
      access_token: token(accessSecret),
      refresh_token: token(refreshSecret),
      access_expiration: session.accessExpiresAtMs,
      refresh_expiration: session.refreshExpiresAtMs,
      readonly_access: isReadonly(turn, session, settings),
    },
    secrets: {
      sessionUuid: session.uuid,
      accessSecret,
      refreshSecret,
      refreshExpirationMs: session.refreshExpiresAtMs,
    },
  };
}

function styleOf(apiVersion: string, { settings }: IssuingServices): SessionStyle {
  return apiVersion === cookieApiVersion && !settings.forceHeaderSessions ? 2 : 1;
}

function expiries(nowMs: number, ephemeral: boolean, { settings }: IssuingServices) {
  const refreshExpiresAtMs = nowMs + settings.refreshTokenAgeMs;
  return {
    accessExpiresAtMs: nowMs + settings.accessTokenAgeMs,
    refreshExpiresAtMs,
    keptUntilMs: ephemeral
      ? Math.min(refreshExpiresAtMs, nowMs + settings.ephemeralSessionAgeMs)
      : refreshExpiresAtMs,
  };
}

/** Drops sessions that have ended and, where that is not enough, the one that would end first. */
function makeRoom(turn: Turn): void {
  const living: Session[] = [];
  const ending: string[] = [];
  for (const session of turn.entries(sessionMap).values()) {
    if (turn.nowMs < session.keptUntilMs) living.push(session);
    else ending.push(session.uuid);
  }
  const [first] = living.toSorted((a, b) => a.refreshExpiresAtMs - b.refreshExpiresAtMs);
  if (first !== undefined && living.length >= sessionsMax) ending.push(first.uuid);
  endSessions(turn, ending);
}
