/**
 * A to-do as calendar programs read it: iCalendar text by RFC 5545. The ETag is made from the text, so the same to-do always
 * gives the same text. A change of what is written here must give the stored rows new ETags.
 */
import { hash } from 'node:crypto';
import { content, escaped } from '../../icalendar.ts';
import { isoTime } from '../times.ts';
import type { ShownTodo } from './todo.ts';

/** What stands between the beginning and the end of a calendar. */
export function componentOf(todo: ShownTodo): string {
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

/** With its quotes. */
export const etagOf = (object: string): string => `"${hash('sha256', object, 'hex')}"`;

function statusOf({ completed, completedAt, updatedAt }: ShownTodo): readonly string[] {
  if (!completed) return ['STATUS:NEEDS-ACTION'];
  const atMs = completedAt === undefined ? updatedAt : Date.parse(completedAt);
  return ['STATUS:COMPLETED', 'PERCENT-COMPLETE:100', `COMPLETED:${utc(atMs)}`];
}

const isDate = (text: string): boolean => !text.includes('T');

const moment = (text: string): string =>
  isDate(text) ? `;VALUE=DATE:${text.replaceAll('-', '')}` : `:${utc(Date.parse(text))}`;

/** Without fractions of a second, which the format does not know. */
const utc = (ms: number): string => `${isoTime(ms).slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
