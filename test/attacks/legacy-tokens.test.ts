/** Tokens of accounts of protocol 001 to 003 in the wrong hands, and the limits of those tokens. */
import test from 'ava';
import { alice, bob, headerSessions, signIn, tokensOf } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import { changeCredentials, oldDevice, standing, startTesting, upgrade } from '../kit/old-account.ts';
import { isRefused } from '../kit/socket-client.ts';

const invalid = '401 invalid-auth';
const withToken = (device: Device, access: string) => ({ ...device.account, access });

test('a token that was altered or cut is refused', async (t) => {
  const server = await startTesting(t);
  const device = await oldDevice(server);
  const { access } = device.account;
  for (let index = 0; index < access.length; index += 1) {
    const other = access[index] === 'a' ? 'b' : 'a';
    const altered = access.slice(0, index) + other + access.slice(index + 1);
    t.is(await standing(server, withToken(device, altered)), invalid, altered);
    t.is(await standing(server, withToken(device, access.slice(0, index))), invalid);
  }
  t.is(await standing(server, withToken(device, `${access}a`)), invalid);
  t.is(await standing(server, device.account), 'in');
});

test('no part of a token goes with a part of another', async (t) => {
  const server = await startTesting(t);
  const mine = await oldDevice(server);
  const second = await mine.another();
  const others = await oldDevice(server, bob);
  const [named = '', secret = ''] = splitAtSecret(mine.account.access);
  for (const { account } of [second, others]) {
    const [otherNamed = '', otherSecret = ''] = splitAtSecret(account.access);
    t.is(await standing(server, withToken(mine, named + otherSecret)), invalid);
    t.is(await standing(server, withToken(mine, otherNamed + secret)), invalid);
  }
  const { userUuid } = others.account;
  const foreign = mine.account.access.replace(mine.account.userUuid, userUuid);
  t.is(await standing(server, withToken(mine, foreign)), invalid);
  t.is((await mine.call('GET', `/v1/users/${userUuid}/settings`)).status, 403);
  t.is((await mine.call('PUT', `/v1/users/${userUuid}/password`, { body: takeOver })).status, 401);
});

const takeOver = {
  current_password: alice.password,
  new_password: 'e'.repeat(64),
  pw_nonce: 'e'.repeat(64),
  api: headerSessions,
  version: '004',
};

test('a token opens nothing else that takes a token', async (t) => {
  const server = await startTesting(t);
  const device = await oldDevice(server);
  const token = device.account.access;
  const dialled = await device.dial(t, { token });
  t.true(isRefused(dialled) && dialled.status === 401);
  const bridge = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
  t.is(bridge.status, 401);
  for (const api of [headerSessions, '20240226']) {
    const body = { access_token: token, refresh_token: token, api };
    t.is((await server.call('POST', '/v1/sessions/refresh', { body })).status, 400);
  }
});

test('a token that has ended stays so, whatever ended it', async (t) => {
  const server = await startTesting(t);
  const ended: Device[] = [];
  let device = await oldDevice(server);
  const out = await device.another();
  t.is((await out.call('POST', '/v1/logout')).status, 204);
  ended.push(out, device);
  const again = { current_password: alice.password, new_password: alice.password };
  device = new Device(server, { ...device.account, ...tokensOf(await changeCredentials(device, again)) });
  ended.push(device);
  device = new Device(server, { ...device.account, ...tokensOf(await upgrade(device, again)) });
  for (const { account } of ended) t.is(await standing(server, account), invalid);
  await server.restart();
  for (const { account } of ended) t.is(await standing(server, account), invalid);
  t.is(await standing(server, device.account), 'in');

  const headers = { 'x-server-password': alice.password };
  t.is((await device.call('DELETE', `/v1/users/${device.account.userUuid}`, { headers })).status, 200);
  for (const { account } of [...ended, device]) t.is(await standing(server, account), invalid);
});

test('knowledge of an upgraded account does not bring its old tokens back', async (t) => {
  const server = await startTesting(t);
  const device = await oldDevice(server);
  const upgraded = tokensOf(await upgrade(device));
  const password = 'd'.repeat(64);
  t.is((await signIn(server, { password })).status, 200);
  // Until then the session of the upgrade may revoke it.
  await server.advance(10 * 60_000);
  const refused = await changeCredentials(new Device(server, { ...device.account, ...upgraded }), {
    current_password: password,
    new_password: alice.password,
    version: '003',
  });
  t.is(refused.status, 401);
  t.is(await standing(server, device.account), invalid);
  t.is(await standing(server, upgraded), 'in');
});

test('an upgrade that is taken back brings no old tokens back', async (t) => {
  const server = await startTesting(t);
  const device = await oldDevice(server);
  const upgraded = tokensOf(await upgrade(device));
  const changedBack = await changeCredentials(new Device(server, { ...device.account, ...upgraded }), {
    current_password: 'd'.repeat(64),
    new_password: alice.password,
    version: '003',
  });
  t.is(changedBack.status, 200);
  t.is(await standing(server, device.account), invalid);
  t.is(await standing(server, upgraded), invalid);
});

test('a right password whose answer is lost gives strangers back only its own attempt', async (t) => {
  const server = await startTesting(t, { accounts: { unknownOriginAttemptsMax: 3 } });
  await oldDevice(server);
  const wrongFrom = async (n: number) =>
    (await signIn(server, { password: 'wrong' }, { headers: { 'x-forwarded-for': `198.51.100.${n}` } }))
      .status;
  t.deepEqual([await wrongFrom(1), await wrongFrom(2)], [401, 401]);
  const lost = server.transport.loseReplyTo('login');
  const signedIn = signIn(server, {}, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  await lost;
  t.is((await server.answered(signedIn)).status, 200);
  t.deepEqual([await wrongFrom(3), await wrongFrom(4)], [401, 423]);
});

test('guesses at the password by a token are counted', async (t) => {
  const server = await startTesting(t);
  const device = await oldDevice(server);
  const statuses = [];
  for (let n = 0; n < 14; n += 1) {
    statuses.push((await changeCredentials(device, { current_password: `${n}` })).status);
  }
  t.deepEqual(statuses, [...Array(12).fill(401), 423, 423]);
  t.is(await standing(server, device.account), 'in');
});

/** The MAC ends at the last colon. */
function splitAtSecret(token: string): readonly string[] {
  const end = token.lastIndexOf(':') + 1;
  return [token.slice(0, end), token.slice(end)];
}
