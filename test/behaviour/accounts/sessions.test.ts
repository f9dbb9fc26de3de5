import { connect } from 'node:net';
import test from 'ava';
import { Sessions } from '../../../actors/user/sessions/contract.ts';
import {
  alice,
  cookieSessions,
  newAlice,
  refresh,
  register,
  signIn,
  statusOf,
  type Tokens,
  tokensOf,
} from '../../kit/account.ts';
import { sessionTokens, startServer } from '../../kit/server.ts';

test('a revoked session learns of it on every call, in both styles', async (t) => {
  for (const api of ['20200115', '20240226']) {
    const server = await startServer(t);
    const mine = await register(server);
    const lost = tokensOf(await signIn(server, { api }));
    const list = (await server.call('GET', '/v1/sessions', { bearer: mine.access })).body;
    const { uuid } = list.find(({ current }: { current: boolean }) => !current);
    const revoke = () => server.call('DELETE', `/v1/sessions/${uuid}`, { bearer: mine.access });
    t.deepEqual(await revoke().then(({ status, body }) => ({ status, body })), {
      status: 204,
      body: undefined,
    });
    t.is((await revoke()).status, 400);
    t.is(await statusOf(server, lost), '401 revoked-session');
    t.is(await statusOf(server, lost), '401 revoked-session');
    t.is((await refresh(server, lost, api)).body.error.tag, 'invalid-parameters');
    const logout = await server.call('POST', '/v1/logout', { bearer: lost.access, cookie: lost.cookie });
    t.is(logout.status, 401);
    t.is(await statusOf(server, mine), '200');
  }
});

test('a session is not revoked by itself', async (t) => {
  const server = await startServer(t);
  const { access } = await register(server);
  const [{ uuid }] = (await server.call('GET', '/v1/sessions', { bearer: access })).body;
  t.is((await server.call('DELETE', `/v1/sessions/${uuid}`, { bearer: access })).status, 400);
});

test('all other sessions are revoked at once, ephemeral ones too', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const others = [tokensOf(await signIn(server)), tokensOf(await signIn(server, { ephemeral: true }))];
  t.is((await server.call('DELETE', '/v1/sessions', { bearer: mine.access })).status, 204);
  for (const other of others) t.is(await statusOf(server, other), '401 revoked-session');
  t.is(await statusOf(server, mine), '200');
});

test('logout ends the session, clears its cookies, and takes an expired access token', async (t) => {
  const server = await startServer(t, { accounts: { accessTokenAgeMs: 1_000 } });
  const { access, cookie } = await register(server, { api: '20240226' });
  await server.advance(2_000);
  const logout = () => server.call('POST', '/v1/logout', { bearer: access, cookie });
  const reply = await logout();
  t.is(reply.status, 204);
  t.is(reply.body, undefined);
  t.is(reply.setCookies.filter((text) => /=0; .*Expires=Thu, 01 Jan 1970/.test(text)).length, 2);
  t.is(await statusOf(server, { access, cookie }), '401 invalid-auth');
  t.is((await logout()).status, 401);
  t.is((await server.call('POST', '/v1/logout', {})).body.error.message, 'Invalid session token.');
});

test('logout treats a secret that is not the session’s as none', async (t) => {
  const server = await startServer(t);
  const tokens = await register(server);
  const forged = tokens.access.replace(/:[^:]+$/, `:${'x'.repeat(43)}`);
  t.is((await server.call('POST', '/v1/logout', { bearer: forged })).status, 401);
  t.is(await statusOf(server, tokens), '200');
});

test('the list shows what a device is, newest refresh first', async (t) => {
  const server = await startServer(t);
  const agent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
  const first = await register(server, {}, { headers: { 'user-agent': agent } });
  await server.advance(1_000);
  await signIn(server);
  const list = (await server.call('GET', '/v1/sessions', { bearer: first.access })).body;
  t.deepEqual(
    list.map(({ current, device_info }: Record<string, unknown>) => ({ current, device_info })),
    [
      { current: false, device_info: 'Unknown Client on Unknown OS' },
      { current: true, device_info: 'Chrome 120.0.0.0 on Linux' },
    ],
  );
  t.like(list[1], {
    api_version: '20200115',
    ip_address: '203.0.113.7',
    readonly_access: false,
    user_agent: agent,
    created_at: '2026-01-01T00:00:00.000Z',
  });
});

test('an account whose name is hidden keeps no user agents', async (t) => {
  const server = await startServer(t);
  const headers = { 'user-agent': 'okhttp/4.9' };
  const tokens = await register(server, { email: 'f'.repeat(64) }, { headers });
  const userAgent = async (bearer: string) =>
    (await server.call('GET', '/v1/sessions', { bearer })).body[0].user_agent;
  t.is(await userAgent(tokens.access), null);
  const body = { access_token: tokens.access, refresh_token: tokens.refresh, api: '20200115' };
  const refreshed = tokensOf(await server.call('POST', '/v1/sessions/refresh', { body, headers }));
  t.is(await userAgent(refreshed.access), null);
});

