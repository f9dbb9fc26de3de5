import test from 'ava';
import { alice, bodyOf, challengeOf, createWorld, register, signIn, statusOf, tokensOf } from './world.ts';

test('an account is registered and its session works at once', async (t) => {
  const world = await createWorld();
  const reply = await world.call('POST', '/v1/users', {
    body: {
      ...alice,
      email: ' Alice@Example.org ',
      api: '20200115',
      version: '004',
      created: '1767225600000',
    },
  });
  t.is(reply.status, 200);
  const { session, key_params, user } = bodyOf(reply);
  t.like(user, { email: 'alice@example.org', protocolVersion: '004' });
  t.deepEqual(
    { ...key_params },
    {
      created: '1767225600000',
      identifier: 'alice@example.org',
      origination: undefined,
      pw_nonce: alice.pw_nonce,
      version: '004',
    },
  );
  t.regex(session.access_token, new RegExp(`^1:${user.uuid}\\.[0-9a-f-]{36}\\.[\\w-]{22}:[\\w-]{43}$`));
  t.is(session.access_expiration, world.host.clock.nowMs() + 5_184_000_000);
  t.is(session.refresh_expiration, world.host.clock.nowMs() + 31_556_926_000);
  t.is(session.readonly_access, false);
  t.is(reply.setCookies?.length, 2);
  t.is(await statusOf(world, tokensOf(reply)), '200');
});

test('an address is registered once, also when two try at the same moment', async (t) => {
  const world = await createWorld();
  const body = { ...alice, api: '20200115', version: '004' };
  const replies = await Promise.all([
    world.call('POST', '/v1/users', { body }),
    world.call('POST', '/v1/users', { body }),
  ]);
  t.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400]);
  t.is((await world.call('POST', '/auth', { body })).status, 400);
});

test('a repeated registration call gets the reply of the first', async (t) => {
  const world = await createWorld();
  const body = { ...alice, api: '20200115', version: '004' };
  const first = await world.call('POST', '/v1/users', { body, callId: 'the same' });
  const again = await world.call('POST', '/v1/users', { body, callId: 'the same' });
  t.deepEqual(again, first);
  t.is(world.hasher.hashes, 1);
});

for (const [what, fields] of Object.entries({
  'an unknown api version': { api: '20161215' },
  'no api version': { api: undefined },
  'a protocol below 004': { version: '003' },
  'a name with two specials in a row': { email: 'a.-b@x.y' },
  'no password': { password: '' },
})) {
  test(`registration refuses ${what} with 400`, async (t) => {
    const world = await createWorld();
    const body = { ...alice, api: '20200115', version: '004', ...fields };
    t.is((await world.call('POST', '/v1/users', { body })).status, 400);
  });
}

test('registration can be switched off', async (t) => {
  const world = await createWorld({ registrationDisabled: true });
  const body = { ...alice, api: '20200115', version: '004' };
  t.is((await world.call('POST', '/v1/users', { body })).status, 400);
});

test('signing in opens a session of its own', async (t) => {
  const world = await createWorld();
  const first = await register(world);
  const reply = await signIn(world);
  t.is(reply.status, 200);
  t.is(bodyOf(reply).user.uuid, first.userUuid);
  t.is(bodyOf(reply).key_params.origination, 'registration');
  t.is(await statusOf(world, tokensOf(reply)), '200');
  t.is(await statusOf(world, first), '200');
  const list = await world.call('GET', '/v1/sessions', { bearer: first.access });
  t.is(bodyOf(list).length, 2);
  t.is(bodyOf(list).filter(({ current }: { current: boolean }) => current).length, 1);
});

