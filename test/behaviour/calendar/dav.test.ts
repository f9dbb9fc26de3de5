import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import {
  makeToken,
  publish,
  publisher,
  showing,
  startCalendarServer,
  tokensPath,
  unpublish,
  wantCalendar,
} from '../../kit/calendar.ts';
import { type Device, deleteAccount } from '../../kit/device.ts';
import { latch } from '../../kit/gateway.ts';
import { quickTokenHasher } from '../../kit/hasher.ts';
import type { Answer, Call } from '../../kit/http.ts';
import type { TestServer } from '../../kit/server.ts';

interface Program {
  readonly phone: Device;
  readonly todos: string;
  readonly token: { readonly uuid: string; readonly token: string };
  ask(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Answer>;
}

async function programOf(server: TestServer, email?: string): Promise<Program> {
  const phone = await publisher(server, email);
  const token = await makeToken(phone);
  return {
    phone,
    token,
    todos: `/dav/calendars/${phone.account.userUuid}/todos/`,
    ask: (method, path, body, headers = {}) =>
      server.call(method, path, withBody({ headers: { ...showing(token.token).headers, ...headers } }, body)),
  };
}

const withBody = (call: Call, body: string | undefined): Call =>
  body === undefined
    ? call
    : { ...call, text: body, headers: { 'content-type': 'application/xml', ...call.headers } };

const names =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CS="http://calendarserver.org/ns/"';
const propfind = (properties: string) => `<D:propfind ${names}><D:prop>${properties}</D:prop></D:propfind>`;
const query = (filter: string, properties = '<D:getetag/>') =>
  `<C:calendar-query ${names}><D:prop>${properties}</D:prop><C:filter>${filter}</C:filter></C:calendar-query>`;
const todoFilter = (within = '') =>
  `<C:comp-filter name="VCALENDAR"><C:comp-filter name="VTODO">${within}</C:comp-filter></C:comp-filter>`;
const multiget = (hrefs: readonly string[], properties = '<D:getetag/><C:calendar-data/>') =>
  `<C:calendar-multiget ${names}><D:prop>${properties}</D:prop>${hrefs.map((href) => `<D:href>${href}</D:href>`).join('')}</C:calendar-multiget>`;
const hrefsIn = ({ text }: Answer) =>
  [...text.matchAll(/<D:response><D:href>([^<]*)/g)].map(([, href]) => href);
const tagsIn = ({ text }: Answer) => [...text.matchAll(/<D:getetag>([^<]*)/g)].map(([, tag]) => tag);
const ctagOf = async ({ ask, todos }: Program) =>
  /<CS:getctag>([^<]*)/.exec((await ask('PROPFIND', todos, propfind('<CS:getctag/>'))).text)?.[1];

test('a program finds its way from the base path to the objects', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  const { userUuid } = phone.account;
  await publish(phone, { uid: 'b' });
  await publish(phone, { uid: 'a b/é'.replace('/', '') });
  const root = await ask('PROPFIND', '/dav/', propfind('<D:current-user-principal/><x:y xmlns:x="u:r"/>'));
  t.is(root.status, 207);
  t.is(root.headers.get('content-type'), 'application/xml; charset=utf-8');
  t.is(root.headers.get('dav'), '1, 3, calendar-access');
  t.true(root.text.includes(`<D:current-user-principal><D:href>/dav/principals/${userUuid}/</D:href>`));
  t.regex(
    root.text,
    /<D:multistatus[^>]* xmlns:(X\d+)="u:r".*<\1:y\/><\/D:prop><D:status>HTTP\/1\.1 404 Not Found/s,
  );
  t.deepEqual(hrefsIn(root), ['/dav/']);
  const principal = await ask('PROPFIND', `/dav/principals/${userUuid}`, propfind('<C:calendar-home-set/>'));
  t.true(principal.text.includes(`<D:href>/dav/calendars/${userUuid}/</D:href></C:calendar-home-set>`));
  const home = await ask('PROPFIND', `/dav/calendars/${userUuid.toUpperCase()}/`, undefined, { depth: '1' });
  t.deepEqual(hrefsIn(home), [`/dav/calendars/${userUuid}/`, todos]);
  t.true(home.text.includes('<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>'));
  const listed = await ask('PROPFIND', todos, propfind('<D:getetag/>'), { depth: '1' });
  t.deepEqual(hrefsIn(listed), [todos, `${todos}a%20b%C3%A9.ics`, `${todos}b.ics`]);
  const names = await ask('PROPFIND', todos, '<propfind xmlns="DAV:"><propname/></propfind>');
  t.true(names.text.includes('<CS:getctag/>'));
});

