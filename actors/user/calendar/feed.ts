/**
 * What calendar programs read (docs/protocol/calendar.md, "The DAV surface"). Each request checks the token, the ban and the
 * feature flag. A program that polls asks for the ctag alone, which reads no row.
 */
import { type ClockedView, keys, sharedRead } from '../../../runtime/command.ts';
import { ProvenTokens } from '../../identity/calendar-tokens.ts';
import { answerOf } from '../../reply.ts';
import { calendarFeed } from '../feature-flags.ts';
import { isInUse } from '../profile.ts';
import { type FeedAnswer, type ListedObject, type ProgramSecret, UserCalendar } from './contract.ts';
import { isUid } from './input.ts';
import { ctagOf, todosPlan } from './publication.ts';
import { componentOf, openTodo, type TodoRow, todoTable } from './todo.ts';
import { calendarTokenMap } from './tokens.ts';

function ofProgram<Ok>(view: ClockedView, token: ProgramSecret, read: () => Ok): FeedAnswer<Ok> {
  return isProven(view, token) ? answerOf(calendarFeed.refusal(view) ?? read()) : { unproven: true };
}

function isProven(view: ClockedView, { tokenUuid, secretHash }: ProgramSecret): boolean {
  if (!isInUse(view) || view.entry(calendarTokenMap, tokenUuid) === undefined) return false;
  return view.use(ProvenTokens).isProven(tokenUuid, secretHash, view.nowMs);
}

const readCalendar = sharedRead(UserCalendar.commands.readCalendar, (view, { token }) =>
  ofProgram(view, token, () => ({ ctag: ctagOf(view) })),
);

const listed: readonly (keyof TodoRow)[] = ['uid', 'etag', 'object_bytes', 'created_at', 'updated_at'];

/** More at once would hold the event loop for tens of milliseconds. */
const listBatchMax = 1_000;

const listCalendarObjects = sharedRead(UserCalendar.commands.listCalendarObjects, {
  reads: (view, { after }) => ({ todos: todosPlan(view, { after, limit: listBatchMax, columns: listed }) }),
  answer: (view, { token }, { todos }) =>
    ofProgram(view, token, () => ({
      ctag: ctagOf(view),
      objects: todos.rows.map(objectIn),
      ...(!todos.complete && { next: todos.upTo }),
    })),
});

const getCalendarObjects = sharedRead(UserCalendar.commands.getCalendarObjects, {
  reads: ({ self }, { uids }) => ({
    todos: keys(
      todoTable,
      uids.filter(isUid).map((uid) => ({ user_uuid: self.id, uid })),
    ),
  }),
  answer: (view, { token, uids }, { todos }) =>
    ofProgram(view, token, () => {
      const rows = uids.filter(isUid).map((uid) => todos.get({ user_uuid: view.self.id, uid }));
      const objects = rows
        .filter((row) => row !== undefined)
        .map((row) => ({ ...objectIn(row), component: componentOf(openTodo(view, row)) }));
      return { ctag: ctagOf(view), objects };
    }),
});

function objectIn({ uid, etag, ...row }: TodoRow): ListedObject {
  const { object_bytes: bytes, created_at: createdAt, updated_at: updatedAt } = row;
  return { uid, etag, bytes, createdAt, updatedAt };
}

export const calendarFeedCommands = { readCalendar, listCalendarObjects, getCalendarObjects };
