import type { Turn } from '../../../runtime/command.ts';
import { User } from '../contract.ts';
import { sessionsEnded } from '../events.ts';
import { sessionMap } from './session.ts';

/** The only way sessions end: their tokens become worthless, and their sockets are closed. */
export function endSessions(turn: Turn, uuids: Iterable<string>): void {
  const ended = [...uuids];
  for (const uuid of ended) turn.removeEntry(sessionMap, uuid);
  if (ended.length > 0) turn.publish(User, sessionsEnded(ended));
}

export function endAllSessions(turn: Turn): void {
  endSessions(turn, turn.entries(sessionMap).keys());
}