test('an object is the same text with the same ETag wherever it is read', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  await publish(phone, { uid: 'b;1', summary: 'a, b; c\\ d\r\ne: "f" <&>', description: 'é'.repeat(80) });
  await publish(phone, { uid: 'a', start: '2026-03-01', due: '2026-03-02', priority: 0, completed: true });
  const href = `${todos}b%3B1.ics`;
  const got = await ask('GET', href);
  const stamp = `${new Date(server.clock.nowMs()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  t.is(
    got.text,
    [
      ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Scriptorium//To-do feed//EN', 'CALSCALE:GREGORIAN'],
      ...['BEGIN:VTODO', 'UID:b\\;1', `DTSTAMP:${stamp}`, `CREATED:${stamp}`, `LAST-MODIFIED:${stamp}`],
      ...['SUMMARY:a\\, b\\; c\\\\ d\\ne: "f" <&>', `DESCRIPTION:${'é'.repeat(31)}`, ` ${'é'.repeat(37)}`],
      ...[` ${'é'.repeat(12)}`, 'STATUS:NEEDS-ACTION', 'END:VTODO', 'END:VCALENDAR', ''],
    ].join('\r\n'),
  );
  t.is(got.headers.get('content-type'), 'text/calendar; charset=utf-8; component=VTODO');
  const etag = `"${createHash('sha256').update(got.text).digest('hex')}"`;
  t.is(got.headers.get('etag'), etag);
  t.is(got.headers.get('content-length'), String(Buffer.byteLength(got.text)));
  const head = await ask('HEAD', href);
  t.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', etag]);
  const escaped = etag.replaceAll('"', '&quot;');
  t.deepEqual(tagsIn(await ask('PROPFIND', href, propfind('<D:getetag/>'))), [escaped]);
  t.is(tagsIn(await ask('PROPFIND', todos, undefined, { depth: '1' }))[1], escaped);
  const answer = await ask('REPORT', todos, multiget([href]));
  t.deepEqual(tagsIn(answer), [escaped]);
  const data = got.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  t.true(answer.text.includes(data.replaceAll('"', '&quot;').replaceAll('\r', '&#13;')));
  const other = await ask('GET', `${todos}a.ics`);
  for (const line of [
    'DTSTART;VALUE=DATE:20260301',
    'DUE;VALUE=DATE:20260302',
    'PRIORITY:0',
    `COMPLETED:${stamp}`,
  ]) {
    t.true(other.text.includes(`\r\n${line}\r\n`), line);
  }
  const all = await ask('GET', todos);
  t.is(all.text.match(/BEGIN:VTODO/g)?.length, 2);
  t.true(all.text.indexOf('UID:a') < all.text.indexOf('UID:b'));
  t.is(all.headers.get('content-length'), String(Buffer.byteLength(all.text)));
});

test('conditions are about the ETag alone', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  await publish(phone, { uid: 'a' });
  for (const path of [`${todos}a.ics`, todos]) {
    const etag = (await ask('GET', path)).headers.get('etag') ?? '';
    const statusWith = async (headers: Record<string, string>) =>
      (await ask('GET', path, undefined, headers)).status;
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*'])
      t.is(await statusWith({ 'if-none-match': tag }), 304, tag);
    for (const tag of ['"x"', etag.slice(1), `${etag} x`])
      t.is(await statusWith({ 'if-none-match': tag }), 200, tag);
    for (const tag of [etag, `"x",${etag}`, '*']) t.is(await statusWith({ 'if-match': tag }), 200, tag);
    for (const tag of [`W/${etag}`, '"x"', 'x']) t.is(await statusWith({ 'if-match': tag }), 412, tag);
    t.is(await statusWith({ 'if-match': '"x"', 'if-none-match': etag }), 412);
    const unmodified = await ask('GET', path, undefined, { 'if-none-match': etag });
    t.deepEqual([unmodified.text, unmodified.headers.get('etag')], ['', etag]);
  }
  t.is((await ask('GET', `${todos}none.ics`, undefined, { 'if-match': '*' })).status, 404);
});

test('the ctag of the collection changes with each to-do, and with nothing else', async (t) => {
  const server = await startCalendarServer(t);
  const program = await programOf(server);
  const ctags = [await ctagOf(program)];
  await publish(program.phone, { uid: 'a' });
  ctags.push(await ctagOf(program));
  await publish(program.phone, { uid: 'a' });
  ctags.push(await ctagOf(program));
  await unpublish(program.phone, 'a');
  ctags.push(await ctagOf(program));
  await publish(program.phone, { uid: '' });
  await unpublish(program.phone, 'a');
  await server.restart();
  t.is(await ctagOf(program), ctags.at(-1));
  t.is(new Set(ctags).size, 4);
});

test('a query is answered by its components and by the properties of a to-do', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  await publish(phone, { uid: 'done', summary: 'Ärger, done', completed: true });
  await publish(phone, { uid: 'open', summary: 'open; still' });
  const both = ['done', 'open'];
  const calendar = (within: string) => `<C:comp-filter name="vcalendar">${within}</C:comp-filter>`;
  const property = (name: string, within: string) =>
    todoFilter(`<C:prop-filter name="${name}">${within}</C:prop-filter>`);
  const cases: [string, string[]][] = [
    ['', both],
    [calendar(''), both],
    [todoFilter(), both],
    [calendar('<C:comp-filter name="VEVENT"/>'), []],
    [calendar('<C:comp-filter name="VTODO"/><C:comp-filter name="VEVENT"/>'), []],
    [todoFilter('<C:is-not-defined/>'), []],
    [calendar('<C:comp-filter name="VEVENT"><C:is-not-defined/></C:comp-filter>'), both],
    [calendar('<C:is-not-defined/>'), []],
    [property('COMPLETED', '<C:is-not-defined/>'), ['open']],
    [property('completed', ''), ['done']],
    [property('RRULE', '<C:is-not-defined/>'), both],
    [property('STATUS', '<C:text-match negate-condition="yes">COMPLETED</C:text-match>'), ['open']],
    [property('STATUS', '<C:text-match collation="i;octet">completed</C:text-match>'), []],
    [property('STATUS', '<C:text-match>completed</C:text-match>'), ['done']],
    [property('SUMMARY', '<C:text-match>ärger, D</C:text-match>'), []],
    [property('SUMMARY', '<C:text-match>rger, D</C:text-match>'), ['done']],
    [property('SUMMARY', '<C:text-match collation="i;octet">open; still</C:text-match>'), ['open']],
    [property('LOCATION', '<C:text-match negate-condition="yes">x</C:text-match>'), []],
  ];
  for (const [filter, uids] of cases) {
    const answer = await ask('REPORT', todos, query(filter), { depth: '1' });
    t.is(answer.status, 207, filter);
    t.deepEqual(
      hrefsIn(answer),
      uids.map((uid) => `${todos}${uid}.ics`),
      filter,
    );
  }
  const refused: [string, string][] = [
    ['<C:comp-filter name="VTODO"/>', '<C:valid-filter/>'],
    [todoFilter('<C:time-range start="20260101T000000Z"/>'), '<C:supported-filter/>'],
    [todoFilter('<C:comp-filter name="VALARM"/>'), '<C:supported-filter/>'],
    [property('DUE', '<C:time-range start="20260101T000000Z"/>'), '<C:supported-filter/>'],
    [property('DUE', '<C:param-filter name="VALUE"/>'), '<C:supported-filter/>'],
    [
      property('SUMMARY', '<C:text-match collation="i;unicode-casemap">x</C:text-match>'),
      '<C:supported-collation/>',
    ],
  ];
  for (const [filter, element] of refused) {
    const { status, text } = await ask('REPORT', todos, query(filter));
    t.is(status, 403, filter);
    t.true(text.includes(element), `${filter} ${text}`);
  }
  t.deepEqual(hrefsIn(await ask('REPORT', todos, query(todoFilter()), { depth: '0' })), []);
  const data = await ask('REPORT', todos, `<C:calendar-query ${names}/>`);
  t.is(data.text.match(/<C:calendar-data>/g)?.length, 2);
});

test('objects that are named are answered in the order asked, those that are not there or not theirs with 404', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  const other = await programOf(server, 'bob@example.org');
  for (const uid of ['a', 'b', 'c?', 'd']) await publish(phone, { uid });
  await publish(other.phone, { uid: 'bobs' });
  const host = new URL(server.url).host;
  const good = [
    ...[`${todos}b.ics`, `${server.url}${todos}a.ics`, `http://NOTES.test${todos}c%3F.ics`],
    `https://${host}${todos}%64.ics`,
  ];
  const bad = [
    ...[`${todos}%00.ics`, `${todos}a%00.ics`, `${todos}${'x'.repeat(256)}.ics`],
    ...[`${todos}none.ics`, `${other.todos}bobs.ics`, `http://elsewhere.test${todos}a.ics`, `${todos}a`],
    ...[`${todos}..%2f${'a'}.ics`, `${todos}a.ics?x`, `${todos}%zz.ics`, 'a.ics', `${todos}../todos/a.ics`],
    ...[`/dav${todos}a.ics`, `${todos}x%2Fa.ics`, 'javascript:alert(1)', '', `//${host}${todos}a.ics`],
  ];
  const answer = await ask(
    'REPORT',
    todos,
    multiget([...bad, ...good, good[0] ?? ''].map((href) => href.replace('&', '&amp;'))),
  );
  t.deepEqual(hrefsIn(answer), [...bad, ...['b', 'a', 'c%3F', 'd'].map((name) => `${todos}${name}.ics`)]);
  t.is(answer.text.match(/HTTP\/1.1 404 Not Found/g)?.length, bad.length);
  t.is((await ask('REPORT', todos, multiget([]))).status, 400);
  const many = Array.from({ length: 1_001 }, (_, index) => `${todos}${index}.ics`);
  t.is((await ask('REPORT', todos, multiget(many))).status, 403);
  t.is((await ask('REPORT', todos, multiget(many.slice(1)))).status, 207);
});

