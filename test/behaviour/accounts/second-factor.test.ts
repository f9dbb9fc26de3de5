/** The second factor at sign-in, for accounts that have one, that have none, and that do not exist. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { challengeOf, headerSessions } from '../../kit/account.ts';
import { addAuthenticatorApp, appCode } from '../../kit/authenticator-app.ts';
import type { Device } from '../../kit/device.ts';
import type { Answer } from '../../kit/http.ts';
import { SecurityKey } from '../../kit/security-key.ts';
import { startServer, type TestServer, unknownAddress } from '../../kit/server.ts';

/** The step that asks for the factor, with the verifier for the next one. */
async function loginParams(
  server: TestServer,
  email: string,
  factors: object = {},
  headers: Record<string, string> = {},
) {
  const verifier = randomUUID();
  const body = { api: headerSessions, email, code_challenge: challengeOf(verifier), ...factors };
  const answer = await server.call('POST', '/v2/login-params', { body, headers });
  return { ...answer, verifier };
}

const login = (server: TestServer, { account }: Device, verifier: string) =>
  server.call('POST', '/v2/login', {
    body: { api: headerSessions, email: account.email, password: account.password, code_verifier: verifier },
  });

/** Status, tag and the keys of the payload, which must not distinguish addresses. */
const outline = ({ status, body }: Answer) => ({
  status,
  tag: body.error?.tag,
  message: body.error?.message,
  payload: Object.keys(body.error?.payload ?? {}).toSorted(),
  fields: Object.keys(body).toSorted(),
});

async function withTotp(server: TestServer, email = 'alice@example.org') {
  const phone = await server.device(email);
  return { phone, secret: await addAuthenticatorApp(server, phone) };
}

async function withSecurityKey(server: TestServer, device?: Device) {
  const phone = device ?? (await server.device());
  const { options } = (await phone.call('GET', '/v1/authenticators/generate-registration-options')).body;
  const key = new SecurityKey();
  const body = { attestationResponse: key.register(options.challenge) };
  const added = await phone.call('POST', '/v1/authenticators/verify-registration', { body });
  if (added.status !== 200) throw new Error(added.text);
  return { phone, key };
}

const assertionOptions = async (server: TestServer, username: string) =>
  (await server.call('POST', '/v1/authenticators/generate-authentication-options', { body: { username } }))
    .body.options;

test('with an authenticator app a code is asked for, and only with a right one a login passes', async (t) => {
  const server = await startServer(t);
  const { phone, secret } = await withTotp(server);
  const { email } = phone.account;
  const without = await loginParams(server, email);
  t.is(without.status, 401);
  t.is(without.body.error.tag, 'mfa-required');
  t.notRegex(without.body.error.message, /email/i);
  t.regex(without.body.error.payload.mfa_key, /^mfa_/);
  t.is((await login(server, phone, without.verifier)).status, 401);
  const wrong = await loginParams(server, email, { mfa_code: '000000' });
  t.is(wrong.body.error.tag, 'mfa-invalid');
  t.is((await login(server, phone, wrong.verifier)).status, 401);
  const right = await loginParams(server, email, { mfa_code: appCode(server, secret) });
  t.is(right.status, 200, 'the code of the same half minute in which it was turned on');
  t.is(right.body.version, '004');
  t.is((await login(server, phone, right.verifier)).status, 200);
});

test('a code is accepted once, and none of an earlier step after it', async (t) => {
  const server = await startServer(t);
  const { phone, secret } = await withTotp(server);
  const { email } = phone.account;
  const early = appCode(server, secret);
  await server.advance(30_000);
  const code = appCode(server, secret);
  t.is((await loginParams(server, email, { mfa_code: code })).status, 200);
  const used = await loginParams(server, email, { mfa_code: code });
  t.is(used.body.error.tag, 'mfa-invalid');
  t.is((await loginParams(server, email, { mfa_code: early })).status, 401);
  await server.restart();
  t.is((await loginParams(server, email, { mfa_code: code })).status, 401, 'after a restart neither');
  await server.advance(30_000);
  t.is((await loginParams(server, email, { mfa_code: appCode(server, secret) })).status, 200);
});

