import test from 'ava';
import { calendarTokenMap } from '../../../actors/user/calendar/tokens.ts';
import { decode } from '../../../runtime/store/encoding.ts';
import { makeToken, publisher, startCalendarServer, tokensPath, wantCalendar } from '../../kit/calendar.ts';

test('a token is shown once, listed without its secret, and revoked', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const made = await phone.call('POST', tokensPath, { body: { label: '  phone ' } });
  t.is(made.status, 201);
  const { token, ...beside } = made.body.token;
  const { userUuid } = phone.account;
  t.regex(token, new RegExp(`^${beside.uuid}\\.[\\w-]{86}$`));
  t.deepEqual(beside, {
    uuid: beside.uuid,
    userUuid,
    label: 'phone',
    scope: 'calendar-read',
    createdAt: server.clock.nowMs(),
    lastUsedAt: null,
  });
  await server.advance(1_000);
  const second = await makeToken(phone);
  const listed = await phone.call('GET', tokensPath);
  t.deepEqual(
    listed.body.tokens.map(({ uuid }: { uuid: string }) => uuid),
    [second.uuid, beside.uuid],
  );
  t.deepEqual(listed.body.tokens[1], beside);
  t.deepEqual((await phone.call('DELETE', `${tokensPath}/${beside.uuid}`)).body, { revoked: true });
  t.is((await phone.call('DELETE', `${tokensPath}/${beside.uuid}`)).body.error.tag, 'caldav-token-not-found');
  await makeToken(phone);
  t.deepEqual((await phone.call('DELETE', tokensPath)).body, { revoked: true, count: 2 });
  t.deepEqual((await phone.call('GET', tokensPath)).body, { tokens: [] });
});

test('a secret is kept as its own salt and what was made of both', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const secrets = [await makeToken(phone), await makeToken(phone)].map(
    ({ token }) => token.split('.')[1] ?? '',
  );
  const { family, format, schema } = calendarTokenMap;
  const rows = await server.host.store.slices({ kind: 'user', id: phone.account.userUuid });
  const stored = rows.filter(({ slice }) => slice.startsWith(family)).map(({ data }) => decode(data, format));
  const tokens = stored.map((each) => schema.parse(each));
  t.is(new Set(tokens.map(({ salt }) => salt)).size, 2);
  t.is(new Set(tokens.map(({ slowHash }) => slowHash)).size, 2);
  t.true(tokens.every(({ salt }) => /^[0-9a-f]{32}$/.test(salt)));
  for (const secret of secrets) t.false(JSON.stringify(stored).includes(secret.slice(-43)));
});

test('making a token needs both flags on; all else does not', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { uuid } = await makeToken(phone);
  await makeToken(phone);
  const address = { basePath: '/dav', url: 'http://notes.test/dav/' };
  const flags = async () => (await phone.call('GET', `${tokensPath}/config`)).body;
  t.deepEqual(await flags(), { caldavEnabled: true, allowed: true, available: true, ...address });
  await wantCalendar(phone, 'false');
  t.deepEqual(await flags(), { caldavEnabled: true, allowed: false, available: false, ...address });
  t.is((await phone.call('POST', tokensPath, { body: { label: 'x' } })).body.error.tag, 'caldav-not-allowed');
  await server.restart({ accounts: { calendar: false } });
  t.deepEqual(await flags(), { caldavEnabled: false, allowed: false, available: false, ...address });
  t.is((await phone.call('POST', tokensPath, { body: { label: 'x' } })).body.error.tag, 'caldav-disabled');
  t.is((await phone.call('GET', tokensPath)).body.tokens.length, 2);
  t.is((await phone.call('DELETE', `${tokensPath}/${uuid}`)).status, 200);
  t.is((await phone.call('DELETE', tokensPath)).status, 200);
});

test('a label is needed, and one token too many is refused', async (t) => {
  const phone = await publisher(await startCalendarServer(t));
  for (const label of [undefined, null, '', '  ', 7, 'x'.repeat(256), 'a\u0000']) {
    const { status, body } = await phone.call('POST', tokensPath, { body: { label } });
    t.deepEqual([status, body.error.tag], [400, 'invalid-label'], String(label));
  }
  for (let made = 0; made < 100; made += 1) await makeToken(phone);
  const { status, body } = await phone.call('POST', tokensPath, { body: { label: 'x' } });
  t.deepEqual([status, body.error.tag], [409, 'caldav-token-limit']);
  await phone.call('DELETE', tokensPath);
  t.is((await phone.call('POST', tokensPath, { body: { label: 'x' } })).status, 201);
});

test('a read-only session makes and revokes no token', async (t) => {
  const server = await startCalendarServer(t, { accounts: { readonlyUsers: new Set(['eve@example.org']) } });
  const eve = await server.device('eve@example.org');
  for (const [method, path] of [
    ['POST', tokensPath],
    ['DELETE', tokensPath],
    ['DELETE', `${tokensPath}/x`],
    ['POST', '/v1/caldav/todos'],
    ['DELETE', '/v1/caldav/todos/x'],
  ] as const) {
    const { status, body } = await eve.call(method, path, method === 'POST' ? { body: {} } : {});
    t.deepEqual([status, body.error.tag], [403, 'read-only-access'], `${method} ${path}`);
  }
});
