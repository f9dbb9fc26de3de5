/** Regaining access without the second factor, and without the password. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { challengeOf, cookieSessions, statusOf, tokensOf } from '../../kit/account.ts';
import type { Device } from '../../kit/device.ts';
import { addSecurityKey } from '../../kit/security-key.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const passwordOf = ({ account }: Device) => ({ headers: { 'x-server-password': account.password } });
const makeCodes = async (device: Device): Promise<string> =>
  (await device.call('POST', '/v1/recovery/codes', passwordOf(device))).body.recoveryCodes;

async function recover(server: TestServer, device: Device, recovery_codes: string, fields: object = {}) {
  const code_verifier = randomUUID();
  const { email: username, password } = device.account;
  const common = { api_version: cookieSessions, username, recovery_codes, ...fields };
  const params = await server.call('POST', '/v1/recovery/login-params', {
    body: { ...common, code_challenge: challengeOf(code_verifier) },
  });
  const login = await server.call('POST', '/v1/recovery/login', {
    body: { ...common, password, code_verifier, ...fields },
  });
  return { params, login };
}

test('recovery codes and the password sign in without the factor, turn it off, and are used up', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await addSecurityKey(phone);
  const codes = await makeCodes(phone);
  const { params, login } = await recover(server, phone, codes.toLowerCase());
  t.is(params.status, 200, params.text);
  t.is(params.body.keyParams.version, '004');
  t.is(login.status, 200, login.text);
  t.is(login.body.user.email, phone.account.email);
  t.is(await statusOf(server, tokensOf(login)), '200', 'with the cookies that came');
  t.deepEqual((await phone.call('GET', '/v1/authenticators')).body, { authenticators: [] });
  const path = `/v1/users/${phone.account.userUuid}/settings/recovery_codes`;
  const now = (await phone.call('GET', path, passwordOf(phone))).body.setting.value;
  t.not(now, codes);
  t.is((await recover(server, phone, codes)).params.status, 401);
});

test('nothing about a recovery tells whether there is such an account', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 100 } });
  const phone = await server.device();
  const keyless = await server.device('bob@example.org');
  await makeCodes(phone);
  const wrong = 'AAAA '.repeat(10).trim();
  const outcomes = [];
  for (const [device, fields] of [
    [phone, {}],
    [keyless, {}],
    [phone, { username: 'nobody@example.org' }],
  ] as const) {
    const { params, login } = await recover(server, device, wrong, fields);
    outcomes.push([params.status, params.body, login.status, login.body]);
  }
  for (const outcome of outcomes) {
    const refused = { error: { message: 'Invalid login credentials.' } };
    t.deepEqual(outcome, [401, refused, 401, refused]);
  }
});

test('right codes do not replace the password, and are not used up by a wrong one', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const codes = await makeCodes(phone);
  const wrong = await recover(server, phone, codes, { password: 'wrong' });
  t.is(wrong.params.status, 200);
  t.is(wrong.login.status, 401);
  t.is((await recover(server, phone, codes)).login.status, 200);
});

test('a login with other codes than those of its challenge is refused', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const codes = await makeCodes(phone);
  const code_verifier = randomUUID();
  const { email: username, password } = phone.account;
  const code_challenge = challengeOf(code_verifier);
  const body = { api_version: cookieSessions, username, recovery_codes: codes, code_challenge };
  t.is((await server.call('POST', '/v1/recovery/login-params', { body })).status, 200);
  const login = { ...body, password, code_verifier, recovery_codes: 'AAAA '.repeat(10).trim() };
  t.is((await server.call('POST', '/v1/recovery/login', { body: login })).status, 401);
});

test('guesses at recovery codes are limited', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 2, captchaAttemptsMax: 1 } });
  const phone = await server.device();
  const codes = await makeCodes(phone);
  const headers = { 'x-forwarded-for': '198.51.100.9' };
  const guess = (recovery_codes: string) =>
    server.call('POST', '/v1/recovery/login-params', {
      body: { username: phone.account.email, code_challenge: 'c', recovery_codes },
      headers,
    });
  for (let time = 0; time < 3; time += 1) t.is((await guess(`AAA${time}`)).status, 401);
  t.is((await guess(codes)).status, 423);
});

const leave = (device: Device, value: string) =>
  device.call('PUT', `/v1/users/${device.account.userUuid}/settings`, {
    body: { name: 'ACCOUNT_RECOVERY_ESCROW', value },
  });
const lookUp = (server: TestServer, user_uuid: unknown, address = '198.51.100.9') =>
  server.call('POST', '/v1/account-recovery/lookup', {
    body: { user_uuid },
    headers: { 'x-forwarded-for': address },
  });

test('data left for a recovery is found by the user’s uuid alone', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const escrow = '{"version":2,"ciphertext":"c"}';
  t.is((await leave(phone, escrow)).status, 200);
  const found = await lookUp(server, phone.account.userUuid.toUpperCase());
  t.deepEqual(found.body, {
    escrow,
    identifier: phone.account.email,
    workspace_identifier: 'default',
  });
  t.deepEqual(found.meta?.auth, {});
});

test('64 KiB of JSON are left for a recovery and found whole, and no more', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const frame = '{"version":2,"ciphertext":""}';
  const largest = frame.replace('""', `"${'c'.repeat(64 * 1_024 - frame.length)}"`);
  t.is((await leave(phone, largest.replace('c', 'cc'))).status, 400);
  t.is((await leave(phone, largest)).status, 200);
  t.is((await lookUp(server, phone.account.userUuid)).body.escrow, largest);
});

test('data that no recovery could use is not stored, and one answer stands for whatever there is not', async (t) => {
  const server = await startServer(t);
  const answers = [await lookUp(server, randomUUID())];
  for (const value of [null, '{"version":1}', '{"version":"2"}', '{', 'null', '[]', '"2"']) {
    const device = await server.device(`${randomUUID()}@example.org`);
    if (value !== null) {
      const refused = await leave(device, value);
      t.is(refused.status, 400, value);
      t.regex(refused.body.error.message, /version above 1/);
    }
    answers.push(await lookUp(server, device.account.userUuid));
  }
  const changed = await server.device('changed@example.org');
  await leave(changed, '{"version":2}');
  const { userUuid, password } = changed.account;
  const body = { api: '20200115', current_password: password, new_password: 'c'.repeat(64), pw_nonce: 'd' };
  t.is((await changed.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, { body })).status, 200);
  answers.push(await lookUp(server, userUuid));
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]));
  t.is(new Set(answers.map(({ text }) => text)).size, 1);
  t.is((await lookUp(server, 'x')).status, 400);
});

test('look-ups that find nothing are limited for a user and a network, whether there is such a user or not', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 2, captchaAttemptsMax: 1 } });
  const phone = await server.device();
  for (const uuid of [phone.account.userUuid, randomUUID()]) {
    const statuses = [];
    for (let time = 0; time < 5; time += 1) statuses.push((await lookUp(server, uuid)).status);
    t.deepEqual(statuses.slice(3), [429, 429]);
    t.not((await lookUp(server, uuid, '198.51.100.10')).status, 429, 'another network');
  }
  const limited = await lookUp(server, phone.account.userUuid);
  t.true(Number(limited.headers.get('retry-after')) > 0);
});
