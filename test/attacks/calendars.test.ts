/**
 * Attacks on calendars: XML bombs, tokens that are guessed, altered or stolen, and logs that might reveal valid ones.
 */
import test from 'ava';
import { makeToken, publish, publisher, showing, startCalendarServer } from '../kit/calendar.ts';

const entities = (count: number) =>
  Array.from({ length: count }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('');
const bombs = {
  'entities of entities': `<!DOCTYPE a [<!ENTITY e0 "ha">${entities(9)}]><a>&e9;</a>`,
  'an entity from a file': '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  'a document type alone': '<!DOCTYPE propfind><D:propfind xmlns:D="DAV:"/>',
  'an entity nobody declared': '<a>&nbsp;</a>',
  depth: '<a>'.repeat(50_000),
  elements: `<D:propfind xmlns:D="DAV:"><D:prop>${'<a/>'.repeat(40_000)}</D:prop></D:propfind>`,
  'a prefix of no namespace': '<D:propfind><D:prop/></D:propfind>',
  'what is no UTF-8': '\u0000',
};

test('no XML takes more than reading it, and none is expanded', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const todos = `/dav/calendars/${phone.account.userUuid}/todos/`;
  for (const [name, text] of Object.entries(bombs)) {
    for (const method of ['PROPFIND', 'REPORT']) {
      const headers = { ...showing(token).headers, 'content-type': 'text/xml' };
      const startMs = performance.now();
      const answer = await server.call(method, todos, { text, headers });
      t.is(answer.status, 400, `${method} ${name}`);
      t.false(answer.text.includes('root:'), name);
      t.true(performance.now() - startMs < 5_000, name);
    }
  }
});

test('a name from a program is given back as text, whatever it holds', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const todos = `/dav/calendars/${phone.account.userUuid}/todos/`;
  const headers = { ...showing(token).headers, 'content-type': 'text/xml' };
  const href = '&lt;/D:href&gt;&lt;evil/&gt;&amp;&quot;';
  const text = `<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:" xmlns:E='a"&gt;&lt;evil'><D:prop><E:x/></D:prop><D:href>${href}</D:href><D:href>${todos}a.ics</D:href></C:calendar-multiget>`;
  await publish(phone, { uid: 'a', summary: ']]></C:calendar-data><evil/>' });
  const answer = await server.call('REPORT', todos, { text, headers });
  t.is(answer.status, 207);
  t.false(answer.text.includes('<evil'));
  t.true(answer.text.includes(`<D:href>${href}</D:href>`));
});

test('a filter is bounded as a whole: each of its tests is made with every to-do', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const todos = `/dav/calendars/${phone.account.userUuid}/todos/`;
  const headers = { ...showing(token).headers, 'content-type': 'text/xml' };
  const statusOf = async (within: string) => {
    const filter = `<C:filter><C:comp-filter name="VCALENDAR">${within}</C:comp-filter></C:filter>`;
    const text = `<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav">${filter}</C:calendar-query>`;
    return (await server.call('REPORT', todos, { text, headers })).status;
  };
  const todo = (within: string) => `<C:comp-filter name="VTODO">${within}</C:comp-filter>`;
  const property = (texts: readonly string[]) =>
    `<C:prop-filter name="DESCRIPTION">${texts.map((text) => `<C:text-match>${text}</C:text-match>`).join('')}</C:prop-filter>`;
  t.is(await statusOf(todo(property(Array(40).fill('x')))), 207);
  t.is(await statusOf(todo(property(Array(49).fill('x')).repeat(2))), 403, 'many properties');
  t.is(await statusOf(todo(property(['x'])).repeat(40)), 403, 'many components');
  t.is(await statusOf(todo(property(['x'.repeat(1_024)]))), 207);
  t.is(await statusOf(todo(property(['x'.repeat(512), 'x'.repeat(513)]))), 403, 'long texts');
});

const propfindOf = (count: number, characters: number): string => {
  const names = Array.from({ length: count }, (_, at) => `<${'a'.repeat(characters)}${at + 100}/>`).join('');
  return `<D:propfind xmlns:D="DAV:"><D:prop>${names}</D:prop></D:propfind>`;
};

/** The size of the smallest to-do: its row has two uuids, an ETag and the sealed text. */
const todoBytes = 250;

test('the names of a PROPFIND are bounded in length together, and come back no more than twenty times', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const todos = `/dav/calendars/${phone.account.userUuid}/todos/`;
  const ask = (text: string, depth: string) =>
    server.call('PROPFIND', todos, {
      text,
      headers: { ...showing(token).headers, 'content-type': 'text/xml', depth },
    });
  t.is((await ask(propfindOf(1, 250_000), '0')).status, 400, 'one long name');
  t.is((await ask(propfindOf(100, 2_500), '0')).status, 400, 'many names');
  const namespace = `<D:propfind xmlns:D="DAV:" xmlns:E="${'e'.repeat(9_000)}"><D:prop><E:a/></D:prop></D:propfind>`;
  t.is((await ask(namespace, '0')).status, 400, 'a long namespace');

  const count = 60;
  for (let at = 0; at < count; at += 1) await publish(phone, { uid: `todo-${at}` });
  for (const text of [propfindOf(100, 70), propfindOf(100, 15), propfindOf(100, 1)]) {
    const answer = await ask(text, '1');
    t.is(answer.status, 207);
    t.is(answer.text.split('<D:response>').length - 1, count + 1);
    const askedAndStored = text.length + count * todoBytes;
    t.true(answer.text.length <= 20 * askedAndStored, `${answer.text.length} of ${askedAndStored}`);
  }
});