test('one of two sign-ins with one code at the same moment passes', async (t) => {
  const server = await startServer(t);
  const { phone, secret } = await withTotp(server);
  const mfa_code = appCode(server, secret);
  const both = await Promise.all([1, 2].map(() => loginParams(server, phone.account.email, { mfa_code })));
  t.deepEqual(both.map(({ status }) => status).toSorted(), [200, 401]);
});

test('old clients send the code under the name they were given', async (t) => {
  const server = await startServer(t);
  const { phone, secret } = await withTotp(server);
  const { email } = phone.account;
  const { mfa_key } = (await loginParams(server, email)).body.error.payload;
  const wrong = await loginParams(server, email, { [mfa_key]: '000000' });
  t.is(wrong.body.error.payload.mfa_key, mfa_key);
  t.is((await loginParams(server, email, { [mfa_key]: appCode(server, secret) })).status, 200);
});

test('a security key signs in, and counts before the authenticator app', async (t) => {
  const server = await startServer(t);
  const { phone, secret } = await withTotp(server);
  const { key } = await withSecurityKey(server, phone);
  const { email } = phone.account;
  t.is((await loginParams(server, email)).body.error.tag, 'u2f-required');
  t.is(
    (await loginParams(server, email, { mfa_code: appCode(server, secret) })).body.error.tag,
    'u2f-required',
  );
  const options = await assertionOptions(server, email);
  t.deepEqual(options.allowCredentials, [{ id: key.id, type: 'public-key', transports: ['usb'] }]);
  t.is(options.rpId, 'notes.test');
  const right = await loginParams(server, email, { authenticator_response: key.sign(options.challenge) });
  t.is(right.status, 200, right.text);
  t.is((await login(server, phone, right.verifier)).status, 200);
});

test('an assertion counts once, over the newest challenge, with a counter that grows, by a key of the account', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 100 } });
  const { phone, key } = await withSecurityKey(server);
  const { email } = phone.account;
  const tagOf = async (authenticator_response: unknown) =>
    (await loginParams(server, email, { authenticator_response })).body.error?.tag;
  const { challenge } = await assertionOptions(server, email);
  const assertion = key.sign(challenge);
  t.is(await tagOf(assertion), undefined);
  t.is(await tagOf(assertion), 'mfa-invalid', 'replayed');
  const older = await assertionOptions(server, email);
  const newest = await assertionOptions(server, email);
  t.is(await tagOf(key.sign(older.challenge)), 'mfa-invalid', 'an older challenge');
  t.is(await tagOf(key.sign(newest.challenge)), undefined, 'which undoes no other');
  key.counter = 0;
  t.is(await tagOf(key.sign((await assertionOptions(server, email)).challenge)), 'mfa-invalid', 'a clone');
  key.counter = 10;
  t.is(await tagOf(key.sign((await assertionOptions(server, email)).challenge)), undefined);
  const foreign = new SecurityKey();
  t.is(await tagOf(foreign.sign((await assertionOptions(server, email)).challenge)), 'mfa-invalid');
  const elsewhere = key.sign((await assertionOptions(server, email)).challenge);
  t.is(await tagOf({ ...elsewhere, response: {} }), 'mfa-invalid');
  const late = await assertionOptions(server, email);
  await server.advance(300_000);
  t.is(await tagOf(key.sign(late.challenge)), 'mfa-invalid', 'too late');
});