test('a code verifier works in both encodings of its challenge, and once', async (t) => {
  const world = await createWorld();
  await register(world);
  const { createHash } = await import('node:crypto');
  const raw = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
  for (const [verifier, challenge] of [
    ['one', challengeOf('one')],
    ['two', raw('two')],
  ] as const) {
    await world.call('POST', '/v2/login-params', { body: { email: alice.email, code_challenge: challenge } });
    const body = { ...alice, code_verifier: verifier, api: '20200115' };
    t.is((await world.call('POST', '/v2/login', { body })).status, 200);
    t.is((await world.call('POST', '/v2/login', { body })).status, 401);
  }
});

test('a challenge is forgotten after its time', async (t) => {
  const world = await createWorld();
  await register(world);
  const challenge = { email: alice.email, code_challenge: challengeOf('late') };
  await world.call('POST', '/v2/login-params', { body: challenge });
  await world.advance(3_600_000);
  const body = { ...alice, code_verifier: 'late', api: '20200115' };
  t.is((await world.call('POST', '/v2/login', { body })).status, 401);
});

test('wrong password, unknown address and unmatched verifier are answered alike, after the same work', async (t) => {
  const world = await createWorld();
  await register(world);
  const answers = [];
  for (const fields of [
    { password: 'c'.repeat(64) },
    { email: 'nobody@example.org' },
    { code_verifier: 'not the one' },
  ]) {
    world.hasher.verifications = 0;
    const { status, body, headers, setCookies } = await signIn(world, fields);
    answers.push({ status, body, headers, setCookies, verifications: world.hasher.verifications });
  }
  const [first] = answers;
  t.is(first?.status, 401);
  t.is(first?.verifications, 1);
  for (const answer of answers) t.deepEqual(answer, first);
});

test('key params of unknown addresses look like real ones and never change', async (t) => {
  const world = await createWorld();
  await register(world);
  const paramsOf = async (email: string) =>
    bodyOf(await world.call('POST', '/v2/login-params', { body: { email, code_challenge: 'x' } }));
  const real = await paramsOf('ALICE@example.org');
  const pseudo = await paramsOf('Nobody@example.org');
  t.deepEqual(Object.keys(pseudo).toSorted(), Object.keys(real).toSorted());
  t.is(real.identifier, 'alice@example.org');
  t.is(pseudo.identifier, 'nobody@example.org');
  t.regex(pseudo.pw_nonce, /^[0-9a-f]{64}$/);
  t.is(pseudo.version, '004');
  world.host = await world.host.restart();
  t.deepEqual(await paramsOf(' nobody@EXAMPLE.org'), pseudo);
  t.not((await paramsOf('somebody@example.org')).pw_nonce, pseudo.pw_nonce);
});

test('a signed-in caller of login-params gets the full params of his own account', async (t) => {
  const world = await createWorld();
  const { access } = await register(world);
  const body = { email: 'other@example.org', code_challenge: challengeOf('own') };
  const reply = await world.call('POST', '/v2/login-params', { bearer: access, body });
  t.like(bodyOf(reply), { identifier: alice.email, origination: 'registration' });
  const login = { ...alice, code_verifier: 'own', api: '20200115' };
  t.is((await world.call('POST', '/v2/login', { body: login })).status, 200);
});

test('twelve failures lock an address, known or not, until the time is over', async (t) => {
  const world = await createWorld({ captchaLockoutMs: 60_000 });
  await register(world);
  for (const email of [alice.email, 'nobody@example.org']) {
    const wrong = { email, password: 'wrong' };
    for (let attempt = 0; attempt < 12; attempt += 1) t.is((await signIn(world, wrong)).status, 401);
    t.is((await signIn(world, { email })).status, 423);
  }
  await world.advance(60_000);
  t.is((await signIn(world)).status, 200);
});

test('the right password gives all attempts back', async (t) => {
  const world = await createWorld();
  await register(world);
  for (let round = 0; round < 3; round += 1) {
    for (let attempt = 0; attempt < 11; attempt += 1) await signIn(world, { password: 'wrong' });
    t.is((await signIn(world)).status, 200);
  }
});