test('impossible requests are refused as programs expect', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  const other = await programOf(server, 'bob@example.org');
  await publish(phone, { uid: 'a' });
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status;
  t.is(await status('PROPFIND', other.todos), 403);
  t.is(await status('GET', `/dav/principals/${crypto.randomUUID()}`), 403);
  for (const path of ['/dav/calendars/', '/dav/x', `${todos}a`, `${todos}none.ics`, `${todos}.ics`])
    t.is(await status('GET', path), 404, path);
  for (const path of ['/dav/', '/dav/principals', todos.replace('todos/', '')])
    t.is(await status('GET', path), 404, path);
  for (const method of ['GET', 'PROPFIND']) t.is(await status(method, '/.well-known/caldav'), 404, method);
  t.is(await status('PROPFIND', todos, undefined, { depth: 'infinity' }), 403);
  t.is(await status('PROPFIND', todos, undefined, { depth: '2' }), 400);
  t.is(await status('PROPFIND', todos, '<x'), 400);
  t.is(await status('PROPFIND', todos, '{}', { 'content-type': 'application/json' }), 415);
  t.is(await status('PROPFIND', todos, `<a>${'x'.repeat(256 * 1024)}</a>`), 413);
  const many = propfind(Array.from({ length: 101 }, (_, index) => `<D:p${index}/>`).join(''));
  t.is(await status('PROPFIND', todos, many), 400);
  t.is(await status('REPORT', '/dav/', query('')), 403);
  const collection = await ask('REPORT', todos, `<D:sync-collection ${names}/>`);
  t.deepEqual([collection.status, collection.text.includes('<D:supported-report/>')], [403, true]);
  const json = query('', '<C:calendar-data content-type="application/calendar+json"/>');
  t.true((await ask('REPORT', todos, json)).text.includes('<C:supported-calendar-data/>'));
  for (const path of ['/dav/', '/dav/principals/', todos, `${todos}a.ics`, `${todos}none.ics`]) {
    const options = await ask('OPTIONS', path, undefined, {
      origin: 'http://a.test',
      'access-control-request-method': 'GET',
    });
    t.deepEqual(
      [options.status, options.headers.get('allow')],
      [200, 'OPTIONS, GET, HEAD, PROPFIND, REPORT'],
      path,
    );
    t.is(options.headers.get('content-length'), '0');
  }
  for (const method of [
    'PUT',
    'POST',
    'DELETE',
    'PATCH',
    'MKCALENDAR',
    'MKCOL',
    'PROPPATCH',
    'COPY',
    'MOVE',
    'LOCK',
    'UNLOCK',
    'ACL',
  ]) {
    const answer = await server.call(method, `${todos}new.ics`);
    t.deepEqual(
      [answer.status, answer.headers.get('allow')],
      [405, 'OPTIONS, GET, HEAD, PROPFIND, REPORT'],
      method,
    );
    t.is((await server.call(method, '/dav/anything')).status, 405, method);
  }
});

