/** Every field of the endpoints that open and list sessions, as clients read it. */
import test, { type ExecutionContext } from 'ava';
import {
  alice,
  challengeOf,
  cookieSessions,
  headerSessions,
  newAlice,
  refresh,
  register,
  signIn,
  type Tokens,
  tokensOf,
} from '../../kit/account.ts';
import { type Answer, clientAddress } from '../../kit/http.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const accessAgeMs = 5_184_000_000;
const refreshAgeMs = 31_556_926_000;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const created = { origination: 'registration', created: '1767225600000' };
const newNonce = 'e'.repeat(64);

function change(server: TestServer, { access, cookie, userUuid }: Tokens, fields: object = {}) {
  const body = {
    current_password: alice.password,
    new_password: 'd'.repeat(64),
    pw_nonce: newNonce,
    version: '004',
    ...fields,
  };
  const path = `/v1/users/${userUuid}/attributes/credentials`;
  return server.call('PUT', path, { bearer: access, cookie, body: { api: headerSessions, ...body } });
}

/** The session of an answer, and the cookies beside it. */
function checkSession(t: ExecutionContext, server: TestServer, { body, setCookies }: Answer, style: 1 | 2) {
  const nowMs = server.clock.nowMs();
  const { session } = body;
  t.deepEqual(Object.keys(session).toSorted(), [
    'access_expiration',
    'access_token',
    'readonly_access',
    'refresh_expiration',
    'refresh_token',
  ]);
  t.is(session.access_expiration, nowMs + accessAgeMs);
  t.is(session.refresh_expiration, nowMs + refreshAgeMs);
  t.is(session.readonly_access, false);
  for (const token of [session.access_token, session.refresh_token]) t.true(token.startsWith(`${style}:`));
  t.is(session.access_token === session.refresh_token, style === 2);

  const expires = `Expires=${new Date(nowMs + refreshAgeMs).toUTCString()}`;
  const attributes = (path: string) =>
    ['HttpOnly', 'Secure', `Path=${path}`, 'Partitioned', 'SameSite=None', expires].join('; ');
  t.is(setCookies.length, 2);
  const [access, refreshing] = setCookies.map((cookie) =>
    /^(access|refresh)_token_([^=]+)=([\w-]{43}); (.*)$/.exec(cookie),
  );
  t.is(access?.[1], 'access');
  t.is(refreshing?.[1], 'refresh');
  t.regex(access?.[2] ?? '', uuidPattern);
  t.is(refreshing?.[2], access?.[2]);
  t.not(refreshing?.[3], access?.[3]);
  t.is(access?.[4], attributes('/'));
  t.is(refreshing?.[4], attributes('/v1/sessions/refresh'));
}

function checkSignedIn(t: ExecutionContext, server: TestServer, answer: Answer, style: 1 | 2, nonce: string) {
  t.is(answer.status, 200);
  t.deepEqual(Object.keys(answer.body).toSorted(), ['key_params', 'session', 'user']);
  checkSession(t, server, answer, style);
  const { user, key_params } = answer.body;
  t.regex(user.uuid, uuidPattern);
  t.deepEqual(user, { uuid: user.uuid, email: alice.email, protocolVersion: '004' });
  t.deepEqual(key_params, { ...created, identifier: alice.email, pw_nonce: nonce, version: '004' });
}

for (const [api, style] of [
  [headerSessions, 1],
  [cookieSessions, 2],
] as const) {
  test(`every reply that opens a session of version ${api} describes it in full`, async (t) => {
    const server = await startServer(t);
    const body = { ...newAlice, ...created, api };
    const registered = await server.call('POST', '/v1/users', { body });
    checkSignedIn(t, server, registered, style, alice.pw_nonce);
    await server.advance(1_000);
    checkSignedIn(t, server, await signIn(server, { api }), style, alice.pw_nonce);
    await server.advance(1_000);
    const refreshed = await refresh(server, tokensOf(registered), api);
    t.is(refreshed.status, 200);
    t.deepEqual(Object.keys(refreshed.body), ['session']);
    checkSession(t, server, refreshed, style);
    await server.advance(1_000);
    const { userUuid } = tokensOf(registered);
    const changed = await change(server, { ...tokensOf(refreshed), userUuid }, { api });
    checkSignedIn(t, server, changed, style, newNonce);
  });
}

