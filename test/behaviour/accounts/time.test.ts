/** The effects of time on accounts, on both sides of every limit. */
import test from 'ava';
import {
  alice,
  challengeOf,
  newAlice,
  refresh,
  register,
  signIn,
  statusOf,
  tokensOf,
} from '../../kit/account.ts';
import { startServer, type TestServer, unknownAddress } from '../../kit/server.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function failures(server: TestServer, count: number, fields = {}): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    await signIn(server, { password: 'wrong', ...fields });
    await server.advance(1_000);
  }
}

test('a locked account stays so past the hour after which plain failures are forgotten, for a day', async (t) => {
  const server = await startServer(t);
  await register(server);
  await failures(server, 12);
  // The last of them is a second ago.
  for (const waitMs of [hour - 1_000, 1, 22 * hour, hour - 2]) {
    await server.advance(waitMs);
    t.is((await signIn(server)).status, 423);
  }
  await server.advance(1);
  t.is((await signIn(server)).status, 200);
});

test('the lock is for a day even where the last captcha failure came late', async (t) => {
  const server = await startServer(t);
  await register(server);
  await failures(server, 11);
  await server.advance(23 * hour);
  await failures(server, 1);
  await server.advance(23 * hour);
  t.is((await signIn(server)).status, 423);
  await server.advance(hour);
  t.is((await signIn(server)).status, 200);
});

test('captcha failures are remembered when plain ones are forgotten', async (t) => {
  const captcha = { passes: async (token?: string) => token === 'solved' };
  const server = await startServer(t, { captcha, captchaUiUrl: 'https://captcha.example.org' });
  await register(server, { hvm_token: 'solved' });
  await failures(server, 7, { hvm_token: 'solved' });
  await server.advance(2 * hour);
  t.is((await signIn(server)).status, 401);
  await failures(server, 5, { hvm_token: 'solved' });
  t.is((await signIn(server, { hvm_token: 'solved' })).status, 423);
});

test('plain failures are forgotten an hour after the last of them', async (t) => {
  const captchaUiUrl = 'https://captcha.example.org';
  const captcha = { passes: async (token?: string) => token === 'solved' };
  const server = await startServer(t, { captcha, captchaUiUrl });
  await register(server, { hvm_token: 'solved' });
  for (let failure = 1; failure <= 6; failure += 1) {
    if (failure > 1) await server.advance(50 * minute);
    const { headers } = await signIn(server, { password: 'wrong' });
    t.is(headers.get('x-captcha-required'), failure < 6 ? null : captchaUiUrl, `${failure}`);
  }
  await server.advance(hour - 1);
  t.is((await signIn(server)).status, 401);
  await server.advance(1);
  t.is((await signIn(server)).status, 200);
});

test('a new account starts without the failures of those who tried its address before', async (t) => {
  const captchaUiUrl = 'https://captcha.example.org';
  const server = await startServer(t, { captchaUiUrl });
  // With a made-up factor, no attempt gets as far as being counted.
  const email = unknownAddress();
  await failures(server, 11, { email });
  await register(server, { email });
  await server.advance(1_000);
  const { headers, status } = await signIn(server, { email, password: 'wrong' });
  t.is(status, 401);
  t.false(headers.has('x-captcha-required'));
  await failures(server, 10, { email });
  t.is((await signIn(server, { email })).status, 200);
});

test('the newest challenges are kept, and the oldest go', async (t) => {
  const server = await startServer(t);
  await register(server);
  for (let n = 0; n < 65; n += 1) {
    const body = { email: alice.email, code_challenge: challengeOf(`verifier ${n}`) };
    t.is((await server.call('POST', '/v2/login-params', { body })).status, 200);
    await server.advance(1);
  }
  const login = async (n: number) => {
    const body = { ...newAlice, code_verifier: `verifier ${n}` };
    return (await server.call('POST', '/v2/login', { body })).status;
  };
  t.is(await login(0), 401);
  t.is(await login(64), 200);
  t.is(await login(1), 200);
});

