import type { Turn } from '../../../runtime/command.ts';
import { sessionsEnded } from '../sockets/events.ts';
import { sessionMap } from './session.ts';

/** The one way in which sessions end: their tokens are worth nothing any more, and their sockets are closed. */
export function endSessions(turn: Turn, uuids: Iterable<string>): void {
  const ended = [...uuids];
  for (const uuid of ended) turn.removeEntry(sessionMap, uuid);
  if (ended.length > 0) turn.publish(sessionsEnded(ended));
}