test('the secrets of a session change with every refresh, and what names it does not', async (t) => {
  const server = await startServer(t);
  const first = await server.call('POST', '/v1/users', { body: { ...newAlice, api: cookieSessions } });
  const second = await refresh(server, tokensOf(first), cookieSessions);
  t.is(second.body.session.access_token, first.body.session.access_token);
  const partsOf = (answer: Answer) => answer.setCookies.map((cookie) => cookie.split(/[=;]/).slice(0, 2));
  for (const [index, [name, secret]] of partsOf(second).entries()) {
    t.is(name, partsOf(first)[index]?.[0]);
    t.not(secret, partsOf(first)[index]?.[1]);
  }
});

test('every session is listed with every field, and which is the caller’s', async (t) => {
  const server = await startServer(t);
  const headers = { 'user-agent': 'StandardNotes/3.5.0' };
  const first = await register(server, {}, { headers });
  await server.advance(1_000);
  const second = tokensOf(await signIn(server, { api: cookieSessions }));
  await server.advance(1_000);
  const third = tokensOf(await signIn(server, { ephemeral: true }));
  const { body, meta } = await server.call('GET', '/v1/sessions', { bearer: first.access });
  const entry = {
    api_version: headerSessions,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    device_info: 'Unknown Client on Unknown OS',
    user_agent: null,
    ip_address: clientAddress,
    current: false,
    readonly_access: false,
  };
  const at = (time: string) => ({ created_at: time, updated_at: time });
  const uuids = body.map(({ uuid }: { uuid: string }) => uuid);
  t.is(new Set(uuids).size, 3);
  for (const uuid of uuids) t.regex(uuid, uuidPattern);
  t.deepEqual(body, [
    { ...entry, uuid: uuids[0], ...at('2026-01-01T00:00:02.000Z') },
    { ...entry, uuid: uuids[1], api_version: cookieSessions, ...at('2026-01-01T00:00:01.000Z') },
    {
      ...entry,
      uuid: uuids[2],
      device_info: 'Standard Notes Desktop 3.5.0',
      user_agent: 'StandardNotes/3.5.0',
      current: true,
    },
  ]);
  t.true(first.access.includes(uuids[2]));
  t.true(third.access.includes(uuids[0]));
  t.true(second.cookie.includes(uuids[1]));
  t.deepEqual(
    meta?.auth.roles?.map(({ name }) => name),
    ['CORE_USER', 'PRO_USER'],
  );
});

test('a refreshed session is listed with the time of its refresh, and its former beginning', async (t) => {
  const server = await startServer(t);
  const first = await register(server);
  await server.advance(5_000);
  const { access } = tokensOf(await refresh(server, first));
  const { body } = await server.call('GET', '/v1/sessions', { bearer: access });
  t.is(body.length, 1);
  t.like(body[0], { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:05.000Z' });
});

test('sessions that have ended are not listed', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const lasting = tokensOf(await signIn(server));
  const signedOut = tokensOf(await signIn(server));
  await signIn(server, { ephemeral: true });
  const listed = async () =>
    (await server.call('GET', '/v1/sessions', { bearer: mine.access })).body.map(
      ({ uuid }: { uuid: string }) => uuid,
    );
  t.is((await listed()).length, 4);
  await server.call('POST', '/v1/logout', { bearer: signedOut.access });
  t.is((await listed()).length, 3);
  await server.advance(259_200_000);
  const left = await listed();
  t.is(left.length, 2);
  for (const uuid of left) t.true(mine.access.includes(uuid) || lasting.access.includes(uuid));
});

test('only signed-in callers get key params in full', async (t) => {
  const server = await startServer(t);
  const { access } = await register(server, created);
  const body = { email: alice.email, code_challenge: challengeOf('verifier') };
  const short = { identifier: alice.email, pw_nonce: alice.pw_nonce, version: '004' };
  const params = async (bearer?: string) =>
    (await server.call('POST', '/v2/login-params', { body, bearer })).body;
  t.deepEqual(await params(), short);
  t.deepEqual(await params(access), { ...short, ...created });
});
