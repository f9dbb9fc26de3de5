/** What a deleted account leaves of its calendar. */
import type { PlanResults, Turn, View } from '../../../runtime/command.ts';
import { range } from '../../../runtime/command.ts';
import { publicationSlice } from './publication.ts';
import { giveBack, giveUnkeptBack, wantsSlots } from './slots.ts';
import { todoTable } from './todo-table.ts';
import { revokeAllCalendarTokens } from './tokens.ts';

const rowsPerTurn = 500;

/** With the account. */
export function endCalendar(turn: Turn): void {
  revokeAllCalendarTokens(turn);
  const publication = turn.get(publicationSlice);
  if (publication.slot === null) return;
  giveBack(turn, 'publisher', [publication.slot]);
  turn.set(publicationSlice, { ...publication, slot: null });
}

export const todosLeftPlan = (view: View) =>
  range(todoTable, {
    after: 0,
    through: view.get(publicationSlice).position,
    limit: rowsPerTurn,
    columns: ['uid'],
  });

/**
 * Whether slots of calls that have come to nothing are still out. One may be on its way to be taken, and a slot that was given
 * back before that would be taken for good; so they are given back when no call can be under way any more.
 */
export function hasSlotsOut(turn: Turn): boolean {
  giveUnkeptBack(turn);
  return wantsSlots(turn);
}

/** False once nothing is left. */
export function purgeSomeTodos(
  turn: Turn,
  { rows, complete }: PlanResults<{ todos: ReturnType<typeof todosLeftPlan> }>['todos'],
): boolean {
  for (const { uid } of rows) turn.remove(todoTable, { user_uuid: turn.self.id, uid });
  return !complete;
}
