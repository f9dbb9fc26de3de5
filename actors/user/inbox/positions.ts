/** How far an inbox has come. What comes into it takes the next position of the user's collection, and is no item. */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { head, stamp } from '../../collection/head.ts';

/** The highest position that a row of each table has had, so that a sync from there on asks for nothing. */
export const inboxSlice = slice({
  name: 'inbox',
  format: 1,
  schema: z.object({
    messages: z.int(),
    notifications: z.int(),
    invites: z.int(),
    /** Rows of notifications. */
    notificationCount: z.int(),
  }),
  initial: { messages: 0, notifications: 0, invites: 0, notificationCount: 0 },
});

export type InboxList = 'messages' | 'notifications' | 'invites';

/** The next position, and a time later than every one given in the collection before. */
export function nextPosition(turn: Turn, list: InboxList): { position: number; micros: number } {
  const before = turn.get(head);
  const { position, updated_at_timestamp: micros } = stamp(before, undefined, turn.nowMicros);
  turn.set(head, { ...before, position, updatedAtMicros: micros });
  turn.set(inboxSlice, { ...turn.get(inboxSlice), [list]: position });
  return { position, micros };
}

export function highestPosition(view: View): number {
  const { messages, notifications, invites } = view.get(inboxSlice);
  return Math.max(messages, notifications, invites);
}
