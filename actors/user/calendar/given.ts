/** What clients give: a to-do to publish, or the label of a token. */
import { type Refused, refuse } from '../../reply.ts';
import { isoTime } from '../times.ts';
import type { Todo } from './todo.ts';

const summaryCharactersMax = 4_096;
const descriptionCharactersMax = 65_536;
const uidCharactersMax = 255;
const labelCharactersMax = 255;

export interface GivenTodo {
  /** Absent: it is made here. */
  readonly uid: string | undefined;
  readonly todo: Todo;
}

export interface TodoFields {
  readonly uid?: unknown;
  readonly summary?: unknown;
  readonly description?: unknown;
  readonly start?: unknown;
  readonly due?: unknown;
  readonly completed?: unknown;
  readonly completedAt?: unknown;
  readonly priority?: unknown;
}

const invalidLabel = refuse.badRequest(`A label has 1 to ${labelCharactersMax} characters.`, 'invalid-label');

const invalid = (field: keyof TodoFields, why: string): Refused => ({
  refused: { reason: 'bad-request', tag: 'invalid-todo', message: `${field}: ${why}`, payload: { field } },
});

/** Null is as good as nothing. */
export function givenTodo(fields: TodoFields): GivenTodo | Refused {
  const uid = fields.uid ?? undefined;
  const description = fields.description ?? undefined;
  const priority = fields.priority ?? undefined;
  const completed = fields.completed ?? false;
  if (uid !== undefined && !isUid(uid)) {
    return invalid('uid', `1 to ${uidCharactersMax} characters, no slash, backslash or control character.`);
  }
  const { summary } = fields;
  if (!isText(summary, summaryCharactersMax) || summary.trim() === '') {
    return invalid('summary', `text of ${summaryCharactersMax} characters at most, and not blank.`);
  }
  if (description !== undefined && !isText(description, descriptionCharactersMax)) {
    return invalid('description', `text of ${descriptionCharactersMax} characters at most.`);
  }
  if (typeof completed !== 'boolean') return invalid('completed', 'true or false.');
  if (priority !== undefined && !isPriority(priority)) return invalid('priority', 'a whole number, 0 to 9.');
  const times = givenTimes(fields, completed);
  if ('refused' in times) return times;
  return {
    uid,
    todo: {
      summary,
      ...(description !== undefined && { description }),
      ...times,
      completed,
      ...(priority !== undefined && { priority }),
    },
  };
}

function givenTimes(
  fields: TodoFields,
  completed: boolean,
): Pick<Todo, 'start' | 'due' | 'completedAt'> | Refused {
  const times: { start?: string; due?: string; completedAt?: string } = {};
  for (const field of ['start', 'due', 'completedAt'] as const) {
    const given = fields[field] ?? undefined;
    if (given === undefined) continue;
    const time = givenTime(given);
    if (time === undefined) return invalid(field, 'YYYY-MM-DD, or a date-time with Z or an offset.');
    times[field] = time;
  }
  const { start, due, completedAt } = times;
  if (completedAt !== undefined && !completed) return invalid('completedAt', 'only of what is completed.');
  if (completedAt !== undefined && isDate(completedAt)) {
    return invalid('completedAt', 'a date-time with Z or an offset.');
  }
  if (start === undefined || due === undefined) return times;
  if (isDate(start) !== isDate(due)) return invalid('due', 'of the same kind as start.');
  return wholeSecond(due) > wholeSecond(start) ? times : invalid('due', 'later than start, by a second.');
}

const isDate = (time: string): boolean => !time.includes('T');
/** Calendar programs get no fractions. */
const wholeSecond = (time: string): number => Math.floor(Date.parse(time) / 1_000);

const date = /^\d{4}-\d{2}-\d{2}$/;
const dateTime =
  /^(?<local>(?<day>\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)(Z|(?<hours>[+-]([01]\d|2[0-3]))(:?(?<minutes>[0-5]\d))?)$/;

/** A date as it is, a date-time in UTC. Undefined for what is neither, or not in the calendar. */
function givenTime(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const text = given.trim().toUpperCase();
  if (date.test(text)) return isInCalendar(text) ? text : undefined;
  const { local, day = '', hours, minutes = '00' } = dateTime.exec(text)?.groups ?? {};
  if (!isInCalendar(day)) return undefined;
  // ISO 8601 has three forms of an offset. The language reads one of them everywhere.
  const ms = Date.parse(`${local}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
  if (Number.isNaN(ms)) return undefined;
  const utc = isoTime(ms);
  return isInCalendar(utc.slice(0, 10)) ? utc : undefined;
}

/** The language takes the 31st of any month, and years that the format of calendars has no digits for. */
function isInCalendar(day: string): boolean {
  if (!date.test(day) || day.startsWith('0000')) return false;
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && isoTime(ms).startsWith(day);
}

const isPriority = (given: unknown): given is number =>
  typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= 9;

/** What XML cannot hold: one would make a whole reply unreadable. Tabs and the ends of lines it can. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: likewise
const notInUid = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff/\\]/;

function isWellFormed(value: string): boolean {
  // Every supported Node has the method; the language level of the types does not.
  return (value as string & { isWellFormed(): boolean }).isWellFormed();
}

const isText = (given: unknown, charactersMax: number): given is string =>
  typeof given === 'string' && given.length <= charactersMax && isWellFormed(given) && !notInXml.test(given);

export const isUid = (given: unknown): given is string =>
  typeof given === 'string' &&
  given.length >= 1 &&
  given.length <= uidCharactersMax &&
  given !== '.' &&
  given !== '..' &&
  isWellFormed(given) &&
  !notInUid.test(given);

export function givenLabel(given: unknown): string | Refused {
  const label = typeof given === 'string' ? given.trim() : '';
  if (label === '' || !isText(label, labelCharactersMax)) return invalidLabel;
  return label;
}