test('an app password and a trusted device stand in for the factor, and for nothing else', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const { password } = (await phone.call('POST', '/v1/app-passwords', { body: { label: 'x' } })).body;
  const { token } = (await phone.call('POST', '/v1/trusted-devices', { body: {} })).body.trustedDevice;
  for (const factors of [{ app_password: password }, { trusted_device_token: token }]) {
    const params = await loginParams(server, email, factors);
    t.is(params.status, 200);
    const body = { api: headerSessions, email, password: 'wrong', code_verifier: params.verifier };
    t.is(
      (await server.call('POST', '/v2/login', { body })).status,
      401,
      'the password is asked for all the same',
    );
  }
  for (const wrong of ['x', 'x'.repeat(2_000), 7, null, [token]]) {
    const { body } = await loginParams(server, email, { trusted_device_token: wrong });
    t.is(body.error.tag, 'mfa-required', typeof wrong);
  }
  t.is((await loginParams(server, email, { app_password: 'x' })).body.error.tag, 'mfa-required');
  t.truthy((await phone.call('GET', '/v1/app-passwords')).body.appPasswords[0].lastUsedAt);
  t.truthy((await phone.call('GET', '/v1/trusted-devices')).body.trustedDevices[0].lastUsedAt);
  await server.advance(30 * 86_400_000);
  t.is((await loginParams(server, email, { trusted_device_token: token })).status, 401, 'a month later');
});

test('an app password and a trusted device that were revoked stand in for the factor no more', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const { appPassword, password } = (await phone.call('POST', '/v1/app-passwords', { body: { label: 'x' } }))
    .body;
  const { trustedDevice } = (await phone.call('POST', '/v1/trusted-devices', { body: {} })).body;
  for (const [path, factors] of [
    [`/v1/app-passwords/${appPassword.uuid}`, { app_password: password }],
    [`/v1/trusted-devices/${trustedDevice.uuid}`, { trusted_device_token: trustedDevice.token }],
  ] as const) {
    t.is((await loginParams(server, email, factors)).status, 200);
    t.is((await phone.call('DELETE', path)).status, 200);
    t.is((await loginParams(server, email, factors)).body.error.tag, 'mfa-required', path);
  }
});

test('an app password that is left empty is none, and locks nobody out', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  for (let time = 0; time < 30; time += 1) {
    const { status, body } = await loginParams(server, email, { app_password: '', trusted_device_token: '' });
    t.deepEqual([status, body.error.tag], [401, 'mfa-required'], `${time}`);
  }
});

test('another device lets a sign-in pass, once', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const socket = await phone.socket(t);
  const headers = { 'user-agent': 'a new laptop' };
  const refused = await loginParams(server, email, {}, headers);
  const waiting = refused.body.error.payload.mfa_approval_challenge_id;
  const status = async (id = waiting) =>
    (await server.call('GET', `/v1/pending-mfa-approvals/${id}/status`)).body.status;
  t.is(await status(), 'pending');
  await server.advance(5_000);
  const frame = JSON.parse((await socket.received(1))[0] ?? '');
  const { pendingApprovals } = (await phone.call('GET', '/v1/pending-mfa-approvals')).body;
  t.is(pendingApprovals.length, 1);
  t.is(pendingApprovals[0].requestingUserAgent, 'a new laptop');
  const { uuid: _uuid, status: _status, ...approval } = pendingApprovals[0];
  t.deepEqual(frame, { type: 'MFA_APPROVAL_REQUESTED', ...approval });
  t.not(pendingApprovals[0].challengeId, waiting);
  const named = { mfa_approval_challenge_id: waiting };
  t.is(
    (await loginParams(server, email, { mfa_approval_challenge_id: pendingApprovals[0].challengeId })).status,
    401,
  );
  const path = `/v1/pending-mfa-approvals/${pendingApprovals[0].challengeId}/resolve`;
  t.deepEqual((await phone.call('POST', path, { body: { approve: true } })).body, { status: 'approved' });
  t.is((await phone.call('POST', path, { body: { approve: true } })).status, 400);
  t.is(await status(), 'approved');
  const passed = await loginParams(server, email, named, headers);
  t.is(passed.status, 200);
  t.is((await login(server, phone, passed.verifier)).status, 200);
  t.is(await status(), 'expired');
  t.is((await loginParams(server, email, named, headers)).status, 401, 'used up');
});

