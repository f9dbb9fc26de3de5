/**
 * Attempts that name something other than an address: a user's uuid, a calendar token. The answer does not show whether that exists.
 *
 * These actors know no networks, so every client is unknown to them. They count each network alone: with a common count, one client
 * could keep the owner out for ever. A uuid or token opens nothing by itself, so an attacker gains nothing by many networks.
 */
import type { Turn } from '../../runtime/command.ts';
import { attemptOriginOf, debitAttempt, refusedAttempt, tooMany } from './counting.ts';
import { expireLater } from './expiry.ts';

/** Counts the attempt as failed until it proves right. Returns the refusal, if it may not be made. */
export function countedAttempt(
  turn: Turn,
  { ipAddress }: { readonly ipAddress: string | null },
): typeof tooMany | undefined {
  const origin = { ...attemptOriginOf(turn, { ipAddress }), isUnknown: false };
  if (refusedAttempt(turn, origin, true) !== undefined) return tooMany;
  debitAttempt(turn, origin);
  expireLater(turn);
  return undefined;
}
