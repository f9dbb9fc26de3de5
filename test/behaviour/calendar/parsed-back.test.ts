/** Whatever people write in a to-do, the libraries of calendar programs find it in its place, and nothing else. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { isRefused } from '../../../actors/reply.ts';
import { readTodo } from '../../../actors/user/calendar/input.ts';
import { findOrMakeCalendarClients } from '../../../tools/calendar-clients.ts';
import { makeToken, publish, publisher, showing, startCalendarServer } from '../../kit/calendar.ts';
import { hostileTexts } from '../../kit/hostile-texts.ts';

const python = findOrMakeCalendarClients(process.env);
const script = new URL('../../kit/calendar-client.py', import.meta.url).pathname;
const run = promisify(execFile);
const samples = 150;

interface Parsed {
  readonly uid: string;
  readonly summary: string;
  readonly description: string | null;
  /** The values of the properties, in order. */
  readonly names: readonly string[];
  readonly components: readonly string[];
}

async function parsedByPython(files: readonly string[]): Promise<readonly Parsed[]> {
  const child = run(python, [script, 'parse'], { maxBuffer: 64 * 1_048_576 });
  child.child.stdin?.end(JSON.stringify(files));
  return JSON.parse((await child).stdout);
}

function parsedByIcalJs(file: string): Parsed {
  const calendar = new ICAL.Component(ICAL.parse(file));
  const [todo, ...others] = calendar.getAllSubcomponents();
  if (todo === undefined) throw new Error('there is no to-do');
  const text = (name: string) => todo.getFirstPropertyValue(name) as string | null;
  const inside = [calendar, todo, ...others, ...todo.getAllSubcomponents()];
  return {
    uid: text('uid') ?? '',
    summary: text('summary') ?? '',
    description: text('description'),
    names: todo
      .getAllProperties()
      .map(({ name }) => name.toUpperCase())
      .toSorted(),
    components: inside.map(({ name }) => name.toUpperCase()),
  };
}

test('hostile texts are read back by ical.js and by icalendar of Python as they were published', async (t) => {
  t.timeout(60_000);
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const isTaken = (todo: object) => !isRefused(readTodo(todo));
  // Values that a property cannot hold are refused; the rest might do harm.
  const fields = fc.record({
    uid: hostileTexts.filter((uid) => isTaken({ uid, summary: 'x' })),
    summary: hostileTexts.filter((summary) => isTaken({ summary })),
    description: hostileTexts.filter((description) => isTaken({ summary: 'x', description })),
  });
  const published: { uid: string; summary: string; description: string; file: string }[] = [];
  const all = fc.uniqueArray(fields, { minLength: samples, maxLength: samples, selector: ({ uid }) => uid });
  for (const todo of fc.sample(all, { seed: 1, numRuns: 1 }).flat()) {
    t.is((await publish(phone, todo)).status, 201);
    const path = `/dav/calendars/${phone.account.userUuid}/todos/${encodeURIComponent(todo.uid)}.ics`;
    const got = await server.call('GET', path, showing(token));
    t.is(got.status, 200, JSON.stringify(todo.uid));
    published.push({ ...todo, file: got.text });
  }
  const byPython = await parsedByPython(published.map(({ file }) => file));
  const lines = (text: string) => text.replaceAll(/\r\n|\r/g, '\n');
  for (const [index, { uid, summary, description, file }] of published.entries()) {
    const around = ['CREATED', 'DTSTAMP', 'LAST-MODIFIED', 'STATUS', 'SUMMARY', 'UID'];
    const expected: Parsed = {
      uid,
      summary: lines(summary),
      description: description === '' ? null : lines(description),
      names: [...around, ...(description === '' ? [] : ['DESCRIPTION'])].toSorted(),
      components: ['VCALENDAR', 'VTODO'],
    };
    t.deepEqual(parsedByIcalJs(file), expected);
    t.deepEqual(byPython[index], expected);
  }
});
