/**
 * When a session was last used, for the list of sessions. An idle sync writes nothing, so its time is kept in memory alone. A turn
 * of the session that saves something stores it too, at most every ten minutes: one more row in that commit. Whatever was not
 * stored is lost when the actor leaves memory, and the list then shows the time of the last save or refresh.
 */
import type { Activation, Turn, View } from '../../../runtime/command.ts';
import { type Session, sessionMap, sessionsMax } from './session.ts';

/** A whole minute costs an idle sync no allocation, which milliseconds do. */
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

/** To the minute. */
export const lastUseMs = (activation: Activation, { uuid, updatedAtMs }: Used): number =>
  Math.max(updatedAtMs, (minutes.get(activation)?.get(uuid) ?? 0) * minuteMs);

export function storeUse(turn: Turn, { uuid }: Used): void {
  const session = turn.entry(sessionMap, uuid);
  if (session === undefined || turn.nowMs < session.updatedAtMs + storedEveryMs) return;
  turn.setEntry(sessionMap, uuid, { ...session, updatedAtMs: turn.nowMs });
}
