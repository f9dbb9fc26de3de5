import { randomUUID } from 'node:crypto';
import test from 'ava';
import { publicationSlice } from '../../../actors/user/calendar/publication.ts';
import { decode, encode } from '../../../runtime/store/encoding.ts';
import type { Write } from '../../../runtime/store/store.ts';
import { sliceTable } from '../../../runtime/store/tables.ts';
import {
  publish,
  publisher,
  startCalendarServer,
  todosPath,
  unpublish,
  wantCalendar,
} from '../../kit/calendar.ts';
import type { Device } from '../../kit/device.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

test('a to-do that is published is listed, replaced as a whole and taken back', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const made = await publish(phone, { uid: 'b', description: 'twice', priority: 3, start: '2026-03-01' });
  t.is(made.status, 201);
  const { todo, ...beside } = made.body;
  const createdAt = server.clock.nowMs();
  const times = { createdAt, updatedAt: createdAt };
  t.deepEqual(todo, {
    uid: 'b',
    summary: 'water the plants',
    description: 'twice',
    start: '2026-03-01',
    completed: false,
    priority: 3,
    ...times,
  });
  t.deepEqual(beside, todo);
  await publish(phone, { uid: 'a' });
  const replaced = await publish(phone, { uid: 'b', completed: true, createdAt: 1, updatedAt: 1, x: 'y' });
  t.is(replaced.status, 200);
  const now = { uid: 'b', summary: 'water the plants', completed: true };
  t.deepEqual(replaced.body.todo, { ...now, createdAt, updatedAt: createdAt + 1 });
  const listed = await phone.call('GET', `${todosPath}/`);
  t.is(listed.body.meta, undefined);
  t.deepEqual(
    listed.body.todos.map(({ uid }: { uid: string }) => uid),
    ['a', 'b'],
  );
  t.deepEqual((await unpublish(phone, 'b')).body, { deleted: true });
  t.is((await unpublish(phone, 'b')).body.error.tag, 'caldav-todo-not-found');
  t.is((await phone.call('GET', todosPath)).body.todos.length, 1);
});

test('a to-do without a uid gets one, and its times are those of UTC', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  const { body } = await publish(phone, {
    uid: null,
    description: null,
    start: '2026-03-01T10:00+02:00',
    due: '2026-03-01T08:00:01.5Z',
    completed: true,
    completedAt: '2026-02-28t23:59:59z',
    priority: null,
  });
  t.regex(body.uid, /^[0-9a-f-]{36}$/);
  t.like(body.todo, { start: '2026-03-01T08:00:00.000Z', due: '2026-03-01T08:00:01.500Z' });
  t.is(body.todo.completedAt, '2026-02-28T23:59:59.000Z');
  t.false('description' in body.todo || 'priority' in body.todo);
});

test('an offset may be in any form of ISO 8601', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  for (const offset of ['+02:30', '+0230', '-02:00', '-0200', '-02', 'z']) {
    const { status, body } = await publish(phone, { due: `2026-03-01T10:00${offset}` });
    const hour = { '+': '07:30', '-': '12:00', z: '10:00' }[offset[0] ?? ''];
    t.deepEqual([status, body.due], [201, `2026-03-01T${hour}:00.000Z`], offset);
  }
});

test('a body that is no to-do is refused by the field that is wrong', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  const wrong: [string, object][] = [
    ...['', '.', '..', 'a/b', 'a\\b', 'a\u007f', 'a\u0085', 'a\uffff', '\ud800', 'x'.repeat(256), 7].map(
      (uid): [string, object] => ['uid', { uid }],
    ),
    ...['', ' \n', undefined, 'x'.repeat(4_097), 'a\u0000', 'a\u000b', 'a\ufffe', 'a\uffff', '\udfff', 5].map(
      (summary): [string, object] => ['summary', { summary }],
    ),
    ['description', { description: 'x'.repeat(65_537) }],
    ['description', { description: 'a\u001b' }],
    ['completed', { completed: 'true' }],
    ...[1.5, -1, 10, '1'].map((priority): [string, object] => ['priority', { priority }]),
    ...[
      ...['2026-02-29', '2026-13-01', '0000-01-01', '10000-01-01', '2026-3-1', 'tomorrow', 1_772_000_000_000],
      ...['2026-03-01T10:00', '2026-03-01T25:00Z', '2026-03-01T10:00:60Z', '2026-02-30T10:00Z'],
      ...[
        '0001-01-01T00:00+01:00',
        '9999-12-31T23:59-01:00',
        '2026-03-01T10:00+24:00',
        '2026-03-01T10:00+2',
        '2026-03-01T10:00+02:60',
      ],
    ].flatMap((time): [string, object][] => [
      ['start', { start: time }],
      ['due', { due: time }],
    ]),
    ['due', { start: '2026-03-01', due: '2026-03-01' }],
    ['due', { start: '2026-03-01', due: '2026-03-02T00:00Z' }],
    ['due', { start: '2026-03-01T10:00:00.1Z', due: '2026-03-01T10:00:00.9Z' }],
    ['completedAt', { completedAt: '2026-03-01T10:00Z' }],
    ['completedAt', { completed: true, completedAt: '2026-03-01' }],
  ];
  for (const [field, fields] of wrong) {
    const { status, body } = await publish(phone, { uid: 'a', ...fields });
    const { tag, payload } = body.error ?? {};
    t.deepEqual(
      { status, tag, payload },
      { status: 400, tag: 'invalid-todo', payload: { field } },
      JSON.stringify(fields).slice(0, 80),
    );
  }
  t.deepEqual((await phone.call('GET', todosPath)).body.todos, []);
});