test('a device that looks like another does not take its approval over, nor push it out', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const idOf = async (factors: object = {}, headers: Record<string, string> = {}) =>
    (await loginParams(server, email, factors, headers)).body.error.payload.mfa_approval_challenge_id;
  const status = async (id: string) =>
    (await server.call('GET', `/v1/pending-mfa-approvals/${id}/status`)).body.status;
  const mine = await idOf();
  t.is(await idOf({ mfa_approval_challenge_id: mine }), mine, 'named, it goes on');
  const twin = await idOf();
  t.not(twin, mine);
  for (let agent = 0; agent < 20; agent += 1) {
    await idOf({}, { 'x-forwarded-for': '198.51.100.9', 'user-agent': `agent ${agent}` });
  }
  t.is(await status(mine), 'pending');
  const { pendingApprovals } = (await phone.call('GET', '/v1/pending-mfa-approvals')).body;
  t.is(pendingApprovals.length, 6, 'two from home, four from elsewhere');
  for (const { challengeId } of pendingApprovals) {
    const path = `/v1/pending-mfa-approvals/${challengeId}/resolve`;
    await phone.call('POST', path, { body: { approve: true } });
    if ((await status(mine)) === 'approved') break;
    t.is((await loginParams(server, email, { mfa_approval_challenge_id: mine })).status, 401);
  }
  t.is((await loginParams(server, email, { mfa_approval_challenge_id: mine })).status, 200);
});

/** A browser with separate cookies, which signs in on a page of this origin. */
function browser(server: TestServer, origin = 'https://app.example.org', address = '203.0.113.7') {
  const cookies = new Map<string, string>();
  return async (email: string, factors: object = {}) => {
    const headers = { origin, 'x-forwarded-for': address, cookie: [...cookies.values()].join('; ') };
    const answer = await loginParams(server, email, factors, headers);
    for (const pair of answer.setCookies.map((text) => text.split(';', 1).join())) {
      cookies.set(pair.slice(0, pair.indexOf('=')), pair);
    }
    return { ...answer, cookies };
  };
}

const pendingOf = async (phone: Device) =>
  (await phone.call('GET', '/v1/pending-mfa-approvals')).body.pendingApprovals;

async function resolveAll(phone: Device, approve = true) {
  for (const { challengeId } of await pendingOf(phone)) {
    const path = `/v1/pending-mfa-approvals/${challengeId}/resolve`;
    await phone.call('POST', path, { body: { approve } });
  }
}

test('once another device approves, the waiting one repeats its sign-in as usual and is in, once, and it alone', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const [laptop, twin] = [browser(server), browser(server)];
  t.is((await laptop(email)).status, 401);
  t.is((await laptop(email, { mfa_code: '000000' })).status, 401, 'asks nobody again');
  t.is((await pendingOf(phone)).length, 1);
  await resolveAll(phone);
  t.is((await twin(email)).status, 401, 'another browser of the same kind in the same network');
  const passed = await laptop(email);
  t.is(passed.status, 200, passed.text);
  t.is((await login(server, phone, passed.verifier)).status, 200);
  t.is((await laptop(email)).status, 401, 'used up');
});

test('a call that is repeated because its reply was lost passes by the approval that it has used up', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const laptop = browser(server);
  await laptop(email);
  await resolveAll(phone);
  const lost = server.transport.loseReplyTo('loginParams');
  t.is((await server.answered(laptop(email))).status, 200);
  await lost;
  t.is((await laptop(email)).status, 401, 'another call does not');
});