test('every answer, refusals of the gateway included, says that this is a calendar and which caches may keep it', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  const other = await programOf(server, 'bob@example.org');
  await publish(phone, { uid: 'a' });
  const cases: readonly (readonly [status: number, answer: Answer])[] = [
    [200, await ask('GET', `${todos}a.ics`)],
    [200, await ask('OPTIONS', '/dav/')],
    [207, await ask('PROPFIND', todos)],
    [400, await ask('PROPFIND', todos, '<x')],
    [401, await server.call('PROPFIND', todos)],
    [403, await ask('GET', other.todos)],
    [404, await ask('GET', '/dav/x')],
    [405, await ask('PUT', `${todos}a.ics`)],
    [413, await ask('PROPFIND', todos, `<a>${'x'.repeat(256 * 1024)}</a>`)],
  ];
  for (const [status, answer] of cases) {
    const said = ['dav', 'cache-control', 'vary'].map((name) => answer.headers.get(name));
    t.deepEqual(
      [answer.status, ...said],
      [status, '1, 3, calendar-access', 'private, no-cache', 'Origin, Authorization'],
    );
  }
});

test('without the master switch there is nothing below the base path', async (t) => {
  const server = await startCalendarServer(t, { accounts: { calendar: false } });
  for (const method of ['OPTIONS', 'GET', 'PROPFIND', 'PUT', 'REPORT']) {
    for (const path of ['/dav', '/dav/', '/dav/calendars/x/todos/'])
      t.is((await server.call(method, path)).status, 404, `${method} ${path}`);
  }
});