test('a to-do of the largest size is published, and taken back by its uid', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  const uid = '\u{ffee}'.repeat(255);
  const largest = { uid, summary: '\u{1f600}'.repeat(2_048), description: '\u2028'.repeat(65_536) };
  t.is((await publish(phone, largest)).status, 201);
  t.is((await unpublish(phone, uid)).status, 200);
});

test('publishing needs both flags on; listing and taking back do not', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  await publish(phone, { uid: 'a' });
  await wantCalendar(phone, 'false');
  t.is((await publish(phone, { uid: 'a' })).body.error.tag, 'caldav-not-allowed');
  await wantCalendar(phone);
  await server.restart({ accounts: { calendar: false } });
  const refused = await publish(phone, { uid: 'a', summary: '' });
  t.deepEqual([refused.status, refused.body.error.tag], [403, 'caldav-disabled']);
  t.is((await phone.call('GET', todosPath)).body.todos.length, 1);
  t.is((await unpublish(phone, 'a')).status, 200);
});

test('an account may hold sixteen mebibytes of to-dos', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  const description = '\uffee'.repeat(65_536);
  let held = 0;
  for (; held < 100; held += 1) {
    const { status, body } = await publish(phone, { uid: String(held), description });
    if (status === 201) continue;
    t.deepEqual([status, body.error.tag], [409, 'caldav-store-full']);
    break;
  }
  t.is(held, 85);
  t.is((await publish(phone, { uid: '0' })).status, 200);
  t.is((await publish(phone, { uid: 'more', description })).status, 201);
});

test('an account may publish its to-dos as fast as it can, and is shown all of them by uid', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  const uids = Array.from({ length: 1_210 }, (_, index) => `todo ${index}`);
  for (let at = 0; at < uids.length; at += 110) {
    const answers = await Promise.all(uids.slice(at, at + 110).map((uid) => publish(phone, { uid })));
    t.true(answers.every(({ status }) => status === 201));
  }
  // One of the first is now the one that changed last.
  await publish(phone, { uid: 'todo 7', completed: true });
  const { todos } = (await phone.call('GET', todosPath)).body;
  t.deepEqual(
    todos.map(({ uid }: { uid: string }) => uid),
    uids.toSorted(),
  );
  t.deepEqual(todos.filter(({ completed }: { completed: boolean }) => completed).length, 1);
});

test('the ten thousand and first to-do of an account is refused, until there is one less', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  await publish(phone, { uid: 'a' });
  await holdTodos(server, phone, 9_999);
  t.is((await publish(phone, { uid: 'b' })).status, 201);
  const refused = await publish(phone, { uid: 'c' });
  t.deepEqual([refused.status, refused.body.error.tag], [409, 'caldav-item-limit']);
  t.is((await publish(phone, { uid: 'b', completed: true })).status, 200);
  await unpublish(phone, 'a');
  t.is((await publish(phone, { uid: 'c' })).status, 201);
});

/** Simulates a calendar of this size. */
async function holdTodos(server: TestServer, { account }: Device, todos: number): Promise<void> {
  const { host } = server;
  const address = { kind: 'user', id: account.userUuid };
  const { name: slice, schema, format } = publicationSlice;
  const row = (await host.store.slices(address)).find((each) => each.slice === slice);
  const before = schema.parse(decode(row?.data ?? Buffer.alloc(0), format));
  const data = encode(format, { ...before, todos });
  const head = await host.store.head(address);
  if (head === undefined) throw new Error('there is no such account');
  const write: Write = { table: sliceTable, put: { ...address, slice, data }, isNew: false };
  await host.store.commit([{ address, ...head, commitId: randomUUID(), writes: [write] }]);
  await server.restart();
}

test('an account that is deleted leaves none of its to-dos', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  for (let index = 0; index < 3; index += 1) await publish(phone, { uid: String(index) });
  const headers = { 'x-server-password': phone.account.password };
  t.is((await phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, { headers })).status, 200);
  await server.advance(10_000);
  t.is(server.host.database.sizes.get('calendar_todo'), 0);
});

test("nobody sees or changes another user's to-do", async (t) => {
  const server = await startServer(t, { accounts: { calendar: true } });
  const phone = await publisher(server);
  const other = await publisher(server, 'bob@example.org');
  await publish(phone, { uid: 'a' });
  t.is((await unpublish(other, 'a')).status, 404);
  t.deepEqual((await other.call('GET', todosPath)).body.todos, []);
  t.is((await server.call('GET', todosPath)).status, 401);
});
