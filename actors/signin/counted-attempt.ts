/** Attempts of whoever does not sign in, and is answered alike whether there is what is asked for or not. */
import type { Turn } from '../../runtime/command.ts';
import { debitAttempt, type Origin, originOf, refusedAttempt, tooMany } from './counting.ts';
import { expireLater } from './expiry.ts';

/** Where it comes from, once it is counted as failed; or why it may not be made. */
export function countedAttempt(
  turn: Turn,
  { ipAddress }: { readonly ipAddress: string | null },
): Origin | typeof tooMany {
  const origin = originOf(turn, { ipAddress });
  if (refusedAttempt(turn, origin, true) !== undefined) return tooMany;
  debitAttempt(turn, origin);
  expireLater(turn);
  return origin;
}
