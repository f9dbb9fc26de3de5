/**
 * Decides whether credentials stand for a living session, in the order of docs/protocol/authentication.md, "Authenticating a
 * request". The gateway has verified the MAC.
 */
import type { View } from '../../../runtime/command.ts';
import type { ActorState } from '../../../runtime/slice.ts';
import type { Credentials } from '../../identity/session-tokens.ts';
import type { Refusal } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { invalidAuth } from '../../signed-in.ts';
import { isInUse, profileSlice } from '../profile.ts';
import { pairStatusOf, revokedSessionMap, type Session, sessionMap } from './session.ts';

const revokedSession: Refusal = {
  reason: 'unauthenticated',
  tag: 'revoked-session',
  message: 'Your session has been revoked.',
  withoutEnvelope: true,
};
const expiredAccessToken: Refusal = {
  reason: 'expired',
  tag: 'expired-access-token',
  message: 'The provided access token has expired.',
  withoutEnvelope: true,
};

export type SessionCheck = { readonly session: Session } | { readonly refused: Refusal };

/**
 * The session that may act by these credentials now. `bearerSuffices`: a cookie-style session needs no cookie, as its bearer names
 * it by 128 random bits.
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
    session && pairStatusOf(session, 'accessHash', credentials, nowMs - settings.replacedPairGraceMs);
  const isCookieStyle = credentials.style === 2 && session?.current.style === 2;
  const status = proven ?? (bearerSuffices && isCookieStyle ? 'current' : undefined);
  if (session === undefined || status === undefined || !isRemembered(session, nowMs)) {
    return { refused: isRevoked(view, credentials, nowMs) ? revokedSession : invalidAuth };
  }
  if (!isInUse(view)) return { refused: invalidAuth };
  if (status === 'replaced' || !accessIsFresh(session, nowMs, settings)) {
    return { refused: expiredAccessToken };
  }
  return { session };
}

/** The session that the credentials name, ended or not. Its secrets are not checked. */
export function findSession(state: ActorState, { style, identifier }: Credentials): Session | undefined {
  return style === 2 ? findByPrivateIdentifier(state, identifier) : state.entry(sessionMap, identifier);
}

/** A user has few sessions. To walk them costs less than to maintain an index. */
function findByPrivateIdentifier(state: ActorState, privateIdentifier: string): Session | undefined {
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

function isRevoked(state: ActorState, { style, identifier }: Credentials, nowMs: number): boolean {
  if (style !== 2) return isRemembered(state.entry(revokedSessionMap, identifier), nowMs);
  for (const revoked of state.entries(revokedSessionMap).values()) {
    if (revoked.privateIdentifier === identifier) return isRemembered(revoked, nowMs);
  }
  return false;
}

function isRemembered(revoked: { readonly keptUntilMs: number } | undefined, nowMs: number): boolean {
  return revoked !== undefined && nowMs < revoked.keptUntilMs;
}

/**
 * A session is read-only if it was opened so, or if the operator lists its account (docs/protocol/authentication.md, "Read-only
 * sessions").
 */
export function isReadonly(view: View, session: Session): boolean {
  return session.readonly || view.use(AccountSettings).readonlyUsers.has(view.get(profileSlice).email);
}
