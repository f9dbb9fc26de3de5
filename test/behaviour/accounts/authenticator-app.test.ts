import test from 'ava';
import { addAuthenticatorApp, appCode } from '../../kit/authenticator-app.ts';
import type { Device } from '../../kit/device.ts';
import { startServer } from '../../kit/server.ts';

const pathOf = ({ account }: Device) => `/v1/users/${account.userUuid}`;
const offer = (device: Device) => device.call('GET', `${pathOf(device)}/mfa-secret`);
const turnOn = (device: Device, value: unknown, totpToken?: string) =>
  device.call('PUT', `${pathOf(device)}/settings`, { body: { name: 'MFA_SECRET', value, totpToken } });
const withPassword = (device: Device, password = device.account.password) => ({
  headers: { 'x-server-password': password },
});

test('a code made from the offered secret turns the factor on', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { secret, success } = (await offer(phone)).body;
  t.true(success);
  t.regex(secret, /^[A-Z2-7]{32}$/);
  t.is((await offer(phone)).body.secret, secret, 'the same while it is waited for');
  t.is((await turnOn(phone, secret)).status, 400, 'no code');
  t.is((await turnOn(phone, secret, appCode(server, secret, 5))).status, 400, 'a code of later');
  t.is((await turnOn(phone, secret, 'abcdef')).status, 400);
  t.is((await turnOn(phone, null, appCode(server, secret))).status, 400);
  t.is((await phone.call('GET', `${pathOf(phone)}/settings/mfa_secret`)).status, 400, 'still off');
  t.deepEqual((await turnOn(phone, secret, appCode(server, secret))).body, { success: true });
  t.deepEqual((await phone.call('GET', `${pathOf(phone)}/settings/mfa_secret`)).body, { success: true });
  t.is((await offer(phone)).status, 400);
  t.is((await turnOn(phone, secret, appCode(server, secret))).status, 400, 'on already');
});

test('a secret of the client’s own is refused, and so is one that was offered too long ago', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const own = 'A'.repeat(32);
  t.is((await turnOn(phone, own, appCode(server, own))).status, 400);
  const { secret } = (await offer(phone)).body;
  t.is((await turnOn(phone, own, appCode(server, own))).status, 400);
  await server.advance(300_000);
  t.is((await turnOn(phone, secret, appCode(server, secret))).status, 400);
  t.not((await offer(phone)).body.secret, secret);
});

test('turning it off takes the password, and the recovery codes go with it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await addAuthenticatorApp(server, phone);
  const path = `${pathOf(phone)}/settings/MFA_SECRET`;
  const refused = await phone.call('DELETE', path);
  t.is(refused.status, 400);
  t.is(refused.body.error.message, 'Please update your application to the latest version.');
  const wrong = await phone.call('DELETE', path, withPassword(phone, 'wrong'));
  t.is(wrong.body.error.message, 'The password you entered is incorrect. Please try again.');
  t.is((await phone.call('GET', `${pathOf(phone)}/settings/mfa_secret`)).status, 200, 'still on');
  t.is((await phone.call('DELETE', path, withPassword(phone))).status, 200);
  t.is((await phone.call('GET', `${pathOf(phone)}/settings/mfa_secret`)).status, 400);
  const codes = await phone.call('GET', `${pathOf(phone)}/settings/recovery_codes`, withPassword(phone));
  t.is(codes.status, 400);
});

test('recovery codes come with the factor, are shown for the password alone, and are replaced by new ones', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await addAuthenticatorApp(server, phone);
  const read = (password?: string) =>
    phone.call('GET', `${pathOf(phone)}/settings/recovery_codes`, withPassword(phone, password));
  t.is((await phone.call('GET', `${pathOf(phone)}/settings/recovery_codes`)).status, 400);
  t.is((await read('wrong')).status, 400);
  const { value } = (await read()).body.setting;
  t.regex(value, /^[0-9A-F]{4}( [0-9A-F]{4}){9}$/);
  t.is((await read()).body.setting.value, value);
  t.is((await phone.call('POST', '/v1/recovery/codes')).status, 400);
  const { recoveryCodes } = (await phone.call('POST', '/v1/recovery/codes', withPassword(phone))).body;
  t.is(recoveryCodes.length, 49);
  t.not(recoveryCodes, value);
  t.is((await read()).body.setting.value, recoveryCodes);
  t.false((await phone.call('GET', `${pathOf(phone)}/settings`)).text.includes(recoveryCodes.slice(0, 9)));
});

test('HEAD on the recovery codes counts no wrong password', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const path = `${pathOf(phone)}/settings/recovery_codes`;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    t.is((await phone.call('HEAD', path, withPassword(phone, 'wrong'))).status, 405);
  }
  await phone.call('POST', '/v1/recovery/codes', withPassword(phone));
  t.is((await phone.call('GET', path, withPassword(phone))).status, 200);
});

test('a right password is no failed attempt, no matter how often it is given', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await addAuthenticatorApp(server, phone);
  const codes = `${pathOf(phone)}/settings/recovery_codes`;
  const app = `${pathOf(phone)}/settings/MFA_SECRET`;
  const attempts = [
    () => phone.call('GET', codes, withPassword(phone)),
    () => phone.call('POST', '/v1/recovery/codes', withPassword(phone)),
    async () => {
      const answer = await phone.call('DELETE', app, withPassword(phone));
      await addAuthenticatorApp(server, phone);
      return answer;
    },
  ];
  for (const attempt of attempts) {
    for (let n = 0; n < 14; n += 1) t.is((await attempt()).status, 200);
  }
});
