/** What a deleted account leaves of its calendar. */
import { range, type Turn } from '../../../runtime/command.ts';
import { purging } from '../hooks.ts';
import { publicationSlice } from './publication.ts';
import { releaseSlots, releaseUnkept, wantsSlots } from './slots.ts';
import { todoTable } from './todo-table.ts';
import { revokeAllCalendarTokens } from './tokens.ts';

const rowsPerTurn = 500;

/** With the account. */
export function endCalendar(turn: Turn): void {
  revokeAllCalendarTokens(turn);
  const publication = turn.get(publicationSlice);
  if (publication.slot === null) return;
  releaseSlots(turn, 'publisher', [publication.slot]);
  turn.set(publicationSlice, { ...publication, slot: null });
}

export const todosPurge = purging({
  reads: (view) => ({
    todos: range(todoTable, {
      after: 0,
      through: view.get(publicationSlice).position,
      limit: rowsPerTurn,
      columns: ['uid'],
    }),
  }),
  turn: (turn, { todos: { rows, complete } }) => {
    for (const { uid } of rows) turn.remove(todoTable, { user_uuid: turn.self.id, uid });
    return { left: complete ? 'nothing' : 'more' };
  },
});

/**
 * Waits for slots of calls that have come to nothing. One may be on its way to be taken, and a slot that was given back before
 * that would be taken for good; so they are given back when no call can be under way any more.
 */
export const slotsPurge = purging({
  turn: (turn) => {
    releaseUnkept(turn);
    return { left: wantsSlots(turn) ? 'later' : 'nothing' };
  },
});
