import test from 'ava';
import type { SessionReply } from '../../../actors/identity/session.ts';
import { alice, challengeOf, register, signIn, statusOf, tokensOf } from '../../kit/account.ts';
import { startServer } from '../../kit/server.ts';

test('an account is registered and its session works at once', async (t) => {
  const server = await startServer(t);
  const reply = await server.call('POST', '/v1/users', {
    body: {
      ...alice,
      email: ' Alice@Example.org ',
      api: '20200115',
      version: '004',
      created: '1767225600000',
    },
  });
  t.is(reply.status, 200);
  const { session, key_params, user } = reply.body;
  t.like(user, { email: 'alice@example.org', protocolVersion: '004' });
  t.deepEqual(
    { ...key_params },
    {
      created: '1767225600000',
      identifier: 'alice@example.org',
      pw_nonce: alice.pw_nonce,
      version: '004',
    },
  );
  t.regex(session.access_token, new RegExp(`^1:${user.uuid}\\.[0-9a-f-]{36}\\.[\\w-]{22}:[\\w-]{43}$`));
  t.is(session.access_expiration, server.clock.nowMs() + 5_184_000_000);
  t.is(session.refresh_expiration, server.clock.nowMs() + 31_556_926_000);
  t.is(session.readonly_access, false);
  t.is(reply.setCookies.length, 2);
  t.is(await statusOf(server, tokensOf(reply)), '200');
});

test('a repeated registration call gets the reply of the first', async (t) => {
  const server = await startServer(t);
  const body = { ...alice, api: '20200115', version: '004' };
  const lost = server.transport.loseReplyTo('register');
  const reply = await server.answered(server.call('POST', '/v1/users', { body }));
  t.is(reply.status, 200);
  const first = (await lost) as { ok: SessionReply };
  t.is(reply.body.session.access_token, first.ok.session.access_token);
  t.is(await statusOf(server, tokensOf(reply)), '200');
  t.is(server.hasher.hashes, 1);
});

for (const [what, fields] of Object.entries({
  'an unknown api version': { api: '20161215' },
  'no api version': { api: undefined },
  'a protocol below 004': { version: '003' },
  'a name with two specials in a row': { email: 'a.-b@x.y' },
  'no password': { password: '' },
})) {
  test(`registration refuses ${what} with 400`, async (t) => {
    const server = await startServer(t);
    const body = { ...alice, api: '20200115', version: '004', ...fields };
    t.is((await server.call('POST', '/v1/users', { body })).status, 400);
  });
}

test('registration can be switched off', async (t) => {
  const server = await startServer(t, { accounts: { registrationDisabled: true } });
  const body = { ...alice, api: '20200115', version: '004' };
  const refused = await server.call('POST', '/v1/users', { body });
  t.is(refused.status, 400);
  t.is(refused.body.error.message, 'User registration is currently not allowed.');
});

test('signing in opens a session of its own', async (t) => {
  const server = await startServer(t);
  const first = await register(server);
  const reply = await signIn(server);
  t.is(reply.status, 200);
  t.is(reply.body.user.uuid, first.userUuid);
  t.is(reply.body.key_params.origination, 'registration');
  t.is(await statusOf(server, tokensOf(reply)), '200');
  t.is(await statusOf(server, first), '200');
  const list = await server.call('GET', '/v1/sessions', { bearer: first.access });
  t.is(list.body.length, 2);
  t.is(list.body.filter(({ current }: { current: boolean }) => current).length, 1);
});

test('a code verifier works in both encodings of its challenge, and once', async (t) => {
  const server = await startServer(t);
  await register(server);
  const { createHash } = await import('node:crypto');
  const raw = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
  for (const [verifier, challenge] of [
    ['one', challengeOf('one')],
    ['two', raw('two')],
  ] as const) {
    await server.call('POST', '/v2/login-params', {
      body: { email: alice.email, code_challenge: challenge },
    });
    const body = { ...alice, code_verifier: verifier, api: '20200115' };
    t.is((await server.call('POST', '/v2/login', { body })).status, 200);
    t.is((await server.call('POST', '/v2/login', { body })).status, 401);
  }
});

