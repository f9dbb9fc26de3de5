/** Clients that fill a limit so that somebody else pays for it (SECURITY.md, "Who pays for a limit"). */
import test from 'ava';
import { makeToken, publisher, showing, startCalendarServer } from '../kit/calendar.ts';
import type { Device } from '../kit/device.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const home = '192.0.2.1';
const stranger = (n: number) => `198.51.${Math.floor(n / 200)}.${(n % 200) + 1}`;
const from = (address: string) => ({ 'x-forwarded-for': address });
const hourMs = 3_600_000;

const lookUp = async (server: TestServer, user_uuid: string, address: string) => {
  const request = { body: { user_uuid }, headers: from(address) };
  return (await server.call('POST', '/v1/account-recovery/lookup', request)).status;
};
const leaveEscrow = (device: Device) =>
  device.call('PUT', `/v1/users/${device.account.userUuid}/settings`, {
    body: { name: 'ACCOUNT_RECOVERY_ESCROW', value: '{"version":2}' },
  });

test('a client that looks up an account every hour, wherever from, keeps nobody from recovering it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { userUuid } = phone.account;
  for (let n = 0; n < 60; n += 1) {
    await server.advance(hourMs);
    t.is(await lookUp(server, userUuid, stranger(n)), 404);
  }
  t.is((await leaveEscrow(phone)).status, 200);
  t.is(await lookUp(server, userUuid, home), 200);
  for (let n = 60; n < 90; n += 1) t.is(await lookUp(server, userUuid, stranger(n)), 200);
  t.is(await lookUp(server, userUuid, home), 200);
});

test('a look-up that finds something counts as none, however often', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await leaveEscrow(phone);
  for (let time = 0; time < 40; time += 1) t.is(await lookUp(server, phone.account.userUuid, home), 200);
});

test('knowing the uuid of a calendar token keeps no program of its owner out', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  const statusOf = async (token: string, address: string) => {
    const headers = { ...showing(token).headers, ...from(address) };
    return (await server.call('PROPFIND', '/dav/', { headers })).status;
  };
  const wrong = `${token.slice(0, -2)}${token.at(-2) === 'x' ? 'y' : 'x'}${token.slice(-1)}`;
  for (let n = 0; n < 60; n += 1) t.is(await statusOf(wrong, stranger(n)), 401);
  t.is(await statusOf(token, home), 207);
});

test('strangers who have subscription tokens mailed pay alone: known networks and devices still get theirs', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const phone = await server.device();
  await phone.another({}, { headers: from(home) });
  const ask = async (address: string, cookie?: string) => {
    const request = { body: { email: phone.account.email }, headers: from(address), cookie };
    return (await server.call('POST', '/v1/offline/subscription-tokens', request)).status;
  };
  for (let n = 0; n < 20; n += 1) t.is(await ask(stranger(n)), 200);
  t.is(await ask(stranger(20)), 429);
  t.is(await ask(home), 200);
  t.is(await ask(stranger(21), phone.account.cookie), 200, 'a known device in an unknown network');
});

test('a known device has a code mailed in an unknown network while strangers ask for codes', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const phone = await server.device();
  t.is((await phone.call('POST', '/v1/mfa/magic-link/status', { body: { enabled: true } })).status, 200);
  const ask = async (address: string, cookie?: string) => {
    const request = { body: { email: phone.account.email }, headers: from(address), cookie };
    return (await server.call('POST', '/v1/mfa/magic-link/request', request)).status;
  };
  for (let n = 0; n < 20; n += 1) t.is(await ask(stranger(n)), 200);
  t.is(await ask(stranger(20)), 429);
  t.is(await ask(stranger(21), phone.account.cookie), 200);
});
