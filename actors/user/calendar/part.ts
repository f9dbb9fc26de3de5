/** The calendar that an account publishes, and the tokens that open it (docs/protocol/calendar.md). */
import { CalendarTokenHasher, CalendarTokens, ProvenTokens } from '../../identity/calendar-tokens.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { UserCalendar } from './contract.ts';
import { calendarFeedCommands } from './feed.ts';
import { endCalendar, slotsPurge, todosPurge } from './forget.ts';
import { publicationSlice } from './publication.ts';
import { giveSlotsBackTimer, wantedSlotMap } from './slots.ts';
import { todoTable } from './todo-table.ts';
import { todoCommands } from './todos.ts';
import { calendarTokenCommands, calendarTokenMap } from './tokens.ts';

export const calendar = userPart(UserCalendar, {
  name: 'calendar',
  uses: [AccountSettings, CalendarTokens, CalendarTokenHasher, ProvenTokens, UserSecrets],
  slices: [calendarTokenMap, publicationSlice, wantedSlotMap],
  tables: [todoTable],
  commands: { ...todoCommands, ...calendarTokenCommands, ...calendarFeedCommands },
  timers: { giveSlotsBack: giveSlotsBackTimer },
  on: { accountDeleted: endCalendar, purgeFirst: todosPurge, purge: slotsPurge },
});
