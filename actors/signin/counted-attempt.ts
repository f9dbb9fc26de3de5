/**
 * Attempts by name of a thing that is no address: a user's uuid, a calendar token. Everybody gets the same answer, whether
 * the thing exists or not.
 *
 * These actors know no networks, so every client is a stranger to them. They count each network alone: a common count would
 * let one client keep the owner out for ever. What is named opens nothing by itself, so many networks gain no guesses by it.
 */
import type { Turn } from '../../runtime/command.ts';
import { debitAttempt, originOf, refusedAttempt, tooMany } from './counting.ts';
import { expireLater } from './expiry.ts';

/** Counts the attempt as failed until it proves right. Returns why it may not be made, if so. */
export function countedAttempt(
  turn: Turn,
  { ipAddress }: { readonly ipAddress: string | null },
): typeof tooMany | undefined {
  const origin = { ...originOf(turn, { ipAddress }), isStranger: false };
  if (refusedAttempt(turn, origin, true) !== undefined) return tooMany;
  debitAttempt(turn, origin);
  expireLater(turn);
  return undefined;
}
