/** An ended session stays ended, on every node. A live session is not refused. */
import type { Timed } from '../history.ts';
import { walk } from './calls.ts';
import type { Report } from './violation.ts';

export function checkSessions(entries: readonly Timed[], report: Report): void {
  const closing = new Set<string>();
  /** Keyed by device, the position in the history from which its session is known to be over. */
  const ended = new Map<string, number>();
  for (const { at, entry, call } of walk(entries)) {
    if (entry.event === 'closing') closing.add(entry.device);
    if (entry.event === 'closed') ended.set(entry.device, at);
    if (call === undefined) continue;
    const what = `call ${call.id} of ${call.device}`;
    if (entry.event === 'refused') {
      if (!closing.has(call.device)) report('session-lost', call.user, what);
      ended.set(call.device, Math.min(at, ended.get(call.device) ?? at));
    }
    const isAccepted = entry.event === 'answered' || entry.event === 'compared';
    if (isAccepted && call.lastSent > (ended.get(call.device) ?? Number.POSITIVE_INFINITY)) {
      report('session-back', call.user, what);
    }
  }
}
