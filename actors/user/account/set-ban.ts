/**
 * Bans an account, for an operator or an administrator (docs/protocol/authentication.md, "Banned accounts").
 *
 * Invariants:
 * - A ban ends every session in its own commit, so tokens become worthless and sockets close. Nothing opens a session while it
 *   lasts.
 * - Factors, bridge tokens and app passwords stay, of no use while the ban lasts. Without them the account would come out of
 *   the ban less protected than before. Trusted devices go, and sign-ins in progress begin again.
 * - If administrators ban each other at the same moment, at least one remains. An administrator is marked before the other
 *   account is asked, and a marked account cannot be banned. So a circle of bans cannot end with all of them banned. There is
 *   no list of administrators that could be counted instead.
 */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { audit } from '../audit/trail.ts';
import type { RaisedHooks } from '../hooks.ts';
import { banSlice, isAdministrator, profileSlice } from '../profile.ts';
import { restartSignIns } from './password-guard.ts';

/** Longer than any call may take. */
const banningAgeMs = 120_000;

/** Set by the call that is banning a user at this moment. Each call has its own mark: the end of one must not end the others. */
export const banningMap = sliceMap<{ readonly untilMs: number }>({
  family: 'banning',
  entriesMax: 16,
  schema: z.object({ untilMs: z.number() }),
});

const isBanning = (turn: Turn): boolean =>
  [...turn.entries(banningMap).values()].some(({ untilMs }) => turn.nowMs < untilMs);

/** False: the account bans too many others at once. */
export function beginBanning(turn: Turn, callId: string): boolean {
  for (const [call, { untilMs }] of turn.entries(banningMap)) {
    if (turn.nowMs >= untilMs) turn.removeEntry(banningMap, call);
  }
  const isNoted = turn.entry(banningMap, callId) !== undefined;
  if (!isNoted && turn.entries(banningMap).size >= banningMap.entriesMax) return false;
  turn.setEntry(banningMap, callId, { untilMs: turn.nowMs + banningAgeMs });
  return true;
}

export function endBanning(turn: Turn, callId: string): void {
  if (turn.entry(banningMap, callId) !== undefined) turn.removeEntry(banningMap, callId);
}

export type BanOutcome = 'set' | 'unchanged' | 'administrator' | 'busy';

/** `administrator`: an operator has to demote them first. `busy`: the account is banning another user at this moment. */
export function ban(
  turn: Turn,
  hooks: RaisedHooks,
  by: 'operator' | 'administrator',
  reason: string | null,
): BanOutcome {
  if (isAdministrator(turn) && by === 'operator') return 'administrator';
  if (isBanning(turn)) return 'busy';
  const before = turn.get(banSlice);
  turn.set(banSlice, { atMs: before?.atMs ?? turn.nowMs, reason });
  if (before !== null) return 'unchanged';
  for (const banned of hooks('banned')) banned(turn);
  restartSignIns(turn);
  audit(turn, 'banned');
  return 'set';
}

export function unban(turn: Turn, hooks: RaisedHooks): BanOutcome {
  if (turn.get(banSlice) === null) return 'unchanged';
  turn.set(banSlice, null);
  for (const unbanned of hooks('unbanned')) unbanned(turn);
  audit(turn, 'unbanned');
  return 'set';
}

export function banStatus(view: View) {
  const { email, workspace } = view.get(profileSlice);
  const { atMs = null, reason = null } = view.get(banSlice) ?? {};
  return { email, workspace, banned: atMs !== null, bannedAtMs: atMs, banReason: reason };
}