test('a namespace is declared once, however many names of it are missing', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  await publish(phone, { uid: 'a' });
  const namespace = `urn:${'x'.repeat(60)}`;
  const names = Array.from({ length: 40 }, (_, at) => `<E:name${at}/>`).join('');
  const answer = await server.call('PROPFIND', `/dav/calendars/${phone.account.userUuid}/todos/`, {
    text: `<D:propfind xmlns:D="DAV:" xmlns:E="${namespace}"><D:prop>${names}<plain/></D:prop></D:propfind>`,
    headers: { ...showing(token).headers, 'content-type': 'text/xml', depth: '1' },
  });
  t.is(answer.text.split(namespace).length - 1, 1);
  for (const missing of [':name0/>', ':name39/>', '<plain/>']) {
    t.is(answer.text.split(missing).length - 1, 2, missing);
  }
});

test('a to-do comes once, however many spellings of its address are named', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const todos = `/dav/calendars/${phone.account.userUuid}/todos/`;
  await publish(phone, { uid: 'abcdefgh', description: 'd'.repeat(60_000) });
  // Each letter may be escaped or not.
  const spelling = (at: number, name: string): string =>
    [...name]
      .map((letter, bit) => ((at >> bit) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter))
      .join('');
  const hrefs = Array.from({ length: 200 }, (_, at) =>
    ['abcdefgh', 'nothere_'].map((name) => `<D:href>${todos}${spelling(at, name)}.ics</D:href>`).join(''),
  ).join('');
  const answer = await server.call('REPORT', todos, {
    text: `<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop>${hrefs}</C:calendar-multiget>`,
    headers: { ...showing(token).headers, 'content-type': 'text/xml' },
  });
  t.is(answer.status, 207);
  t.is(answer.text.split('BEGIN:VTODO').length - 1, 1);
  t.is(answer.text.split('404 Not Found').length - 1, 1);
});

test('a guess is refused without waking an actor, twenty times a minute, and a good token goes on working', async (t) => {
  const server = await startCalendarServer(t, {
    gateway: { rateLimits: { publicPerMinute: 100_000, sessionPerMinute: 100_000 } },
  });
  const phone = await publisher(server);
  const { token, uuid } = await makeToken(phone);
  const statusOf = async (password: string, headers = showing(password).headers ?? {}) =>
    (await server.call('PROPFIND', '/dav/', { headers })).status;
  const other = token[60] === 'A' ? 'B' : 'A';
  const guesses = [
    ...['x', `${uuid}.`, `${uuid}.${'A'.repeat(86)}`, token.slice(0, -1), `${token}A`, token.toUpperCase()],
    ...[`${crypto.randomUUID()}${token.slice(36)}`, `${token.slice(0, 60)}${other}${token.slice(61)}`],
  ];
  for (const guess of guesses) t.is(await statusOf(guess), 401, guess.slice(0, 50));
  t.is(await statusOf('', { authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}` }), 401);
  t.is(await statusOf('', { authorization: `Bearer ${token}` }), 401);
  for (let more = guesses.length + 2; more < 20; more += 1) t.is(await statusOf('x'), 401);
  t.is(await statusOf('x'), 429);
  for (let round = 0; round < 30; round += 1)
    t.is((await server.call('PROPFIND', '/dav/')).status, 401, 'nothing shown');
  t.is(await statusOf(token), 207);
  const almost = `${token.slice(0, -2)}${token.at(-2) === 'x' ? 'y' : 'x'}${token.slice(-1)}`;
  t.is(await statusOf(almost), 429, 'another secret of a token that was found right');
  await server.advance(60_000);
  t.is(await statusOf('x'), 401);
});

test('an attacker who knows all of a token but its secret is locked out of guessing it', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  // The last 43 characters hold most of the secret; the part before them stays right.
  const statusOf = async (at: number) => {
    const other = token.at(-2 - at) === 'x' ? 'y' : 'x';
    const guess = token.slice(0, -2 - at) + other + token.slice(token.length - 1 - at);
    return (await server.call('PROPFIND', '/dav/', showing(guess))).status;
  };
  const statuses: number[] = [];
  for (let at = 0; at < 14; at += 1) statuses.push(await statusOf(at));
  t.deepEqual(statuses, [...Array(12).fill(401), 429, 429]);
});

test('no log tells a token, a to-do or a uid', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone, 'label-of-mine');
  await publish(phone, { uid: 'uid-of-mine', summary: 'summary-of-mine' });
  const path = `/dav/calendars/${phone.account.userUuid}/todos/uid-of-mine.ics`;
  t.is((await server.call('GET', path, showing(token))).status, 200);
  t.is((await server.call('GET', path, showing(`${token}x`))).status, 401);
  await phone.call('DELETE', '/v1/caldav/todos/uid-of-mine');
  const log = JSON.stringify(server.log);
  t.true(server.log.length > 0);
  for (const secret of [
    token,
    token.slice(37),
    Buffer.from(`anybody:${token}`).toString('base64'),
    'of-mine',
  ]) {
    t.false(log.includes(secret), secret.slice(0, 20));
  }
});

test('a large calendar is read in parts, and each object of it is given once and in order', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const uids = Array.from({ length: 1_050 }, (_, at) => `todo-${String(at).padStart(5, '0')}`);
  for (const uid of uids.toReversed()) await publish(phone, { uid });
  const headers = { ...showing(token).headers, depth: '1' };
  const answer = await server.call('PROPFIND', `/dav/calendars/${phone.account.userUuid}/todos`, { headers });
  t.is(answer.status, 207);
  t.deepEqual([...answer.text.matchAll(/todo-\d+(?=\.ics)/g)].map(String), uids);
  const file = await server.call('GET', `/dav/calendars/${phone.account.userUuid}/todos`, showing(token));
  t.deepEqual([...file.text.matchAll(/(?<=\r\nUID:)todo-\d+/g)].map(String), uids);
});
