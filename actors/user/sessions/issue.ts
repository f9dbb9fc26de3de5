/**
 * Issues token pairs, for a new session and for a refresh. The secrets leave in the reply and in cookies, and only their hashes
 * stay.
 */
import type { Turn } from '../../../runtime/command.ts';
import { hasSessions } from '../../identity/key-params.ts';
import type { Device, GrantedSession, IssuedSession } from '../../identity/session.ts';
import { type SessionStyle, SessionTokens, secretBytes } from '../../identity/session-tokens.ts';
import { AccountSettings } from '../../settings.ts';
import { settingValue } from '../settings/stored.ts';
import {
  endSessions,
  isReadonly,
  type Pair,
  type Session,
  secretHash,
  sessionMap,
  sessionsMax,
} from './session.ts';

const cookieApiVersion = '20240226';

export interface NewSession {
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly readonly: boolean;
  readonly device: Device;
  readonly bridgeToken?: string;
}

/** Opens the kind of session that the account's protocol version knows. */
export function grantAccess(turn: Turn, protocolVersion: string, newSession: NewSession): GrantedSession {
  return hasSessions(protocolVersion) ? issueSession(turn, newSession) : openLegacySession(turn, newSession);
}

export function issueSession(turn: Turn, newSession: NewSession): IssuedSession {
  const pair = newPair(turn, styleOf(turn, newSession.apiVersion));
  return issued(turn, keepSession(turn, newSession, pair), pair);
}

function openLegacySession(turn: Turn, newSession: NewSession): GrantedSession {
  const pair = newPair(turn, 1);
  const { uuid } = keepSession(turn, { ...newSession, legacy: true }, pair);
  const token = turn.use(SessionTokens).mintHeaderToken(turn.self.id, uuid, pair.accessSecret);
  return { token, sessionUuid: uuid };
}

/** If the account has as many sessions as it can have, drops one first. */
function keepSession(
  turn: Turn,
  newSession: NewSession & { readonly legacy?: true },
  pair: NewPair,
): Session {
  evictIfFull(turn);
  const session: Session = {
    uuid: turn.random.uuid(),
    privateIdentifier: turn.random.bytes(16).toString('hex'),
    current: pair.stored,
    replaced: [],
    ...expiries(turn, newSession.ephemeral),
    ephemeral: newSession.ephemeral,
    readonly: newSession.readonly,
    apiVersion: newSession.apiVersion,
    ...storedDevice(turn, newSession.device),
    createdAtMs: turn.nowMs,
    updatedAtMs: turn.nowMs,
    ...(newSession.bridgeToken !== undefined && { bridgeToken: newSession.bridgeToken }),
    ...(newSession.legacy !== undefined && { legacy: newSession.legacy }),
  };
  turn.setEntry(sessionMap, session.uuid, session);
  return session;
}

/** Gives a session a new pair and a new expiry. The old pair stays in grace. */
export function renewSession(
  turn: Turn,
  session: Session,
  { apiVersion, device }: { apiVersion: string; device: Device },
): IssuedSession {
  const pair = newPair(turn, styleOf(turn, apiVersion));
  const renewed: Session = {
    ...session,
    ...storedDevice(turn, device),
    apiVersion,
    current: pair.stored,
    ...expiries(turn, session.ephemeral),
    updatedAtMs: turn.nowMs,
  };
  turn.setEntry(sessionMap, session.uuid, renewed);
  return issued(turn, renewed, pair);
}

/**
 * An account that hides its name must not be recognised by its devices (docs/protocol/authentication.md, "What is kept of a
 * session" and "Registration").
 */
function storedDevice(turn: Turn, device: Device): Device {
  const isLogged = settingValue(turn, 'LOG_SESSION_USER_AGENT') === 'enabled';
  return isLogged ? device : { ...device, userAgent: null };
}

interface NewPair {
  readonly stored: Pair;
  readonly accessSecret: string;
  readonly refreshSecret: string;
}

function newPair(turn: Turn, style: SessionStyle): NewPair {
  const accessSecret = turn.random.bytes(secretBytes).toString('base64url');
  const refreshSecret = turn.random.bytes(secretBytes).toString('base64url');
  return {
    stored: { style, accessHash: secretHash(accessSecret), refreshHash: secretHash(refreshSecret) },
    accessSecret,
    refreshSecret,
  };
}

function issued(
  turn: Turn,
  session: Session,
  { stored, accessSecret, refreshSecret }: NewPair,
): IssuedSession {
  const userUuid = turn.self.id;
  const tokens = turn.use(SessionTokens);
  const token = (secret: string) =>
    stored.style === 1
      ? tokens.mintHeaderToken(userUuid, session.uuid, secret)
      : tokens.mintCookieToken(userUuid, session.privateIdentifier);
  return {
    session: {
      access_token: token(accessSecret),
      refresh_token: token(refreshSecret),
      access_expiration: session.accessExpiresAtMs,
      refresh_expiration: session.refreshExpiresAtMs,
      readonly_access: isReadonly(turn, session),
    },
    secrets: {
      sessionUuid: session.uuid,
      accessSecret,
      refreshSecret,
      refreshExpirationMs: session.refreshExpiresAtMs,
    },
  };
}

function styleOf(turn: Turn, apiVersion: string): SessionStyle {
  return apiVersion === cookieApiVersion && !turn.use(AccountSettings).endToEndTesting ? 2 : 1;
}

function expiries(turn: Turn, ephemeral: boolean) {
  const { nowMs } = turn;
  const settings = turn.use(AccountSettings);
  const refreshExpiresAtMs = nowMs + settings.refreshTokenAgeMs;
  return {
    accessExpiresAtMs: nowMs + settings.accessTokenAgeMs,
    refreshExpiresAtMs,
    keptUntilMs: ephemeral
      ? Math.min(refreshExpiresAtMs, nowMs + settings.ephemeralSessionAgeMs)
      : refreshExpiresAtMs,
  };
}

/** Drops the sessions that have ended. If that is not enough, drops the one that would end first. */
function evictIfFull(turn: Turn): void {
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
