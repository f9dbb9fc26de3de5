/**
 * Tokens of calendar programs (docs/protocol/calendar.md, "Calendar tokens"), which show one with every request:
 *
 *     <tokenUuid>.<user (16 bytes), mac (16), secret (32), as base64url>
 *
 * A token names its user, so any node can route the request. It carries a MAC, so a guess wakes no actor.
 */
import { createHmac, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import { createQueue, type FairnessKey, type QueueLimits } from '../queue.ts';
import { equalInConstantTime } from './session-tokens.ts';
import { dashed } from './uuid-text.ts';

interface CalendarToken {
  readonly userUuid: string;
  readonly tokenUuid: string;
  /** 43 characters, base64url. */
  readonly secret: string;
}

export interface CalendarTokens {
  mint(token: CalendarToken): string;
  /** Undefined if it is malformed or not of this server. */
  verify(text: string): CalendarToken | undefined;
}
export const CalendarTokens = dependency<CalendarTokens>('the tokens of calendar programs');

const form = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{86})$/;
const userBytes = 16;
const macBytes = 16;

export function createCalendarTokens(keyring: Keyring): CalendarTokens {
  const key = keyring.derive('calendar-token');
  const macOf = (tokenUuid: string, userHex: string) =>
    createHmac('sha256', key).update(`${tokenUuid}.${userHex}`).digest().subarray(0, macBytes);
  return {
    mint({ userUuid, tokenUuid, secret }) {
      const userHex = userUuid.replaceAll('-', '');
      const parts = [
        Buffer.from(userHex, 'hex'),
        macOf(tokenUuid, userHex),
        Buffer.from(secret, 'base64url'),
      ];
      return `${tokenUuid}.${Buffer.concat(parts).toString('base64url')}`;
    },
    verify(text) {
      const [, tokenUuid = '', rest = ''] = form.exec(text) ?? [];
      const bytes = Buffer.from(rest, 'base64url');
      // Some bits of the last character belong to no byte. A text with other values of these bits is not the token.
      if (bytes.toString('base64url') !== rest) return undefined;
      const userHex = bytes.subarray(0, userBytes).toString('hex');
      const mac = bytes.subarray(userBytes, userBytes + macBytes).toString('hex');
      if (!equalInConstantTime(mac, macOf(tokenUuid, userHex).toString('hex'))) return undefined;
      const secret = bytes.subarray(userBytes + macBytes).toString('base64url');
      return { userUuid: dashed(userHex), tokenUuid, secret };
    },
  };
}

/** Slow on purpose, and off the event loop. */
export interface CalendarTokenHasher {
  /** 128 hex digits. @throws OverloadedError when too many wait */
  hash(secret: string, salt: string, key: FairnessKey): Promise<string>;
}
export const CalendarTokenHasher = dependency<CalendarTokenHasher>('the hasher of calendar tokens');

const hashBytes = 64;
const cost = { N: 16_384, r: 8, p: 1 } as const;
const hashSlowly = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt);

export function createCalendarTokenHasher(limits: QueueLimits): CalendarTokenHasher {
  const inTurn = createQueue(limits, 'Too many calendar tokens are being checked.');
  return {
    hash: (secret, salt, key) =>
      inTurn(
        async () => (await hashSlowly(secret, Buffer.from(salt, 'hex'), hashBytes, cost)).toString('hex'),
        undefined,
        key,
      ),
  };
}

/**
 * The tokens that were found right within the last minute, in memory alone. A token that was right stays right for as long as it
 * exists, and the owner's state says whether it does.
 */
export interface ProvenTokens {
  remember(tokenUuid: string, secretHash: string, nowMs: number): void;
  isProven(tokenUuid: string, secretHash: string, nowMs: number): boolean;
}
export const ProvenTokens = dependency<ProvenTokens>('the calendar tokens that were found right');

const rememberedMs = 60_000;
const tokensMax = 20_000;

export function createProvenTokens(): ProvenTokens {
  const proven = new Map<string, { readonly secretHash: string; readonly untilMs: number }>();
  return {
    remember(tokenUuid, secretHash, nowMs) {
      proven.delete(tokenUuid);
      const [oldest] = proven.keys();
      if (proven.size >= tokensMax && oldest !== undefined) proven.delete(oldest);
      proven.set(tokenUuid, { secretHash, untilMs: nowMs + rememberedMs });
    },
    isProven(tokenUuid, secretHash, nowMs) {
      const known = proven.get(tokenUuid);
      return (
        known !== undefined && nowMs < known.untilMs && equalInConstantTime(secretHash, known.secretHash)
      );
    },
  };
}
