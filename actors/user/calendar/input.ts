/** Checks what clients send: a to-do to publish, or the label of a token. */
import { isStorableText } from '../../../runtime/table.ts';
import { type Refused, refuse } from '../../reply.ts';
import { isoTime } from '../../times.ts';
import type { Todo } from './todo.ts';

const summaryCharactersMax = 4_096;
const descriptionCharactersMax = 65_536;
const uidCharactersMax = 255;
const labelCharactersMax = 255;

export interface TodoInput {
  /** Absent: the server makes one. */
  readonly uid: string | undefined;
  readonly todo: Todo;
}

type TodoFields = Readonly<
  Partial<
    Record<
      'uid' | 'summary' | 'description' | 'start' | 'due' | 'completed' | 'completedAt' | 'priority',
      unknown
    >
  >
>;

const invalidLabel = refuse.badRequest(`A label has 1 to ${labelCharactersMax} characters.`, 'invalid-label');

const invalid = (field: keyof TodoFields, why: string): Refused => ({
  refused: { reason: 'bad-request', tag: 'invalid-todo', message: `${field}: ${why}`, payload: { field } },
});

/** Null counts as absent. */
export function readTodo(fields: TodoFields): TodoInput | Refused {
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
  const times = readTimes(fields, completed);
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

function readTimes(
  fields: TodoFields,
  completed: boolean,
): Pick<Todo, 'start' | 'due' | 'completedAt'> | Refused {
  const times: { start?: string; due?: string; completedAt?: string } = {};
  for (const field of ['start', 'due', 'completedAt'] as const) {
    const input = fields[field] ?? undefined;
    if (input === undefined) continue;
    const time = readTime(input);
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
/** Calendar programs get no fractions of a second. */
const wholeSecond = (time: string): number => Math.floor(Date.parse(time) / 1_000);

const date = /^\d{4}-\d{2}-\d{2}$/;
const dateTime =
  /^(?<local>(?<day>\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)(Z|(?<hours>[+-]([01]\d|2[0-3]))(:?(?<minutes>[0-5]\d))?)$/;

/** A date as it is, or a date-time in UTC. Undefined: it is neither, or not in the calendar. */
function readTime(input: unknown): string | undefined {
  if (typeof input !== 'string') return undefined;
  const text = input.trim().toUpperCase();
  if (date.test(text)) return isInCalendar(text) ? text : undefined;
  const { local, day = '', hours, minutes = '00' } = dateTime.exec(text)?.groups ?? {};
  if (!isInCalendar(day)) return undefined;
  // ISO 8601 has three forms of an offset. `Date.parse` reads one of them everywhere.
  const ms = Date.parse(`${local}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
  if (Number.isNaN(ms)) return undefined;
  const utc = isoTime(ms);
  return isInCalendar(utc.slice(0, 10)) ? utc : undefined;
}

/** `Date.parse` takes the 31st of any month, and years that the calendar format has no digits for. */
function isInCalendar(day: string): boolean {
  if (!date.test(day) || day.startsWith('0000')) return false;
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && isoTime(ms).startsWith(day);
}

const isPriority = (input: unknown): input is number =>
  typeof input === 'number' && Number.isInteger(input) && input >= 0 && input <= 9;

/** XML cannot hold these characters: one would make a whole reply unreadable. It can hold tabs and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: likewise
const notInUid = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff/\\]/;

const isText = (input: unknown, charactersMax: number): input is string =>
  typeof input === 'string' &&
  input.length <= charactersMax &&
  isStorableText(input) &&
  !notInXml.test(input);

export const isUid = (input: unknown): input is string =>
  typeof input === 'string' &&
  input.length >= 1 &&
  input.length <= uidCharactersMax &&
  input !== '.' &&
  input !== '..' &&
  isStorableText(input) &&
  !notInUid.test(input);

export function readLabel(input: unknown): string | Refused {
  const label = typeof input === 'string' ? input.trim() : '';
  if (label === '' || !isText(label, labelCharactersMax)) return invalidLabel;
  return label;
}