test('a challenge is forgotten after its time', async (t) => {
  const server = await startServer(t);
  await register(server);
  const challenge = { email: alice.email, code_challenge: challengeOf('late') };
  await server.call('POST', '/v2/login-params', { body: challenge });
  await server.advance(3_600_000);
  const body = { ...alice, code_verifier: 'late', api: '20200115' };
  t.is((await server.call('POST', '/v2/login', { body })).status, 401);
});

test('wrong password, unknown address and unmatched verifier are answered alike, after the same work', async (t) => {
  const server = await startServer(t);
  await register(server);
  const answers = [];
  for (const fields of [
    { password: 'c'.repeat(64) },
    { email: 'nobody@example.org' },
    { code_verifier: 'not the one' },
  ]) {
    server.hasher.verifications = 0;
    const { status, text, headers, setCookies } = await signIn(server, fields);
    const replyHeaders = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
    answers.push({
      status,
      text,
      told: replyHeaders,
      setCookies,
      verifications: server.hasher.verifications,
    });
  }
  const [first] = answers;
  t.is(first?.status, 401);
  t.is(first?.verifications, 1);
  for (const answer of answers) t.deepEqual(answer, first);
});

test('key params of unknown addresses look like real ones and never change', async (t) => {
  const server = await startServer(t);
  await register(server);
  const paramsOf = async (email: string) =>
    (await server.call('POST', '/v2/login-params', { body: { email, code_challenge: 'x' } })).body;
  const real = await paramsOf('ALICE@example.org');
  const pseudo = await paramsOf('Nobody@example.org');
  t.deepEqual(Object.keys(pseudo).toSorted(), Object.keys(real).toSorted());
  t.is(real.identifier, 'alice@example.org');
  t.is(pseudo.identifier, 'nobody@example.org');
  t.regex(pseudo.pw_nonce, /^[0-9a-f]{64}$/);
  t.is(pseudo.version, '004');
  await server.restart();
  t.deepEqual(await paramsOf(' nobody@EXAMPLE.org'), pseudo);
  t.not((await paramsOf('somebody@example.org')).pw_nonce, pseudo.pw_nonce);
});

test('a signed-in caller of login-params gets the full params of their own account', async (t) => {
  const server = await startServer(t);
  const { access } = await register(server);
  const body = { email: 'other@example.org', code_challenge: challengeOf('own') };
  const reply = await server.call('POST', '/v2/login-params', { bearer: access, body });
  t.like(reply.body, { identifier: alice.email, origination: 'registration' });
  const login = { ...alice, code_verifier: 'own', api: '20200115' };
  t.is((await server.call('POST', '/v2/login', { body: login })).status, 200);
});

test('twelve failures lock an address, known or not, until the time is over', async (t) => {
  const server = await startServer(t, { accounts: { captchaLockoutMs: 60_000 } });
  await register(server);
  for (const email of [alice.email, 'nobody@example.org']) {
    const wrong = { email, password: 'wrong' };
    for (let attempt = 0; attempt < 12; attempt += 1) t.is((await signIn(server, wrong)).status, 401);
    t.is((await signIn(server, { email })).status, 423);
  }
  await server.advance(60_000);
  t.is((await signIn(server)).status, 200);
});

