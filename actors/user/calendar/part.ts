/** The calendar that an account publishes, and the tokens that open it (docs/protocol/calendar.md). */
import { range, type Turn } from '../../../runtime/command.ts';
import { CalendarTokenHasher, CalendarTokens, ProvenTokens } from '../../identity/calendar-tokens.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { AccountSettings } from '../../settings.ts';
import { purging, userPart } from '../hooks.ts';
import { UserCalendar } from './contract.ts';
import { calendarFeedCommands } from './feed.ts';
import { publicationSlice } from './publication.ts';
import { giveSlotsBackTimer, releaseSlots, releaseUnkept, requestedSlotMap, wantsSlots } from './slots.ts';
import { todoTable } from './todo.ts';
import { todoCommands } from './todos.ts';
import { calendarTokenCommands, calendarTokenMap, revokeAllCalendarTokens } from './tokens.ts';

const rowsPerTurn = 500;

/** In the commit that deletes the account. The rows are left to the purge. */
function endCalendar(turn: Turn): void {
  revokeAllCalendarTokens(turn);
  const publication = turn.get(publicationSlice);
  if (publication.slot === null) return;
  releaseSlots(turn, 'publisher', [publication.slot]);
  turn.set(publicationSlice, { ...publication, slot: null });
}

const todosPurge = purging({
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
 * Waits for the slots of calls that came to nothing. A call may still be on its way to take its slot. A slot that is given back
 * before would then be taken for good.
 */
const slotsPurge = purging({
  turn: (turn) => {
    releaseUnkept(turn);
    return { left: wantsSlots(turn) ? 'later' : 'nothing' };
  },
});

export const userCalendar = userPart(UserCalendar, {
  name: 'calendar',
  uses: [AccountSettings, CalendarTokens, CalendarTokenHasher, ProvenTokens, UserSecrets],
  slices: [calendarTokenMap, publicationSlice, requestedSlotMap],
  tables: [todoTable],
  commands: { ...todoCommands, ...calendarTokenCommands, ...calendarFeedCommands },
  timers: { giveSlotsBack: giveSlotsBackTimer },
  on: { accountDeleted: endCalendar, purgeFirst: todosPurge, purge: slotsPurge },
});
