/**
 * Whether credentials stand for a living session, in the order of docs/protocol/authentication.md, "Authenticating a
 * request". The MAC is already verified.
 */
import type { View } from '../../../runtime/command.ts';
import type { State } from '../../../runtime/slice.ts';
import type { Credentials } from '../../identity/session-tokens.ts';
import type { Refusal } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { invalidAuth } from '../../signed-in.ts';
import { isBanned } from '../ban.ts';
import { profileSlice } from '../profile.ts';
import { revokedSessionMap, type Session, sessionMap, standingOf } from './session.ts';

const revokedSession: Refusal = {
  reason: 'unauthenticated',
  tag: 'revoked-session',
  message: 'Your session has been revoked.',
  bare: true,
};
const expiredAccessToken: Refusal = {
  reason: 'expired',
  tag: 'expired-access-token',
  message: 'The provided access token has expired.',
  bare: true,
};

export type SessionCheck = { readonly session: Session } | { readonly refused: Refusal };

/**
 * Which session, if any, may act for these credentials now. `bearerSuffices`: one of cookie style is not asked for its cookie;
 * its bearer names it by 128 random bits.
 */
export function checkSession(
  view: View,
  credentials: Credentials,
  nowMs: number,
  bearerSuffices = false,
): SessionCheck {
  const settings = view.use(AccountSettings);
  const session = findSession(view, credentials);
  const proven =
    session && standingOf(session, 'accessHash', credentials, nowMs, settings.replacedPairGraceMs);
  const isCookieStyle = credentials.style === 2 && session?.current.style === 2;
  const standing = proven ?? (bearerSuffices && isCookieStyle ? 'current' : undefined);
  if (session === undefined || standing === undefined || !isKept(session, nowMs)) {
    return { refused: isRevoked(view, credentials, nowMs) ? revokedSession : invalidAuth };
  }
  if (view.get(profileSlice).state !== 'active' || isBanned(view)) return { refused: invalidAuth };
  if (standing === 'replaced' || !accessIsFresh(session, nowMs, settings)) {
    return { refused: expiredAccessToken };
  }
  return { session };
}

/** The session the credentials name, ended or not, before its secrets are looked at. */
export function findSession(state: State, { style, identifier }: Credentials): Session | undefined {
  return style === 2 ? findByPrivateIdentifier(state, identifier) : state.entry(sessionMap, identifier);
}

/** A user has a few sessions; walking them costs less than keeping an index right. */
function findByPrivateIdentifier(state: State, privateIdentifier: string): Session | undefined {
  for (const session of state.entries(sessionMap).values()) {
    if (session.privateIdentifier === privateIdentifier) return session;
  }
  return undefined;
}

function accessIsFresh(session: Session, nowMs: number, settings: AccountSettings): boolean {
  if (session.legacy) return true;
  const latestMs = nowMs + settings.accessTokenAgeMs + settings.sessionFreshnessBufferMs;
  return nowMs < session.accessExpiresAtMs && session.accessExpiresAtMs <= latestMs;
}

function isRevoked(state: State, { style, identifier }: Credentials, nowMs: number): boolean {
  if (style !== 2) return isKept(state.entry(revokedSessionMap, identifier), nowMs);
  for (const revoked of state.entries(revokedSessionMap).values()) {
    if (revoked.privateIdentifier === identifier) return isKept(revoked, nowMs);
  }
  return false;
}

function isKept(revoked: { readonly keptUntilMs: number } | undefined, nowMs: number): boolean {
  return revoked !== undefined && nowMs < revoked.keptUntilMs;
}

/**
 * A session may only read if it was made so or its account is listed by the operator (docs/protocol/authentication.md,
 * "Read-only sessions").
 */
export function isReadonly(view: View, session: Session): boolean {
  return session.readonly || view.use(AccountSettings).readonlyUsers.has(view.get(profileSlice).email);
}