test('a locked address learns of it before anything else is checked', async (t) => {
  const captcha = { passes: async (token?: string) => token === 'solved' };
  const server = await startServer(t, { captcha, captchaUiUrl: 'https://captcha.example.org' });
  await register(server, { hvm_token: 'solved' });
  for (let attempt = 0; attempt < 12; attempt += 1) {
    await signIn(server, { password: 'wrong', hvm_token: 'solved' });
  }
  server.hasher.verifications = 0;
  for (const fields of [
    {},
    { password: 'wrong' },
    { code_verifier: 'unmatched' },
    { hvm_token: 'solved' },
    { api: '20240226', ephemeral: true, hvm_token: 'solved' },
  ]) {
    const { status, body } = await signIn(server, fields);
    t.is(status, 423);
    t.is(body.error.message, 'Too many successive login requests. Please try your request again later.');
  }
  t.is(server.hasher.verifications, 0);
});

test('the right password gives all attempts back', async (t) => {
  const server = await startServer(t);
  await register(server);
  for (let round = 0; round < 3; round += 1) {
    for (let attempt = 0; attempt < 11; attempt += 1) await signIn(server, { password: 'wrong' });
    t.is((await signIn(server)).status, 200);
  }
});

test('from the sixth failure on a captcha is asked for where one is configured', async (t) => {
  const captcha = { passes: async (token?: string) => token === 'solved' };
  const server = await startServer(t, { captcha, captchaUiUrl: 'https://captcha.example.org' });
  await register(server, { hvm_token: 'solved' });
  const header = async (fields: Record<string, unknown>) =>
    (await signIn(server, fields)).headers.get('x-captcha-required');
  for (let attempt = 1; attempt < 6; attempt += 1) t.is(await header({ password: 'wrong' }), null);
  t.is(await header({ password: 'wrong' }), 'https://captcha.example.org');
  server.hasher.verifications = 0;
  t.is((await signIn(server)).status, 401);
  t.is(server.hasher.verifications, 0);
  const right = await signIn(server, { hvm_token: 'solved' });
  t.is(right.status, 200);
  t.false(right.headers.has('x-captcha-required'));
});

test('registration needs a solved captcha where one is configured', async (t) => {
  const server = await startServer(t, { captcha: { passes: async (token?: string) => token === 'solved' } });
  const body = { ...alice, api: '20200115', version: '004' };
  t.is((await server.call('POST', '/v1/users', { body })).status, 400);
  const solved = { ...body, hvm_token: 'solved' };
  t.is((await server.call('POST', '/v1/users', { body: solved })).status, 200);
});

test('sign-in state that counts no more leaves memory and comes back', async (t) => {
  const server = await startServer(t);
  await register(server);
  await signIn(server, { password: 'wrong' });
  await server.advance(3_600_000 + 10_000);
  t.is((await signIn(server)).status, 200);
});

test('workspaces separate accounts of one address only where they are enabled', async (t) => {
  const off = await startServer(t);
  await register(off);
  const body = { ...alice, api: '20200115', version: '004', workspace_identifier: 'work' };
  t.is((await off.call('POST', '/v1/users', { body })).status, 400);

  const on = await startServer(t, { accounts: { workspacesPerEmail: true } });
  const home = await register(on);
  const work = await register(on, { workspace_identifier: 'work', password: 'w'.repeat(64) });
  t.not(home.userUuid, work.userUuid);
  t.is((await signIn(on, { workspace_identifier: 'work' })).status, 401);
  const signedIn = await signIn(on, { workspace_identifier: 'work', password: 'w'.repeat(64) });
  t.is(signedIn.body.user.uuid, work.userUuid);
});

test('login says invalid-auth when a field is missing and refuses unknown versions', async (t) => {
  const server = await startServer(t);
  for (const field of ['email', 'password', 'code_verifier']) {
    const body = { ...alice, code_verifier: 'x', api: '20200115', [field]: undefined };
    const reply = await server.call('POST', '/v2/login', { body });
    t.is(reply.status, 401);
    t.deepEqual(reply.body.error, { tag: 'invalid-auth', message: 'Invalid login credentials.' });
  }
  const body = { ...alice, code_verifier: 'x', api: '20190520' };
  const reply = await server.call('POST', '/v1/login', { body });
  t.is(reply.status, 401);
  t.is(reply.body.error.tag, undefined);
});