test('attempts made at the same moment cannot outrun the limit', async (t) => {
  const world = await createWorld();
  await register(world);
  world.hasher.verifications = 0;
  const replies = await Promise.all(Array.from({ length: 50 }, () => signIn(world, { password: 'wrong' })));
  t.is(world.hasher.verifications, 12);
  t.is(replies.filter(({ status }) => status === 423).length, 38);
});

test('from the sixth failure on a captcha is asked for where one is configured', async (t) => {
  const captcha = { verify: async (token: string) => token === 'solved' };
  const world = await createWorld({}, { captcha, captchaUiUrl: 'https://captcha.example.org' });
  await register(world, { hvm_token: 'solved' });
  const header = async (fields: Record<string, unknown>) =>
    (await signIn(world, fields)).headers?.['x-captcha-required'];
  for (let attempt = 1; attempt < 6; attempt += 1) t.is(await header({ password: 'wrong' }), undefined);
  t.is(await header({ password: 'wrong' }), 'https://captcha.example.org');
  world.hasher.verifications = 0;
  t.is((await signIn(world)).status, 401);
  t.is(world.hasher.verifications, 0);
  const right = await signIn(world, { hvm_token: 'solved' });
  t.is(right.status, 200);
  t.is(right.headers, undefined);
});

test('registration needs a solved captcha where one is configured', async (t) => {
  const world = await createWorld({}, { captcha: { verify: async (token) => token === 'solved' } });
  const body = { ...alice, api: '20200115', version: '004' };
  t.is((await world.call('POST', '/v1/users', { body })).status, 400);
  const solved = { ...body, hvm_token: 'solved' };
  t.is((await world.call('POST', '/v1/users', { body: solved })).status, 200);
});

test('a password that changes while it is being checked opens no session', async (t) => {
  const world = await createWorld();
  const { access, userUuid } = await register(world);
  world.hasher.meanwhile = async () => {
    const reply = await world.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      bearer: access,
      body: {
        current_password: alice.password,
        new_password: 'd'.repeat(64),
        pw_nonce: 'e'.repeat(64),
        api: '20200115',
      },
    });
    t.is(reply.status, 200);
  };
  t.is((await signIn(world)).status, 401);
});

test('sign-in state that counts no more leaves memory and comes back', async (t) => {
  const world = await createWorld();
  await register(world);
  await signIn(world, { password: 'wrong' });
  await world.advance(3_600_000 + 10_000);
  t.is((await signIn(world)).status, 200);
});

test('workspaces separate accounts of one address only where they are enabled', async (t) => {
  const off = await createWorld();
  await register(off);
  const body = { ...alice, api: '20200115', version: '004', workspace_identifier: 'work' };
  t.is((await off.call('POST', '/v1/users', { body })).status, 400);

  const on = await createWorld({ workspacesPerEmail: true });
  const home = await register(on);
  const work = await register(on, { workspace_identifier: 'work', password: 'w'.repeat(64) });
  t.not(home.userUuid, work.userUuid);
  t.is((await signIn(on, { workspace_identifier: 'work' })).status, 401);
  const signedIn = await signIn(on, { workspace_identifier: 'work', password: 'w'.repeat(64) });
  t.is(bodyOf(signedIn).user.uuid, work.userUuid);
});

test('login says invalid-auth when a field is missing and refuses unknown versions', async (t) => {
  const world = await createWorld();
  for (const field of ['email', 'password', 'code_verifier']) {
    const body = { ...alice, code_verifier: 'x', api: '20200115', [field]: undefined };
    const reply = await world.call('POST', '/v2/login', { body });
    t.is(reply.status, 401);
    t.deepEqual(bodyOf(reply).error, { tag: 'invalid-auth', message: 'Invalid login credentials.' });
  }
  const body = { ...alice, code_verifier: 'x', api: '20190520' };
  const reply = await world.call('POST', '/v1/login', { body });
  t.is(reply.status, 401);
  t.is(bodyOf(reply).error.tag, undefined);
});