test('a token opens its calendar at once, and no longer than it is there', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, token } = await programOf(server);
  const { userUuid } = phone.account;
  const status = async () => (await ask('PROPFIND', '/dav/')).status;
  const answer = await server.call('PROPFIND', '/dav/');
  t.deepEqual(
    [answer.status, answer.headers.get('www-authenticate')],
    [401, 'Basic realm="Calendar", charset="UTF-8"'],
  );
  t.is(await status(), 207);
  const [listed] = (await phone.call('GET', tokensPath)).body.tokens;
  t.is(listed.lastUsedAt, server.clock.nowMs());
  await wantCalendar(phone, 'false');
  t.is(await status(), 403);
  await wantCalendar(phone);
  t.is(await status(), 207);
  await server.restart();
  t.is(await status(), 207);
  await phone.call('DELETE', `${tokensPath}/${token.uuid}`);
  t.is(await status(), 401);
  const second = await makeToken(phone);
  const secondStatus = async () => (await server.call('PROPFIND', '/dav/', showing(second.token))).status;
  t.is(await secondStatus(), 207);
  await phone.call('DELETE', `/v1/users/${userUuid}`, {
    headers: { 'x-server-password': phone.account.password },
  });
  t.is(await secondStatus(), 401);
});

test('a program shows its token as the password, under any name but an empty one', async (t) => {
  const server = await startCalendarServer(t);
  const { token } = await programOf(server);
  const status = async (userAndPassword: string) => {
    const authorization = `Basic ${Buffer.from(userAndPassword).toString('base64')}`;
    return (await server.call('PROPFIND', '/dav/', { headers: { authorization } })).status;
  };
  for (const name of ['alice@example.org', 'x', 'é']) t.is(await status(`${name}:${token.token}`), 207, name);
  for (const userAndPassword of [`:${token.token}`, token.token, `${token.token}:`, `x: ${token.token}`])
    t.is(await status(userAndPassword), 401, userAndPassword);
});

