import test from 'ava';
import fc from 'fast-check';
import {
  alice,
  bodyOf,
  createWorld,
  register,
  signIn,
  statusOf,
  type Tokens,
  tokensOf,
  type World,
} from './world.ts';

const refresh = (world: World, { access, refresh, cookie }: Tokens, api = '20200115') =>
  world.call('POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: refresh, api },
    cookie,
  });

for (const [style, api] of [
  ['header', '20200115'],
  ['cookie', '20240226'],
] as const) {
  test(`${style} sessions: a refresh replaces the pair, and the old access token asks for a refresh`, async (t) => {
    const world = await createWorld();
    const first = await register(world, { api });
    const reply = await refresh(world, first, api);
    t.is(reply.status, 200);
    t.deepEqual(Object.keys(bodyOf(reply)), ['session']);
    const second = tokensOf(reply);
    t.is(await statusOf(world, second), '200');
    t.is(await statusOf(world, first), '498 expired-access-token');
  });

  test(`${style} sessions: a pair whose answer was lost still refreshes for 120 s, and not longer`, async (t) => {
    const world = await createWorld();
    const first = await register(world, { api });
    await refresh(world, first, api);
    await world.advance(119_999);
    t.is((await refresh(world, first, api)).status, 200);
    await world.advance(1);
    const late = await refresh(world, first, api);
    t.is(late.status, 400);
    t.is(bodyOf(late).error.tag, 'invalid-parameters');
    t.is(await statusOf(world, first), '401 invalid-auth');
  });
}

test('a pair may be refreshed into the other style, and the grace spans the change', async (t) => {
  const world = await createWorld();
  const header = await register(world);
  const cookie = tokensOf(await refresh(world, header, '20240226'));
  t.regex(cookie.access, /^2:/);
  t.is(cookie.access, cookie.refresh);
  t.is(await statusOf(world, cookie), '200');
  t.is(await statusOf(world, header), '498 expired-access-token');
  t.is((await refresh(world, header)).status, 200);
  t.is(await statusOf(world, cookie), '498 expired-access-token');
  const back = tokensOf(await refresh(world, cookie));
  t.regex(back.access, /^1:/);
  t.is(await statusOf(world, back), '200');
});

test('a cookie session needs its cookie, and finds it among others of the same name', async (t) => {
  const world = await createWorld();
  const { access, cookie } = await register(world, { api: '20240226' });
  const [name] = cookie.split('=');
  t.is(await statusOf(world, { access, cookie: '' }), '401 invalid-auth');
  t.is(await statusOf(world, { access, cookie: `${name}=stale; ${cookie}` }), '200');
  const bare = await world.call('POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: access, api: '20240226' },
  });
  t.is(bodyOf(bare).error.tag, 'invalid-parameters');
  const half = await world.call('POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: access, api: '20240226' },
    cookie: cookie.split('; ')[0] ?? '',
  });
  t.is(bodyOf(half).error.tag, 'invalid-refresh-token');
});

test('every session is of header style where that is forced', async (t) => {
  const world = await createWorld({ forceHeaderSessions: true });
  t.regex((await register(world, { api: '20240226' })).access, /^1:/);
});

test('a header refresh says what is wrong with it', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const other = await register(world, { email: 'bob@example.org' });
  const tagOf = async (access_token: string, refresh_token: string, api?: string) => {
    const reply = await world.call('POST', '/v1/sessions/refresh', {
      body: { access_token, refresh_token, ...(api && { api }) },
    });
    return reply.status === 200 ? 200 : bodyOf(reply).error.tag;
  };
  t.is(await tagOf(mine.access, other.refresh), 'invalid-refresh-token');
  t.is(await tagOf(mine.access, mine.access), 'invalid-refresh-token');
  t.is(await tagOf(mine.refresh, mine.refresh), 'invalid-parameters');
  t.is(await tagOf(`${mine.access}x`, mine.refresh), 'invalid-parameters');
  t.is(await tagOf('nonsense', mine.refresh), 'invalid-parameters');
  t.is(await tagOf(mine.access, mine.refresh, '20190520'), 'invalid-parameters');
  t.is(await tagOf(mine.access, mine.refresh), 200);
});

