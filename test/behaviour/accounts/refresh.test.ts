import test from 'ava';
import fc from 'fast-check';
import { refresh, register, statusOf, type Tokens, tokensOf } from '../../kit/account.ts';
import { startServer } from '../../kit/server.ts';

for (const [style, api] of [
  ['header', '20200115'],
  ['cookie', '20240226'],
] as const) {
  test(`${style} sessions: a refresh replaces the pair, and the old access token asks for a refresh`, async (t) => {
    const server = await startServer(t);
    const first = await register(server, { api });
    const reply = await refresh(server, first, api);
    t.is(reply.status, 200);
    t.deepEqual(Object.keys(reply.body), ['session']);
    const second = tokensOf(reply);
    t.is(await statusOf(server, second), '200');
    t.is(await statusOf(server, first), '498 expired-access-token');
  });

  test(`${style} sessions: a pair whose answer was lost still refreshes for 120 s, and not longer`, async (t) => {
    const server = await startServer(t);
    const first = await register(server, { api });
    await refresh(server, first, api);
    await server.advance(119_999);
    t.is((await refresh(server, first, api)).status, 200);
    await server.advance(1);
    const late = await refresh(server, first, api);
    t.is(late.status, 400);
    t.is(late.body.error.tag, 'invalid-parameters');
    t.is(await statusOf(server, first), '401 invalid-auth');
  });
}

test('a pair may be refreshed into the other style, and the grace spans the change', async (t) => {
  const server = await startServer(t);
  const header = await register(server);
  const cookie = tokensOf(await refresh(server, header, '20240226'));
  t.regex(cookie.access, /^2:/);
  t.is(cookie.access, cookie.refresh);
  t.is(await statusOf(server, cookie), '200');
  t.is(await statusOf(server, header), '498 expired-access-token');
  t.is((await refresh(server, header)).status, 200);
  t.is(await statusOf(server, cookie), '498 expired-access-token');
  const back = tokensOf(await refresh(server, cookie));
  t.regex(back.access, /^1:/);
  t.is(await statusOf(server, back), '200');
});

test('a cookie session needs its cookie, and finds it among others of the same name', async (t) => {
  const server = await startServer(t);
  const { access, cookie } = await register(server, { api: '20240226' });
  const [name] = cookie.split('=');
  t.is(await statusOf(server, { access, cookie: '' }), '401 invalid-auth');
  t.is(await statusOf(server, { access, cookie: `${name}=stale; ${cookie}` }), '200');
  const bare = await server.call('POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: access, api: '20240226' },
  });
  t.is(bare.body.error.tag, 'invalid-parameters');
  const half = await server.call('POST', '/v1/sessions/refresh', {
    body: { access_token: access, refresh_token: access, api: '20240226' },
    cookie: cookie.split('; ')[0] ?? '',
  });
  t.is(half.body.error.tag, 'invalid-refresh-token');
});

test('every session is of header style where that is forced', async (t) => {
  const server = await startServer(t, { accounts: { endToEndTesting: true } });
  t.regex((await register(server, { api: '20240226' })).access, /^1:/);
});

test('a header refresh says what is wrong with it', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const other = await register(server, { email: 'bob@example.org' });
  const tagOf = async (access_token: string, refresh_token: string, api?: string) => {
    const reply = await server.call('POST', '/v1/sessions/refresh', {
      body: { access_token, refresh_token, ...(api && { api }) },
    });
    return reply.status === 200 ? 200 : reply.body.error.tag;
  };
  t.is(await tagOf(mine.access, other.refresh), 'invalid-refresh-token');
  t.is(await tagOf(mine.access, mine.access), 'invalid-refresh-token');
  t.is(await tagOf(mine.refresh, mine.refresh), 'invalid-parameters');
  t.is(await tagOf(`${mine.access}x`, mine.refresh), 'invalid-parameters');
  t.is(await tagOf('nonsense', mine.refresh), 'invalid-parameters');
  t.is(await tagOf(mine.access, mine.refresh, '20190520'), 'invalid-parameters');
  t.is(await tagOf(mine.access, mine.refresh), 200);
});

test('too many refreshes within the grace are refused without locking anybody out', async (t) => {
  const server = await startServer(t);
  let pair: Tokens = await register(server);
  const pairs = [pair];
  for (let index = 0; index < 200; index += 1) {
    pair = tokensOf(await refresh(server, pair));
    pairs.push(pair);
  }
  const refused = await refresh(server, pair);
  t.is(refused.status, 429);
  t.is(refused.headers.get('retry-after'), '120');
  t.is(await statusOf(server, pair), '200');
  await server.advance(120_000);
  t.is((await refresh(server, pair)).status, 200);
});

test('a client with a pair younger than the grace is never locked out, whatever is replayed', async (t) => {
  const step = fc.record({
    pair: fc.nat(),
    api: fc.constantFrom('20200115', '20240226'),
    waitMs: fc.constantFrom(0, 1, 20_000, 59_999, 60_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const server = await startServer(t);
      const nowMs = () => server.clock.nowMs();
      const first: Tokens = await register(server);
      const pairs = [{ tokens: first, replacedAtMs: Number.POSITIVE_INFINITY }];
      for (const { pair, api, waitMs } of steps) {
        await server.advance(waitMs);
        const chosen = pairs[pair % pairs.length];
        if (chosen === undefined) throw new Error('no pair');
        const mayRefresh = nowMs() - chosen.replacedAtMs < 120_000;
        const reply = await refresh(server, chosen.tokens, api);
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
          if ((await statusOf(server, tokens)) !== expected) return false;
        }
      }
      return true;
    }),
    { numRuns: 15, seed: 1 },
  );
  t.pass();
});

test('an expired access token is 498, an expired session 401, and its refresh says so', async (t) => {
  const server = await startServer(t, { accounts: { accessTokenAgeMs: 10_000, refreshTokenAgeMs: 60_000 } });
  const tokens = await register(server);
  await server.advance(9_999);
  t.is(await statusOf(server, tokens), '200');
  await server.advance(1);
  t.is(await statusOf(server, tokens), '498 expired-access-token');
  await server.advance(50_000);
  t.is(await statusOf(server, tokens), '401 invalid-auth');
  t.is((await refresh(server, tokens)).body.error.tag, 'expired-refresh-token');
});

test('an ephemeral session ends after its age unless it is refreshed', async (t) => {
  const server = await startServer(t, { accounts: { ephemeralSessionAgeMs: 60_000 } });
  const first = await register(server, { ephemeral: true });
  await server.advance(59_000);
  const second = tokensOf(await refresh(server, first));
  await server.advance(59_000);
  t.is(await statusOf(server, second), '200');
  await server.advance(1_000);
  t.is(await statusOf(server, second), '401 invalid-auth');
  t.is((await refresh(server, second)).body.error.tag, 'invalid-parameters');
});
