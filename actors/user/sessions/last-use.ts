/**
 * When a session was last used, for the list of sessions.
 *
 * An idle sync writes nothing, so its time is in memory alone. A turn that saves something stores the time too, at most every
 * ten minutes: one more row in its commit. When the actor leaves memory, the list falls back to the time that was stored.
 */
import type { Activation, Turn, View } from '../../../runtime/command.ts';
import { type Session, sessionMap, sessionsMax } from './session.ts';

/** Whole minutes cost an idle sync no allocation. Milliseconds would. */
const minuteMs = 60_000;
const storedEveryMs = 10 * minuteMs;

const minutes = new WeakMap<Activation, Map<string, number>>();

type Used = Pick<Session, 'uuid' | 'updatedAtMs'>;

export function noteUse(
  { activation, nowMs }: Pick<View, 'activation'> & { readonly nowMs: number },
  { uuid }: Used,
): void {
  const known = minutes.get(activation);
  const minute = Math.floor(nowMs / minuteMs);
  if (known === undefined) minutes.set(activation, new Map([[uuid, minute]]));
  else if (known.get(uuid) !== minute) {
    // Most of these sessions have ended since.
    if (known.size >= sessionsMax) known.clear();
    known.set(uuid, minute);
  }
}

/** Accurate to the minute. */
export const lastUseMs = (activation: Activation, { uuid, updatedAtMs }: Used): number =>
  Math.max(updatedAtMs, (minutes.get(activation)?.get(uuid) ?? 0) * minuteMs);

export function storeUse(turn: Turn, { uuid }: Used): void {
  const session = turn.entry(sessionMap, uuid);
  if (session === undefined || turn.nowMs < session.updatedAtMs + storedEveryMs) return;
  turn.setEntry(sessionMap, uuid, { ...session, updatedAtMs: turn.nowMs });
}