test('a device that waits at the old name of login-params is known there by its cookie, too', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const email = encodeURIComponent(phone.account.email);
  const ask = (cookie = '') =>
    server.call('GET', `/v1/login-params?email=${email}&code_challenge=${randomUUID()}`, {
      cookie,
      headers: { 'content-type': 'application/json' },
    });
  const refused = await ask();
  t.is(refused.status, 401);
  const [cookie = ''] = refused.setCookies;
  t.regex(cookie, /; Path=\/v1\/login-params;/);
  await resolveAll(phone);
  t.is((await ask(cookie.split(';', 1).join())).status, 200);
});

test('an approved sign-in passes whatever code is typed meanwhile, and that costs no attempt', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 1, captchaAttemptsMax: 1 } });
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  for (let time = 0; time < 4; time += 1) {
    const laptop = browser(server);
    t.is((await laptop(email)).status, 401);
    await resolveAll(phone);
    t.is((await laptop(email, { mfa_code: '000000' })).status, 200);
  }
});

test('a device that meets the factor itself waits no longer', async (t) => {
  const server = await startServer(t);
  const { phone, secret } = await withTotp(server);
  const { email } = phone.account;
  const laptop = browser(server);
  t.is((await laptop(email)).status, 401);
  t.is((await laptop(email, { mfa_code: appCode(server, secret) })).status, 200);
  t.deepEqual(await pendingOf(phone), []);
});

test('a client without cookies is known by the code challenge that it repeats', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const verifier = randomUUID();
  const ask = () =>
    server.call('POST', '/v2/login-params', {
      body: { api: headerSessions, email, code_challenge: challengeOf(verifier) },
    });
  const { mfa_approval_challenge_id } = (await ask()).body.error.payload;
  t.is((await ask()).body.error.payload.mfa_approval_challenge_id, mfa_approval_challenge_id);
  t.is((await pendingOf(phone)).length, 1);
  await resolveAll(phone);
  t.is((await loginParams(server, email)).status, 401, 'another challenge');
  t.is((await ask()).status, 200);
  t.is((await login(server, phone, verifier)).status, 200);
  t.is((await ask()).status, 401, 'used up');
});

test('a page of another origin cannot use what was approved for this browser', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const laptop = browser(server);
  const { cookies } = await laptop(email);
  await resolveAll(phone);
  const cookie = [...cookies.values()].join('; ');
  const evil = await loginParams(server, email, {}, { cookie, origin: 'https://evil.example' });
  t.is(evil.status, 401);
  t.is((await laptop(email)).status, 200);
});

test('an approval for one address is worth nothing at another', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { phone: bobs } = await withTotp(server, 'bob@example.org');
  const laptop = browser(server);
  await laptop(phone.account.email);
  await laptop(bobs.account.email);
  await resolveAll(phone);
  t.is((await laptop(bobs.account.email)).status, 401);
  t.is((await laptop(phone.account.email)).status, 200);
});

test('every waiting device is announced once, and a network that asks without end is not', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const { email } = phone.account;
  const socket = await phone.socket(t);
  const [laptop, tablet] = [browser(server), browser(server)];
  for (const device of [laptop, tablet, laptop, tablet]) t.is((await device(email)).status, 401);
  await server.advance(5_000);
  t.is((await socket.received(2)).length, 2);
  for (let n = 0; n < 20; n += 1) {
    await browser(server, undefined, '198.51.100.9')(email);
    await server.advance(1_000);
  }
  t.is((await socket.received(6)).length, 6, 'four of a stranger');
});

test('a signed-in device sees what became of a sign-in by the id in its list', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const stranger = await server.device('bob@example.org');
  const laptop = browser(server);
  await laptop(phone.account.email);
  const [{ challengeId }] = await pendingOf(phone);
  const path = `/v1/pending-mfa-approvals/${challengeId}/status`;
  const status = async (device: Device) => (await device.call('GET', path)).body.status;
  t.is(await status(phone), 'pending');
  t.is(await status(stranger), 'expired');
  t.is((await server.call('GET', path)).body.status, 'expired', 'it is no secret');
  await resolveAll(phone);
  t.is(await status(phone), 'approved');
  await laptop(phone.account.email);
  t.is(await status(phone), 'expired');
});

