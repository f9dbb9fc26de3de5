/**
 * Tokens by which clients open sockets (docs/protocol/sockets.md, "The token"). A browser cannot send a header when
 * it opens one, so the token is in the address, where proxies log it. It names user and session, lives for a minute,
 * and has no other use.
 *
 *     <userUuid>.<sessionUuid>.<expiry, seconds, base 36>.<mac>
 *
 * `mac` is the first 16 bytes of HMAC-SHA-256 over everything before its dot, base64url. Whether the session still
 * lives is for the user's actor to decide.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';

export interface SocketClaims {
  readonly userUuid: string;
  readonly sessionUuid: string;
}

export interface SocketTokens {
  mint(claims: SocketClaims): string;
  /** Undefined: malformed, not ours, or expired. */
  verify(token: string): SocketClaims | undefined;
}

const tokenAgeMs = 60_000;
/** The tolerance for another process with another clock. */
const toleranceMs = 10_000;
const macBytes = 16;
const tokenPattern = /^(([0-9a-f-]{36})\.([0-9a-f-]{36})\.([0-9a-z]{1,10}))\.([\w-]{22})$/;

/** `key` has 32 bytes, derived for this purpose alone. */
export function createSocketTokens(key: Buffer, clock: Pick<Clock, 'nowMs'>): SocketTokens {
  const macOf = (signed: string) => createHmac('sha256', key).update(signed).digest().subarray(0, macBytes);
  return {
    mint({ userUuid, sessionUuid }) {
      const expiresSeconds = Math.ceil((clock.nowMs() + tokenAgeMs) / 1_000);
      const signed = `${userUuid}.${sessionUuid}.${expiresSeconds.toString(36)}`;
      return `${signed}.${macOf(signed).toString('base64url')}`;
    },
    verify(token) {
      const [, signed, userUuid, sessionUuid, expiry, mac] = tokenPattern.exec(token) ?? [];
      if (signed === undefined || userUuid === undefined || sessionUuid === undefined) return undefined;
      if (!timingSafeEqual(Buffer.from(mac ?? '', 'base64url'), macOf(signed))) return undefined;
      const expiresMs = Number.parseInt(expiry ?? '', 36) * 1_000;
      return clock.nowMs() < expiresMs + toleranceMs ? { userUuid, sessionUuid } : undefined;
    },
  };
}