test('refreshes of one pair at the same moment all hand out pairs that get on', async (t) => {
  const world = await createWorld();
  const first = await register(world);
  const replies = await Promise.all(Array.from({ length: 5 }, () => refresh(world, first)));
  const pairs = replies.map(tokensOf);
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  const statuses = await Promise.all(pairs.map((pair) => statusOf(world, pair)));
  t.deepEqual(statuses.toSorted(), ['200', ...Array(4).fill('498 expired-access-token')]);
  for (const pair of pairs) t.is((await refresh(world, pair)).status, 200);
});

test('too many refreshes within the grace are refused without locking anybody out', async (t) => {
  const world = await createWorld();
  let pair = await register(world);
  const pairs = [pair];
  for (let index = 0; index < 200; index += 1) {
    pair = tokensOf(await refresh(world, pair));
    pairs.push(pair);
  }
  const refused = await refresh(world, pair);
  t.is(refused.status, 429);
  t.deepEqual(refused.headers, { 'Retry-After': '120' });
  t.is(await statusOf(world, pair), '200');
  await world.advance(120_000);
  t.is((await refresh(world, pair)).status, 200);
});

test('whoever holds a pair younger than the grace is never locked out, whatever is replayed', async (t) => {
  const step = fc.record({
    pair: fc.nat(),
    api: fc.constantFrom('20200115', '20240226'),
    waitMs: fc.constantFrom(0, 1, 20_000, 59_999, 60_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const world = await createWorld();
      const nowMs = () => world.host.clock.nowMs();
      const pairs = [{ tokens: await register(world), replacedAtMs: Number.POSITIVE_INFINITY }];
      for (const { pair, api, waitMs } of steps) {
        await world.advance(waitMs);
        const chosen = pairs[pair % pairs.length];
        if (chosen === undefined) throw new Error('no pair');
        const mayRefresh = nowMs() - chosen.replacedAtMs < 120_000;
        const reply = await refresh(world, chosen.tokens, api);
        if (reply.status !== (mayRefresh ? 200 : 400)) return false;
        if (reply.status !== 200) continue;
        for (const known of pairs) known.replacedAtMs = Math.min(known.replacedAtMs, nowMs());
        pairs.push({ tokens: tokensOf(reply), replacedAtMs: Number.POSITIVE_INFINITY });
        for (const { tokens, replacedAtMs } of pairs) {
          const expected =
            replacedAtMs === Number.POSITIVE_INFINITY
              ? '200'
              : nowMs() - replacedAtMs < 120_000
                ? '498 expired-access-token'
                : '401 invalid-auth';
          if ((await statusOf(world, tokens)) !== expected) return false;
        }
      }
      return true;
    }),
    { numRuns: 15, seed: 1 },
  );
  t.pass();
});

test('an expired access token is 498, an expired session 401, and its refresh says so', async (t) => {
  const world = await createWorld({ accessTokenAgeMs: 10_000, refreshTokenAgeMs: 60_000 });
  const tokens = await register(world);
  await world.advance(9_999);
  t.is(await statusOf(world, tokens), '200');
  await world.advance(1);
  t.is(await statusOf(world, tokens), '498 expired-access-token');
  await world.advance(50_000);
  t.is(await statusOf(world, tokens), '401 invalid-auth');
  t.is(bodyOf(await refresh(world, tokens)).error.tag, 'expired-refresh-token');
});

test('an ephemeral session ends after its age unless it is refreshed', async (t) => {
  const world = await createWorld({ ephemeralSessionAgeMs: 60_000 });
  const first = await register(world, { ephemeral: true });
  await world.advance(59_000);
  const second = tokensOf(await refresh(world, first));
  await world.advance(59_000);
  t.is(await statusOf(world, second), '200');
  await world.advance(1_000);
  t.is(await statusOf(world, second), '401 invalid-auth');
  t.is(bodyOf(await refresh(world, second)).error.tag, 'invalid-parameters');
});

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
  const { access } = await register(world, { email: 'f'.repeat(64) }, { headers });
  const [{ user_agent }] = bodyOf(await world.call('GET', '/v1/sessions', { bearer: access }));
  t.is(user_agent, null);
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
  const { User } = await import('../../actors/mod.ts');
  const valid = await world.host.actors.get(User, userUuid).ask.validateSession({ credentials });
  t.like(valid, { caller: { userUuid }, reply: { sessionUuid: credentials.identifier, readonly: false } });
});