test('a challenge holds to the end of its hour', async (t) => {
  const server = await startServer(t);
  await register(server);
  for (const verifier of ['in time', 'too late']) {
    const body = { email: alice.email, code_challenge: challengeOf(verifier) };
    await server.call('POST', '/v2/login-params', { body });
  }
  const login = async (code_verifier: string) =>
    (await server.call('POST', '/v2/login', { body: { ...newAlice, code_verifier } })).status;
  await server.advance(hour - 1);
  t.is(await login('in time'), 200);
  await server.advance(1);
  t.is(await login('too late'), 401);
});

test('a revoked session learns of it for as long as it could have been refreshed', async (t) => {
  const accounts = { accessTokenAgeMs: 10_000, refreshTokenAgeMs: 60_000 };
  const server = await startServer(t, { accounts });
  const first = await register(server);
  const lost = tokensOf(await signIn(server));
  t.is((await server.call('DELETE', '/v1/sessions', { bearer: first.access })).status, 204);
  // Long after its access token has expired, and over other revocations.
  await server.advance(30_000);
  const mine = tokensOf(await refresh(server, first));
  await signIn(server);
  t.is((await server.call('DELETE', '/v1/sessions', { bearer: mine.access })).status, 204);
  t.is(await statusOf(server, lost), '401 revoked-session');
  await server.restart();
  await server.advance(29_999);
  t.is(await statusOf(server, lost), '401 revoked-session');
  await server.advance(1);
  t.is(await statusOf(server, lost), '401 invalid-auth');
});

test('a refresh after the access token has expired restarts both expiries', async (t) => {
  const accounts = { accessTokenAgeMs: 10_000, refreshTokenAgeMs: 60_000 };
  const server = await startServer(t, { accounts });
  const first = await register(server);
  await server.advance(59_999);
  t.is(await statusOf(server, first), '498 expired-access-token');
  const answer = await refresh(server, first);
  t.is(answer.status, 200);
  const nowMs = server.clock.nowMs();
  t.is(answer.body.session.access_expiration, nowMs + 10_000);
  t.is(answer.body.session.refresh_expiration, nowMs + 60_000);
  const second = tokensOf(answer);
  await server.advance(9_999);
  t.is(await statusOf(server, second), '200');
  await server.advance(1);
  t.is(await statusOf(server, second), '498 expired-access-token');
  await server.advance(49_999);
  t.is(await statusOf(server, second), '498 expired-access-token');
  await server.advance(1);
  t.is(await statusOf(server, second), '401 invalid-auth');
  t.is((await refresh(server, second)).body.error.tag, 'expired-refresh-token');
});

test('by default an access token lasts 60 days and a session a year', async (t) => {
  const server = await startServer(t);
  const first = await register(server);
  await server.advance(60 * day - 1);
  t.is(await statusOf(server, first), '200');
  await server.advance(1);
  t.is(await statusOf(server, first), '498 expired-access-token');
  await server.advance(31_556_926_000 - 60 * day - 1);
  t.is(await statusOf(server, first), '498 expired-access-token');
  await server.advance(1);
  t.is(await statusOf(server, first), '401 invalid-auth');
});

test('by default an ephemeral session lasts three days after each refresh', async (t) => {
  const server = await startServer(t);
  const first = await register(server, { ephemeral: true });
  await server.advance(3 * day - 1);
  const second = tokensOf(await refresh(server, first));
  await server.advance(3 * day - 1);
  t.is(await statusOf(server, second), '200');
  await server.advance(1);
  t.is(await statusOf(server, second), '401 invalid-auth');
});

test('a sign-in that asks for an ephemeral session gets one, and one that does not gets a lasting one', async (t) => {
  const server = await startServer(t);
  await register(server);
  const ephemeral = tokensOf(await signIn(server, { ephemeral: true }));
  const lasting = [{}, { ephemeral: false }, { ephemeral: null }];
  const others = await Promise.all(lasting.map(async (fields) => tokensOf(await signIn(server, fields))));
  await server.advance(3 * day);
  t.is(await statusOf(server, ephemeral), '401 invalid-auth');
  for (const other of others) t.is(await statusOf(server, other), '200');
});
