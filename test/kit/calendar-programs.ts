/** Real calendar programs against a server: each discovers the calendar from one address, and notices changes. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { createDAVClient } from 'tsdav';
import { findOrMakeCalendarClients } from '../../tools/calendar-clients.ts';
import { publish, unpublish } from './calendar.ts';
import type { Device } from './device.ts';
import { temporaryFolder } from './temporary-folder.ts';

const python = findOrMakeCalendarClients(process.env);
const script = new URL('./calendar-client.py', import.meta.url).pathname;
const run = promisify(execFile);

export interface CalendarToSee {
  /** The address of the server, or of the proxy in front of several. */
  readonly url: string;
  /** The only account that has this calendar. */
  readonly phone: Device;
  readonly token: string;
}

async function seenByCaldav(t: ExecutionContext, { url, phone, token }: CalendarToSee): Promise<void> {
  const see = async () => {
    const client = run(python, [script, `${url}/dav/`, 'me']);
    client.child.stdin?.end(token);
    return JSON.parse((await client).stdout);
  };
  await publish(phone, { uid: 'a', summary: 'first; one' });
  await publish(phone, { uid: 'b', summary: 'second', due: '2026-03-01' });
  const seen = await see();
  t.like(seen, { name: 'Published to-dos', components: ['VTODO'] });
  t.deepEqual(
    [seen.all, seen.open],
    [
      ['first; one', 'second'],
      ['first; one', 'second'],
    ],
  );
  await publish(phone, { uid: 'a', summary: 'first', completed: true });
  await publish(phone, { uid: 'c', summary: 'third' });
  await unpublish(phone, 'b');
  const later = await see();
  t.deepEqual([later.all, later.open], [['first', 'third'], ['third']]);
}

async function seenByVdirsyncer(t: ExecutionContext, { url, phone, token }: CalendarToSee): Promise<void> {
  const home = temporaryFolder(t);
  const env = {
    ...process.env,
    HOME: home,
    VDIRSYNCER_CONFIG: join(home, 'config'),
    TZ: 'UTC',
    LC_ALL: 'C.UTF-8',
  };
  const folder = join(home, 'todos');
  mkdirSync(folder);
  writeFileSync(
    env.VDIRSYNCER_CONFIG,
    `[general]\nstatus_path = "${home}/status"\n\n[pair todos]\na = "here"\nb = "there"\ncollections = ["from b"]\nconflict_resolution = "b wins"\n\n[storage here]\ntype = "filesystem"\npath = "${folder}"\nfileext = ".ics"\n\n[storage there]\ntype = "caldav"\nurl = "${url}/dav/"\nusername = "me"\npassword = "${token}"\nitem_types = ["VTODO"]\nread_only = true\n`,
  );
  writeFileSync(
    join(home, 'todoman.py'),
    `path = "${folder}/*"\ndate_format = "%Y-%m-%d"\ndefault_list = "todos"\n`,
  );
  const sync = async () => {
    const discovered = run(python, ['-m', 'vdirsyncer', 'discover'], { env });
    discovered.child.stdin?.end('y\ny\n');
    await discovered;
    await run(python, ['-m', 'vdirsyncer', 'sync'], { env });
    const listed = await run(
      python,
      ['-m', 'todoman', '--config', join(home, 'todoman.py'), '--porcelain', 'list', '--status', 'ANY'],
      { env },
    );
    const todos: { summary: string; completed: boolean }[] = JSON.parse(listed.stdout);
    return todos.map(({ summary, completed }) => `${summary} ${completed}`).toSorted();
  };
  await publish(phone, { uid: 'a', summary: 'first, one' });
  await publish(phone, { uid: 'b', summary: 'second' });
  t.deepEqual(await sync(), ['first, one false', 'second false']);
  await publish(phone, { uid: 'a', summary: 'first', completed: true });
  await publish(phone, { uid: 'c', summary: 'third' });
  await unpublish(phone, 'b');
  t.deepEqual(await sync(), ['first true', 'third false']);
}

async function seenByTsdav(t: ExecutionContext, { url, phone, token }: CalendarToSee): Promise<void> {
  await publish(phone, { uid: 'a' });
  await publish(phone, { uid: 'b' });
  const client = await createDAVClient({
    serverUrl: `${url}/dav/`,
    credentials: { username: 'me', password: token },
    authMethod: 'Basic',
    defaultAccountType: 'caldav',
  });
  const [calendar] = await client.fetchCalendars();
  if (calendar === undefined) return t.fail('no calendar');
  t.like(calendar, { displayName: 'Published to-dos', components: ['VTODO'] });
  const filters = [
    {
      'comp-filter': {
        _attributes: { name: 'VCALENDAR' },
        'comp-filter': { _attributes: { name: 'VTODO' } },
      },
    },
  ];
  const fetchAll = () => client.fetchCalendarObjects({ calendar, filters });
  const objects = await fetchAll();
  t.deepEqual(
    objects.map(({ url }) => url.slice(url.lastIndexOf('/') + 1)),
    ['a.ics', 'b.ics'],
  );
  t.true(objects.every((object) => object.url.startsWith(url) && object.data.includes('BEGIN:VTODO')));
  t.false((await client.isCollectionDirty({ collection: calendar })).isDirty);
  await publish(phone, { uid: 'a', completed: true });
  await unpublish(phone, 'b');
  t.true((await client.isCollectionDirty({ collection: calendar })).isDirty);
  const [changed, ...others] = await fetchAll();
  t.true(changed?.data.includes('STATUS:COMPLETED'));
  t.not(changed?.etag, objects[0]?.etag);
  t.deepEqual(others, []);
}

/** Keyed by the title that each shows. */
export const calendarPrograms: Readonly<
  Record<string, (t: ExecutionContext, calendar: CalendarToSee) => Promise<void>>
> = {
  'caldav of Python lists what is open and what is done, and notices changes': seenByCaldav,
  'vdirsyncer copies the calendar into a folder, where todoman lists it': seenByVdirsyncer,
  'tsdav discovers the calendar, fetches its objects and sees whether anything changed': seenByTsdav,
};
