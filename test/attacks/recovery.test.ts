/** Recovery codes and their limits: one sign-in by a recovery, which uses them up. */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { challengeOf, headerSessions, signIn } from '../kit/account.ts';
import { addAuthenticatorApp } from '../kit/authenticator-app.ts';
import type { Device } from '../kit/device.ts';
import { type ServerOptions, startServer, type TestServer } from '../kit/server.ts';

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

async function withCodes(t: ExecutionContext, options: ServerOptions = {}) {
  const server = await startServer(t, options);
  const phone = await server.device();
  const headers = { 'x-server-password': phone.account.password };
  const { recoveryCodes } = (await phone.call('POST', '/v1/recovery/codes', { headers })).body;
  return { server, phone, codes: recoveryCodes as string };
}

async function recoveryChallenge(server: TestServer, { account }: Device, recovery_codes: string) {
  const code_verifier = randomUUID();
  const body = { username: account.email, code_challenge: challengeOf(code_verifier), recovery_codes };
  const params = await server.call('POST', '/v1/recovery/login-params', { body });
  return { code_verifier, status: params.status };
}

test('a challenge made for recovery codes serves no sign-in that does not use them up', async (t) => {
  const { server, phone, codes } = await withCodes(t);
  const { email, password } = phone.account;
  for (const path of ['/v2/login', '/v1/login']) {
    const { status, code_verifier } = await recoveryChallenge(server, phone, codes);
    t.is(status, 200);
    const body = { email, password, code_verifier, api: headerSessions };
    t.is((await server.call('POST', path, { body })).status, 401);
    const recovery = { ...body, username: email, recovery_codes: codes };
    const again = await server.call('POST', '/v1/recovery/login', { body: recovery });
    t.is(again.status, 401, 'it is used up');
  }
});

test('a challenge made for a second factor serves no recovery', async (t) => {
  const { server, phone, codes } = await withCodes(t);
  const { email, password } = phone.account;
  const code_verifier = randomUUID();
  const params = { email, code_challenge: challengeOf(code_verifier) };
  t.is((await server.call('POST', '/v2/login-params', { body: params })).status, 200);
  const body = { username: email, password, code_verifier, recovery_codes: codes, api: headerSessions };
  t.is((await server.call('POST', '/v1/recovery/login', { body })).status, 401);
});

test('a recovery on a known device gets in while strangers guess', async (t) => {
  const { server, phone, codes } = await withCodes(t, { accounts: { unknownOriginAttemptsMax: 1 } });
  const { email, password, cookie } = phone.account;
  t.is((await signIn(server, { email, password: 'wrong' }, from('198.51.100.1'))).status, 401);
  const recover = async (request: object) => {
    const code_verifier = randomUUID();
    const common = { username: email, recovery_codes: codes, api: headerSessions };
    const params = { ...common, code_challenge: challengeOf(code_verifier) };
    const answer = await server.call('POST', '/v1/recovery/login-params', { body: params, ...request });
    const login = { ...common, password, code_verifier };
    return [
      answer.status,
      (await server.call('POST', '/v1/recovery/login', { body: login, ...request })).status,
    ];
  };
  t.deepEqual(await recover(from('198.51.100.2')), [423, 423]);
  t.deepEqual(await recover({ ...from('198.51.100.2'), cookie }), [200, 200]);
});

test('every refused guess is noted with its address: passwords, codes, recovery codes', async (t) => {
  const noted: string[] = [];
  const { server, phone, codes } = await withCodes(t, { signInFailed: (address) => noted.push(address) });
  const { email, password } = phone.account;
  t.is((await recoveryChallenge(server, phone, codes)).status, 200);
  await server.call('POST', '/v1/recovery/login-params', { body: { username: email, code_challenge: 'c' } });
  await server.call('POST', '/v1/recovery/login', { body: { username: email } });
  t.deepEqual(noted, [], 'a request that lacks a field is no guess');
  const guess = { username: email, code_challenge: 'c', recovery_codes: 'AAAA' };
  await server.call('POST', '/v1/recovery/login-params', { body: guess, ...from('198.51.100.1') });
  const login = { ...guess, password, code_verifier: 'v', api: headerSessions };
  await server.call('POST', '/v1/recovery/login', { body: login, ...from('198.51.100.2') });
  await signIn(server, { email, password: 'wrong' }, from('198.51.100.3'));
  await addAuthenticatorApp(server, phone);
  for (const [mfa_code, n] of [
    [undefined, 4],
    ['wrong', 5],
  ]) {
    const body = { email, code_challenge: 'c', mfa_code };
    t.is((await server.call('POST', '/v2/login-params', { body, ...from(`198.51.100.${n}`) })).status, 401);
  }
  t.deepEqual(
    noted,
    [1, 2, 3, 5].map((n) => `198.51.100.${n}`),
  );
});