test('a sign-in that began before the factor was turned on does not end without it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const before = await loginParams(server, phone.account.email);
  t.is(before.status, 200);
  await withTotp(server);
  await server.advance(5_000);
  t.is((await login(server, phone, before.verifier)).status, 401);
});

test('a session that may only read prepares no other sign-in', async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  await server.restart({ accounts: { readonlyUsers: new Set([phone.account.email]) } });
  const verifier = randomUUID();
  const body = { api: headerSessions, code_challenge: challengeOf(verifier) };
  t.is((await phone.call('POST', '/v2/login-params', { body })).status, 200);
  t.is((await login(server, phone, verifier)).status, 401);
});

test("an approval that is denied, expired or another's lets nobody pass", async (t) => {
  const server = await startServer(t);
  const { phone } = await withTotp(server);
  const stranger = await server.device('bob@example.org');
  const { email } = phone.account;
  const ask = async () => {
    const refused = await loginParams(server, email);
    const { pendingApprovals } = (await phone.call('GET', '/v1/pending-mfa-approvals')).body;
    return { id: refused.body.error.payload.mfa_approval_challenge_id, ...pendingApprovals[0] };
  };
  const first = await ask();
  const path = `/v1/pending-mfa-approvals/${first.challengeId}/resolve`;
  t.is((await stranger.call('POST', path, { body: { approve: true } })).status, 400);
  t.deepEqual((await phone.call('POST', path, { body: { approve: 'true' } })).body, { status: 'denied' });
  t.is((await loginParams(server, email, { mfa_approval_challenge_id: first.id })).status, 401);
  const unsaid = `/v1/pending-mfa-approvals/${(await ask()).challengeId}/resolve`;
  t.deepEqual((await phone.call('POST', unsaid)).body, { status: 'denied' });
  const second = await ask();
  await server.advance(120_000);
  const late = `/v1/pending-mfa-approvals/${second.challengeId}/resolve`;
  t.is((await phone.call('POST', late, { body: { approve: true } })).status, 400);
  t.is((await server.call('GET', `/v1/pending-mfa-approvals/${second.id}/status`)).body.status, 'expired');
  for (const id of [
    'x',
    second.id.replace(/.$/, 'A'),
    `${'0'.repeat(64)}-${'0'.repeat(32)}-${'A'.repeat(43)}`,
  ]) {
    t.is((await server.call('GET', `/v1/pending-mfa-approvals/${id}/status`)).body.status, 'expired');
  }
  t.deepEqual((await phone.call('GET', '/v1/pending-mfa-approvals')).body, { pendingApprovals: [] });
});

test('an unknown address is asked for a factor in the same words, and no answer meets it', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 100 } });
  const { phone } = await withTotp(server);
  const known = phone.account.email;
  const unknown = unknownAddress('totp');
  for (const factors of [
    {},
    { mfa_code: '000000' },
    { mfa_code: 'abc' },
    { app_password: 'x' },
    { trusted_device_token: 'x' },
    { authenticator_response: { id: 'x' } },
    { mfa_approval_challenge_id: 'x' },
  ]) {
    const [of, ofNobody] = [
      await loginParams(server, known, factors),
      await loginParams(server, unknown, factors),
    ];
    t.deepEqual(outline(ofNobody), outline(of), JSON.stringify(factors));
  }
  const again = await loginParams(server, unknown);
  const id = again.body.error.payload.mfa_approval_challenge_id;
  t.is((await server.call('GET', `/v1/pending-mfa-approvals/${id}/status`)).body.status, 'pending');
});

