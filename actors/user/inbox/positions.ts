/** The positions of an inbox. Each entry takes the next position of the user's collection, as an item does. */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { head, stamp } from '../../collection/head.ts';

/** The highest position that each table has had. A sync from there reads nothing. */
export const inboxSlice = slice({
  name: 'inbox',
  schema: z.object({
    messages: z.int(),
    notifications: z.int(),
    invites: z.int(),
    /** The number of rows in the table of notifications. */
    notificationCount: z.int(),
  }),
  initial: { messages: 0, notifications: 0, invites: 0, notificationCount: 0 },
});

export type InboxList = 'messages' | 'notifications' | 'invites';

/** The next position, and a time after all that the collection has given. */
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
