/**
 * Tickets that identify a client on the lane (docs/protocol/sockets.md, "The ticket"): good once, for thirty seconds,
 * for one device.
 *
 *     <userUuid>.<sessionUuid>.<pair>.<activation>.<expiry, milliseconds, base 36>.<nonce>.<mac>
 *
 * The MAC covers the device id too, which the ticket does not name. It proves that this server made the ticket. The
 * user's actor ensures that it is redeemed once, and in time. It does so in the activation that the ticket names: in
 * memory, without a commit, and for all nodes.
 */
import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../../actors/identity/session-tokens.ts';
import type { TicketClaims } from '../../../actors/user/sync-lane/contract.ts';
import type { Random } from '../../../runtime/random.ts';

export interface SyncTicket extends TicketClaims {
  readonly userUuid: string;
  readonly nonce: string;
}

export interface SyncTickets {
  mint(claims: TicketClaims & { readonly userUuid: string }, deviceId: string): string;
  /** Undefined: malformed, not ours, or another device's. */
  verify(ticket: string, deviceId: string): SyncTicket | undefined;
}

export const ticketCharacters = { min: 32, max: 256 } as const;
const macBytes = 16;
const nonceBytes = 12;
const ticketPattern =
  /^(([0-9a-f-]{36})\.([0-9a-f-]{36})\.([0-9a-f]{32})\.([0-9a-f-]{36})\.([0-9a-z]{1,10})\.([\w-]{16}))\.([\w-]{22})$/;

/** `key` has 32 bytes, derived for this purpose alone. */
export function createSyncTickets(key: Buffer, random: Pick<Random, 'bytes'>): SyncTickets {
  const macOf = (signed: string, deviceId: string) =>
    createHmac('sha256', key)
      .update(`${signed} ${deviceId}`)
      .digest()
      .subarray(0, macBytes)
      .toString('base64url');
  return {
    mint({ userUuid, sessionUuid, pair, activation, expiresAtMs }, deviceId) {
      const nonce = random.bytes(nonceBytes).toString('base64url');
      const signed = [userUuid, sessionUuid, pair, activation, expiresAtMs.toString(36), nonce].join('.');
      return `${signed}.${macOf(signed, deviceId)}`;
    },
    verify(ticket, deviceId) {
      const match = ticketPattern.exec(ticket);
      if (match === null) return undefined;
      const [, signed = '', userUuid = '', sessionUuid = '', pair = '', activation = ''] = match;
      const [, , , , , , expiry = '', nonce = '', mac = ''] = match;
      // Compared as text, because several texts decode to the same bytes.
      if (!equalInConstantTime(mac, macOf(signed, deviceId))) return undefined;
      return { userUuid, sessionUuid, pair, activation, expiresAtMs: Number.parseInt(expiry, 36), nonce };
    },
  };
}