test('a ban closes a calendar with its commit, and its end opens it to the same token', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask } = await programOf(server);
  const status = async () => (await ask('PROPFIND', '/dav/')).status;
  t.is(await status(), 207);
  const { ask: operated } = server.host.actors.get(UserAdministration, phone.account.userUuid);
  for (const [banned, expected] of [
    [true, 401],
    [false, 207],
  ] as const) {
    await operated.operatorSetBan({ banned, reason: null, by: 'operator' });
    t.is(await status(), expected);
  }
});

/** Hashes every secret after `before`: for tests that run alone. */
function whenHashed(t: ExecutionContext, before: () => Promise<void>): void {
  const { hash } = quickTokenHasher;
  t.teardown(() => {
    quickTokenHasher.hash = hash;
  });
  quickTokenHasher.hash = async (...args) => {
    await before();
    return hash(...args);
  };
}

test.serial('a program with a good token is let in, however much it asks for at once', async (t) => {
  const server = await startCalendarServer(t);
  const { ask } = await programOf(server);
  const allAsk = latch();
  whenHashed(t, () => allAsk.promise);
  const originalAsk = server.transport.ask.bind(server.transport);
  let asking = 0;
  server.transport.ask = async (call) => {
    asking += call.command === 'readCalendar' ? 1 : 0;
    if (asking === 40) allAsk.open();
    return originalAsk(call);
  };
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask('PROPFIND', '/dav/')));
  t.deepEqual(
    answers.map(({ status }) => status),
    Array(40).fill(207),
  );
});

test.serial('a token that is not there any more costs what a wrong one does: one hash', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, token } = await programOf(server);
  let hashes = 0;
  whenHashed(t, async () => {
    hashes += 1;
  });
  const { token: other } = await makeToken(phone);
  t.is(hashes, 1);
  t.is((await ask('PROPFIND', '/dav/')).status, 207);
  t.is(hashes, 2);
  await phone.call('DELETE', `${tokensPath}/${token.uuid}`);
  t.is((await ask('PROPFIND', '/dav/')).status, 401);
  t.is(hashes, 3);
  await deleteAccount(phone);
  t.is((await server.call('PROPFIND', '/dav/', showing(other))).status, 401);
  t.is(hashes, 4);
});

test.serial('attempts that came to nothing do not add up against a program with a good token', async (t) => {
  const server = await startCalendarServer(t);
  const { ask } = await programOf(server);
  let isBroken = true;
  whenHashed(t, async () => {
    if (isBroken) throw new Error('there is no memory for it');
  });
  for (let minute = 0; minute < 2; minute += 1) {
    isBroken = true;
    for (let failed = 0; failed < 8; failed += 1) t.is((await ask('PROPFIND', '/dav/')).status, 500);
    isBroken = false;
    t.is((await ask('PROPFIND', '/dav/')).status, 207);
    await server.advance(61_000);
  }
});

test('a program that reads a calendar while it changes gets no state that never was', async (t) => {
  const server = await startCalendarServer(t);
  const { phone, ask, todos } = await programOf(server);
  await publish(phone, { uid: 'a' });
  const originalAsk = server.transport.ask.bind(server.transport);
  let isChanged = false;
  server.transport.ask = async (call) => {
    if (call.command === 'getCalendarObjects' && !isChanged) {
      isChanged = true;
      await publish(phone, { uid: 'a', summary: 'another' });
    }
    return originalAsk(call);
  };
  const refused = await ask('GET', todos);
  t.deepEqual([refused.status, Number(refused.headers.get('retry-after')) > 0], [503, true]);
  t.true((await ask('GET', todos)).text.includes('another'));
});