test('a read-only account may sign out and look, and change nothing', async (t) => {
  const server = await startServer(t, { accounts: { readonlyUsers: new Set([alice.email]) } });
  const { access, userUuid, cookie } = await register(server);
  const credentials = { current_password: 'x', new_password: 'y', pw_nonce: 'z', api: '20200115' };
  const path = `/v1/users/${userUuid}`;
  const headers = { 'x-server-password': alice.password };
  for (const reply of [
    await server.call('DELETE', '/v1/sessions', { bearer: access }),
    await server.call('DELETE', '/v1/sessions/x', { bearer: access }),
    await server.call('PUT', `${path}/attributes/credentials`, { bearer: access, body: credentials }),
    await server.call('DELETE', path, { bearer: access, headers }),
  ]) {
    t.is(reply.status, 403);
    t.is(reply.body.error.tag, 'read-only-access');
  }
  const reply = await signIn(server);
  t.is(reply.body.session.readonly_access, true);
  t.deepEqual((await server.call('GET', '/v1/sessions', { bearer: access })).body, []);
  t.is((await server.call('POST', '/v1/logout', { bearer: access, cookie })).status, 204);
});

test('an account has at most a thousand sessions, and the one that would end first goes', async (t) => {
  const server = await startServer(t);
  const first = await register(server);
  await server.advance(1);
  const second = tokensOf(await signIn(server));
  for (let opened = 0; opened < 999; opened += 9) {
    await Promise.all(Array.from({ length: 9 }, () => signIn(server)));
    // An actor records this many calls a minute and no more.
    await server.advance(1_000);
  }
  t.is(await statusOf(server, first), '401 invalid-auth');
  t.is(await statusOf(server, second), '200');
});

test("a caller learns their roles, and the operator's list makes an administrator", async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([alice.email]) } });
  const admin = await register(server);
  const user = await register(server, { email: 'bob@example.org' });
  const rolesOf = async ({ access, userUuid }: Tokens) => {
    const { meta } = await server.call('GET', '/v1/sessions', { bearer: access });
    t.is(meta?.auth.userUuid, userUuid);
    return meta?.auth.roles?.map(({ name }) => name);
  };
  t.deepEqual(await rolesOf(admin), ['CORE_USER', 'PRO_USER', 'INTERNAL_TEAM_USER']);
  t.deepEqual(await rolesOf(user), ['CORE_USER', 'PRO_USER']);
});

test('a session survives the crash of its host', async (t) => {
  const server = await startServer(t);
  const tokens = await register(server);
  await server.restart();
  t.is(await statusOf(server, tokens), '200');
});

test('sessions/validate tells the server’s own parts the user and the kind of session', async (t) => {
  const server = await startServer(t);
  const { access, userUuid } = await register(server);
  const credentials = sessionTokens.verify(access);
  if (credentials === undefined) throw new Error('not a token');
  const valid = await server.host.actors.get(Sessions, userUuid).ask.validateSession({ credentials });
  t.like(valid, { caller: { userUuid }, ok: { sessionUuid: credentials.identifier, readonly: false } });
});

test('no session is opened whose cookies the browser would throw away', async (t) => {
  const server = await startServer(t, { cookies: { sameSite: 'Lax', secure: false, partitioned: false } });
  const phone = await server.device();
  const headers = { origin: 'http://localhost:8080', 'sec-fetch-site': 'cross-site' };
  const { email, password } = phone.account;
  const refused = await signIn(server, { email, password, api: cookieSessions }, { headers });
  t.deepEqual([refused.status, refused.body.error.tag], [400, 'cookies-of-another-site']);
  const fields = { ...newAlice, email: 'new@example.org', api: cookieSessions };
  t.is((await server.call('POST', '/v1/users', { body: fields, headers })).status, 400);
  t.is((await signIn(server, { email, password }, { headers })).status, 200, 'a header session needs none');
  const own = { ...headers, 'sec-fetch-site': 'same-site' };
  t.is((await server.call('POST', '/v1/users', { body: fields, headers: own })).status, 200, 'was not made');
});

test('no session is opened over plain http on another site whose cookies need https, and the answer says what to set', async (t) => {
  const server = await startServer(t, { cookies: { sameSite: 'None', secure: true, partitioned: true } });
  const { port } = new URL(server.url);
  const body = JSON.stringify({ ...newAlice, email: 'new@example.org', api: cookieSessions });
  const register = (more: readonly string[]) =>
    statusAndText(port, [
      'POST /v1/users HTTP/1.1',
      ...['Host: 192.168.0.8:3000', 'Origin: http://192.168.0.7', 'Content-Type: application/json'],
      ...[`Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close', ...more, '', body],
    ]);
  const refused = await register([]);
  t.regex(refused, /^HTTP\/1\.1 400 /);
  t.regex(refused, /cookies-of-another-site.*PUBLIC_URL/);
  t.regex(await register(['X-Forwarded-Proto: https']), /^HTTP\/1\.1 200 /, 'a proxy says that it was https');
});

/** The answer to these lines, whose host differs from their destination. */
async function statusAndText(port: string, lines: readonly string[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.write(lines.join('\r\n'));
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

test('the list tells when a session was last used, and a restart loses ten minutes of it at most', async (t) => {
  let commits = 0;
  const schedule = async <T>(method: string, apply: () => T): Promise<T> => {
    await undefined;
    if (method === 'commit') commits += 1;
    return apply();
  };
  const server = await startServer(t, { host: { schedule } });
  const phone = await server.device();
  const laptop = await phone.another();
  await laptop.sync();
  const used = async () => {
    const { body } = await phone.call('GET', '/v1/sessions');
    const { updated_at } = body.find(({ current }: { current: boolean }) => !current);
    return server.clock.nowMs() - Date.parse(updated_at);
  };
  await server.advance(6 * 60_000);
  commits = 0;
  await laptop.sync();
  t.is(commits, 0, 'an idle sync writes nothing');
  t.true((await used()) < 60_000);
  await server.advance(10 * 60_000);
  await laptop.save();
  await server.restart();
  t.true((await used()) < 60_000, 'a save, after a restart');
});
