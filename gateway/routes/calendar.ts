/** To-dos that an account publishes, and the tokens of its calendar programs (docs/protocol/calendar.md). Never in the envelope. */
import { z } from 'zod';
import {
  calendarGates,
  todoResponseSchema,
  UserCalendar,
  uidEscapedMax,
} from '../../actors/user/calendar/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const { endpoint } = family({ tag: 'Calendar feed', enveloped: false });
const todos = '/v1/caldav/todos';
const tokens = '/v1/caldav/tokens';

/** The longest description with each character escaped, and the rest. */
const todoBytesMax = 512 * 1024;

/** The published object is repeated beside its parts, because clients look in either place. */
const published = todoResponseSchema.extend({ todo: todoResponseSchema });

export function calendarRoutes({ calendar }: RoutesOptions): readonly AnyRoute[] {
  const { basePath, publicUrl } = calendar;
  const server = { basePath, url: publicUrl === undefined ? null : `${publicUrl}${basePath}/` };
  return [
    endpoint(`GET ${todos}`, {
      command: UserCalendar.commands.listTodos,
      summary: 'The to-dos that the account has published, by uid.',
    }),
    endpoint(`POST ${todos}`, {
      command: UserCalendar.commands.publishTodo,
      summary: 'Publishes a to-do, or replaces the one of this uid as a whole.',
      replies: { 200: published, 201: published },
      replyOf: ({ created, todo }) => ({ status: created ? 201 : 200, body: { ...todo, todo } }),
      refusals: [400, 409],
      bodyLimit: todoBytesMax,
    }),
    endpoint(`DELETE ${todos}/:uid`, {
      command: UserCalendar.commands.unpublishTodo,
      summary: 'Takes a to-do back.',
      parameterCharactersMax: uidEscapedMax,
      refusals: [404],
    }),
    endpoint(`GET ${tokens}/config`, {
      command: UserCalendar.commands.getCalendarFlags,
      summary:
        'Whether the operator and the user have turned the calendar feed on, and where programs find it.',
      replies: { 200: calendarGates.extend({ basePath: z.string(), url: z.string().nullable() }) },
      replyOf: (flags) => ({ status: 200, body: { ...flags, ...server } }),
    }),
    endpoint(`GET ${tokens}`, {
      command: UserCalendar.commands.listCalendarTokens,
      summary: 'The calendar tokens of the account, and when each was last used.',
    }),
    endpoint(`POST ${tokens}`, {
      command: UserCalendar.commands.makeCalendarToken,
      status: 201,
      summary: 'Makes a calendar token and shows it only this once.',
      refusals: [400, 409],
    }),
    endpoint(`DELETE ${tokens}/:uuid`, {
      command: UserCalendar.commands.revokeCalendarToken,
      summary: 'Revokes a calendar token: it opens nothing from then on.',
      refusals: [404],
    }),
    endpoint(`DELETE ${tokens}`, {
      command: UserCalendar.commands.revokeCalendarTokens,
      summary: 'Revokes all calendar tokens of the account.',
    }),
  ];
}
