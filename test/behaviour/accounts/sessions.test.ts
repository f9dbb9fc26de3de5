import test from 'ava';
import {
  alice,
  bodyOf,
  createWorld,
  refresh,
  register,
  signIn,
  statusOf,
  type Tokens,
  tokensOf,
} from './world.ts';

test('a revoked session is told so on every call, in both styles', async (t) => {
  for (const api of ['20200115', '20240226']) {
    const world = await createWorld();
    const mine = await register(world);
    const lost = tokensOf(await signIn(world, { api }));
    const list = bodyOf(await world.call('GET', '/v1/sessions', { bearer: mine.access }));
    const { uuid } = list.find(({ current }: { current: boolean }) => !current);
    const revoke = () => world.call('DELETE', `/v1/sessions/${uuid}`, { bearer: mine.access });
    t.deepEqual(await revoke().then(({ status, body }) => ({ status, body })), {
      status: 204,
      body: undefined,
    });
    t.is((await revoke()).status, 400);
    t.is(await statusOf(world, lost), '401 revoked-session');
    t.is(await statusOf(world, lost), '401 revoked-session');
    t.is(bodyOf(await refresh(world, lost, api)).error.tag, 'invalid-parameters');
    const logout = await world.call('POST', '/v1/logout', { bearer: lost.access, cookie: lost.cookie });
    t.is(logout.status, 401);
    t.is(await statusOf(world, mine), '200');
  }
});

test('a session is not revoked by itself', async (t) => {
  const world = await createWorld();
  const { access } = await register(world);
  const [{ uuid }] = bodyOf(await world.call('GET', '/v1/sessions', { bearer: access }));
  t.is((await world.call('DELETE', `/v1/sessions/${uuid}`, { bearer: access })).status, 400);
});

test('all other sessions are revoked at once, ephemeral ones too', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const others = [tokensOf(await signIn(world)), tokensOf(await signIn(world, { ephemeral: true }))];
  t.is((await world.call('DELETE', '/v1/sessions', { bearer: mine.access })).status, 204);
  for (const other of others) t.is(await statusOf(world, other), '401 revoked-session');
  t.is(await statusOf(world, mine), '200');
});

test('logout ends the session, clears its cookies, and takes an expired access token', async (t) => {
  const world = await createWorld({ accessTokenAgeMs: 1_000 });
  const { access, cookie } = await register(world, { api: '20240226' });
  await world.advance(2_000);
  const logout = () => world.call('POST', '/v1/logout', { bearer: access, cookie });
  const reply = await logout();
  t.is(reply.status, 204);
  t.is(reply.body, undefined);
  t.is(reply.setCookies?.filter((text) => /=0; .*Expires=Thu, 01 Jan 1970/.test(text)).length, 2);
  t.is(await statusOf(world, { access, cookie }), '401 invalid-auth');
  t.is((await logout()).status, 401);
  t.is(bodyOf(await world.call('POST', '/v1/logout', {})).error.message, 'Invalid session token.');
});

test('logout takes a secret that is not the session’s for none', async (t) => {
  const world = await createWorld();
  const tokens = await register(world);
  const forged = tokens.access.replace(/:[^:]+$/, `:${'x'.repeat(43)}`);
  t.is((await world.call('POST', '/v1/logout', { bearer: forged })).status, 401);
  t.is(await statusOf(world, tokens), '200');
});

test('the list shows what a device is, newest refresh first, and nothing to a read-only session', async (t) => {
  const world = await createWorld();
  const agent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
  const first = await register(world, {}, { headers: { 'user-agent': agent } });
  await world.advance(1_000);
  await signIn(world);
  const list = bodyOf(await world.call('GET', '/v1/sessions', { bearer: first.access }));
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
  const world = await createWorld();
  const headers = { 'user-agent': 'okhttp/4.9' };
  const tokens = await register(world, { email: 'f'.repeat(64) }, { headers });
  const userAgent = async (bearer: string) =>
    bodyOf(await world.call('GET', '/v1/sessions', { bearer }))[0].user_agent;
  t.is(await userAgent(tokens.access), null);
  const body = { access_token: tokens.access, refresh_token: tokens.refresh, api: '20200115' };
  const refreshed = tokensOf(await world.call('POST', '/v1/sessions/refresh', { body, headers }));
  t.is(await userAgent(refreshed.access), null);
});

test('a read-only account may sign out and look, and change nothing', async (t) => {
  const world = await createWorld({ readonlyUsers: new Set([alice.email]) });
  const { access, userUuid, cookie } = await register(world);
  const credentials = { current_password: 'x', new_password: 'y', pw_nonce: 'z', api: '20200115' };
  const path = `/v1/users/${userUuid}`;
  const headers = { 'x-server-password': alice.password };
  for (const reply of [
    await world.call('DELETE', '/v1/sessions', { bearer: access }),
    await world.call('DELETE', '/v1/sessions/x', { bearer: access }),
    await world.call('PUT', `${path}/attributes/credentials`, { bearer: access, body: credentials }),
    await world.call('DELETE', path, { bearer: access, headers }),
  ]) {
    t.is(reply.status, 403);
    t.is(bodyOf(reply).error.tag, 'read-only-access');
  }
  const reply = await signIn(world);
  t.is(bodyOf(reply).session.readonly_access, true);
  t.deepEqual(bodyOf(await world.call('GET', '/v1/sessions', { bearer: access })), []);
  t.is((await world.call('POST', '/v1/logout', { bearer: access, cookie })).status, 204);
});

test('an account has at most a thousand sessions, and the one that would end first goes', async (t) => {
  const world = await createWorld();
  const first = await register(world);
  await world.advance(1);
  const second = tokensOf(await signIn(world));
  for (let index = 0; index < 999; index += 1) await signIn(world);
  t.is(await statusOf(world, first), '401 invalid-auth');
  t.is(await statusOf(world, second), '200');
});

test('a caller learns his roles, and an administrator is one by the operator’s list', async (t) => {
  const world = await createWorld({ adminEmails: new Set([alice.email]) });
  const admin = await register(world);
  const user = await register(world, { email: 'bob@example.org' });
  const rolesOf = async ({ access, userUuid }: Tokens) => {
    const { caller } = await world.call('GET', '/v1/sessions', { bearer: access });
    t.is(caller?.userUuid, userUuid);
    return caller?.roles.map(({ name }) => name);
  };
  t.deepEqual(await rolesOf(admin), ['CORE_USER', 'PRO_USER', 'INTERNAL_TEAM_USER']);
  t.deepEqual(await rolesOf(user), ['CORE_USER', 'PRO_USER']);
});

test('a session survives the crash of its host', async (t) => {
  const world = await createWorld();
  const tokens = await register(world);
  world.host = await world.host.restart();
  t.is(await statusOf(world, tokens), '200');
});

test('sessions/validate answers who and how to the server’s own parts', async (t) => {
  const world = await createWorld();
  const { access, userUuid } = await register(world);
  const credentials = world.services.tokens.verify(access, new Map());
  if (credentials === undefined) throw new Error('not a token');
  const { User } = await import('../../../actors/mod.ts');
  const valid = await world.host.actors.get(User, userUuid).ask.validateSession({ credentials });
  t.like(valid, { caller: { userUuid }, reply: { sessionUuid: credentials.identifier, readonly: false } });
});
