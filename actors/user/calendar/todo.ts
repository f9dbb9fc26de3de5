/** A to-do: its row, its sealed contents, and its iCalendar text (docs/protocol/calendar.md, "To-dos"). */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { View } from '../../../runtime/command.ts';
import { type RowOf, table } from '../../../runtime/table.ts';
import { content, escaped } from '../../icalendar.ts';
import { sealedValues } from '../../identity/user-secrets.ts';
import { isoTime } from '../../times.ts';

export const todoTable = table({
  name: 'calendar_todo',
  columns: {
    user_uuid: 'uuid',
    /** The client's, or made by the server. */
    uid: 'text',
    position: 'int8',
    /** The sealed JSON of a `Todo`. */
    contents: 'bytea',
    /** The ETag and the size of the object, so that a list need not unseal any to-do. */
    etag: 'text',
    object_bytes: 'int8',
    /** Counts towards the account's limit of bytes. */
    size: 'int8',
    /** Milliseconds; so is `updated_at`. */
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['user_uuid', 'uid'],
  order: 'position',
});
export type TodoRow = RowOf<typeof todoTable>;

/** Dates and times are texts: `2026-03-01`, or UTC with milliseconds. */
const todoSchema = z.object({
  summary: z.string(),
  description: z.string().optional(),
  start: z.string().optional(),
  due: z.string().optional(),
  completed: z.boolean(),
  completedAt: z.string().optional(),
  priority: z.int().optional(),
});
/** What the client says of it. */
export type Todo = z.infer<typeof todoSchema>;

export const todoResponseSchema = todoSchema.extend({
  uid: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type TodoResponse = z.infer<typeof todoResponseSchema>;

/** To-dos are sealed under their uid. */
export const sealedTodos = sealedValues(todoSchema, 'to-do');

export function openTodo(view: View, { uid, contents, ...row }: TodoRow): TodoResponse {
  const todo = sealedTodos.open(view, uid, contents);
  return { uid, ...todo, createdAt: row.created_at, updatedAt: row.updated_at };
}

/**
 * The part of the object within the calendar, by RFC 5545. The ETag is a hash of the object, so the same to-do always gives the
 * same text. If you change this text, give the stored rows new ETags.
 */
export function componentOf(todo: TodoResponse): string {
  const { uid, summary, description = '', start, due, priority } = todo;
  const updatedAt = utc(todo.updatedAt);
  return content([
    'BEGIN:VTODO',
    `UID:${escaped(uid)}`,
    `DTSTAMP:${updatedAt}`,
    `CREATED:${utc(todo.createdAt)}`,
    `LAST-MODIFIED:${updatedAt}`,
    `SUMMARY:${escaped(summary)}`,
    ...(description === '' ? [] : [`DESCRIPTION:${escaped(description)}`]),
    ...(start === undefined ? [] : [`DTSTART${moment(start)}`]),
    ...(due === undefined ? [] : [`DUE${moment(due)}`]),
    ...(priority === undefined ? [] : [`PRIORITY:${priority}`]),
    ...statusOf(todo),
    'END:VTODO',
  ]);
}

/** The entity tag, with its quotes. */
export const etagOf = (object: string): string => `"${hash('sha256', object, 'hex')}"`;

function statusOf({ completed, completedAt, updatedAt }: TodoResponse): readonly string[] {
  if (!completed) return ['STATUS:NEEDS-ACTION'];
  const atMs = completedAt === undefined ? updatedAt : Date.parse(completedAt);
  return ['STATUS:COMPLETED', 'PERCENT-COMPLETE:100', `COMPLETED:${utc(atMs)}`];
}

const isDate = (text: string): boolean => !text.includes('T');

const moment = (text: string): string =>
  isDate(text) ? `;VALUE=DATE:${text.replaceAll('-', '')}` : `:${utc(Date.parse(text))}`;

/** The format has no fractions of a second. */
const utc = (ms: number): string => `${isoTime(ms).slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
