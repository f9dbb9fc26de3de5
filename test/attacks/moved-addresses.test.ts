/** Operations that began at an address before an account moved to it or left it. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { alice, challengeOf, newAlice, register } from '../kit/account.ts';
import { addAuthenticatorApp } from '../kit/authenticator-app.ts';
import type { Device } from '../kit/device.ts';
import { startServer, type TestServer, unknownAddress } from '../kit/server.ts';

const newEmail = unknownAddress();

async function withTotp(server: TestServer): Promise<Device> {
  const phone = await server.device();
  await addAuthenticatorApp(server, phone);
  return phone;
}

async function move(phone: Device): Promise<void> {
  const { password, pw_nonce } = alice;
  const body = { current_password: password, new_password: password, new_email: newEmail, pw_nonce };
  const path = `/v1/users/${phone.account.userUuid}/attributes/credentials`;
  const { status, text } = await phone.call('PUT', path, { body: { ...body, api: '20200115' } });
  if (status !== 200) throw new Error(text);
}

const loginParams = (server: TestServer, email: string, verifier: string) =>
  server.call('POST', '/v2/login-params', { body: { email, code_challenge: challengeOf(verifier) } });

const login = (server: TestServer, email: string, code_verifier: string, password = alice.password) =>
  server.call('POST', '/v2/login', { body: { email, password, code_verifier, api: '20200115' } });

test('an attacker with the password and the address to come gets past no second factor by being there first', async (t) => {
  const server = await startServer(t);
  const phone = await withTotp(server);
  const verifier = randomUUID();
  t.is((await loginParams(server, newEmail, verifier)).status, 200);
  await move(phone);
  await server.advance(5_000);
  t.is((await login(server, newEmail, verifier)).status, 401);
  t.is((await loginParams(server, newEmail, verifier)).body.error.tag, 'mfa-required');
});

test('an approval that was given at the old address is worth nothing to the next owner of that address', async (t) => {
  const server = await startServer(t);
  const phone = await withTotp(server);
  const refused = await loginParams(server, alice.email, randomUUID());
  const id = refused.body.error.payload.mfa_approval_challenge_id;
  const [pending] = (await phone.call('GET', '/v1/pending-mfa-approvals')).body.pendingApprovals;
  const resolve = `/v1/pending-mfa-approvals/${pending.challengeId}/resolve`;
  t.is((await phone.call('POST', resolve, { body: { approve: true } })).status, 200);
  const status = async () => (await server.call('GET', `/v1/pending-mfa-approvals/${id}/status`)).body.status;
  t.is(await status(), 'approved');
  await move(phone);
  await server.advance(5_000);
  t.is(await status(), 'expired');
});

test('a challenge of the old address opens nothing, neither for its next owner nor for its last', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const verifier = randomUUID();
  t.is((await loginParams(server, alice.email, verifier)).status, 200);
  await move(phone);
  await server.advance(5_000);
  const password = 'o'.repeat(64);
  await register(server, { ...newAlice, password });
  t.is((await login(server, alice.email, verifier, password)).status, 401);
  t.is((await login(server, alice.email, verifier)).status, 401);
});