test('security keys tell nobody which addresses are known', async (t) => {
  const server = await startServer(t);
  const { phone } = await withSecurityKey(server);
  const plain = await server.device('bob@example.org');
  const unknown = unknownAddress('security-key');
  const [known, nobody, keyless] = await Promise.all(
    [phone.account.email, unknown, plain.account.email].map((email) => assertionOptions(server, email)),
  );
  for (const options of [nobody, keyless]) {
    t.deepEqual(Object.keys(options), Object.keys(known));
    t.true(options.allowCredentials.length > 0);
    t.deepEqual(Object.keys(options.allowCredentials[0]), Object.keys(known.allowCredentials[0]));
  }
  t.deepEqual((await assertionOptions(server, unknown)).allowCredentials, nobody.allowCredentials);
  t.deepEqual(
    outline(await loginParams(server, unknown)),
    outline(await loginParams(server, phone.account.email)),
  );
});

test('guesses at a factor are limited together with those at the password, over restarts too', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 3, captchaAttemptsMax: 2 } });
  const { phone, secret } = await withTotp(server);
  const { email } = phone.account;
  const away = { 'x-forwarded-for': '198.51.100.9' };
  const guess = (factors: object) => loginParams(server, email, factors, away);
  t.is((await guess({ mfa_code: '000000' })).status, 401);
  t.is((await guess({ app_password: 'x' })).status, 401);
  t.is((await guess({ authenticator_response: { id: 'x' } })).status, 401);
  await server.restart();
  t.is((await guess({ mfa_code: '000001' })).status, 401);
  t.is((await guess({ mfa_code: '000002' })).status, 401);
  t.is((await guess({ mfa_code: appCode(server, secret) })).status, 423);
  t.is((await loginParams(server, email, { mfa_code: appCode(server, secret) })).status, 200, 'from home');
});

test('many guesses at the same moment do not outrun the limit', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 3, captchaAttemptsMax: 2 } });
  const { phone } = await withTotp(server);
  const headers = { 'x-forwarded-for': '198.51.100.9' };
  const codes = Array.from({ length: 40 }, (_, index) => String(100_000 + index));
  const answers = await Promise.all(
    codes.map((mfa_code) => loginParams(server, phone.account.email, { mfa_code }, headers)),
  );
  t.is(answers.filter(({ status }) => status !== 423).length, 5);
});

test('factors that are changed at the same moment are all changed, and asked for as they are then', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { email, password, userUuid } = phone.account;
  const path = `/v1/users/${userUuid}`;
  const { secret } = (await phone.call('GET', `${path}/mfa-secret`)).body;
  const { options } = (await phone.call('GET', '/v1/authenticators/generate-registration-options')).body;
  const app = { name: 'MFA_SECRET', value: secret, totpToken: appCode(server, secret) };
  const attestationResponse = new SecurityKey().register(options.challenge);
  const [on, added] = await Promise.all([
    phone.call('PUT', `${path}/settings`, { body: app }),
    phone.call('POST', '/v1/authenticators/verify-registration', { body: { attestationResponse } }),
  ]);
  t.deepEqual([on?.status, added?.status], [200, 200]);
  t.is((await loginParams(server, email)).body.error.tag, 'u2f-required');

  const headers = { 'x-server-password': password };
  const [removed, off] = await Promise.all([
    phone.call('DELETE', `/v1/authenticators/${added?.body.id}`),
    phone.call('DELETE', `${path}/settings/MFA_SECRET`, { headers }),
  ]);
  t.deepEqual([removed?.status, off?.status], [200, 200]);
  t.is((await loginParams(server, email)).status, 200);
});

test('right codes use no attempts up', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 2, captchaAttemptsMax: 1 } });
  const { phone, secret } = await withTotp(server);
  for (let time = 0; time < 6; time += 1) {
    const params = await loginParams(server, phone.account.email, { mfa_code: appCode(server, secret) });
    t.is(params.status, 200, `time ${time}`);
    await server.advance(30_000);
  }
});
