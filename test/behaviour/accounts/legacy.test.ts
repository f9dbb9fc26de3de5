/** Accounts of protocol 001 to 003: they have tokens instead of sessions until they upgrade. */
import test from 'ava';
import fc from 'fast-check';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import {
  alice,
  challengeOf,
  cookieSessions,
  headerSessions,
  newAlice,
  protocol003,
  register,
  signIn,
  statusOf,
  tokensOf,
} from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import { note } from '../../kit/items.ts';
import { changeCredentials, oldDevice, standing, startTesting, upgrade } from '../../kit/old-account.ts';
import { startServer } from '../../kit/server.ts';

const newPassword = 'd'.repeat(64);
const yearMs = 31_556_926_000;

const derivations = {
  '001': { pw_alg: 'sha512', pw_cost: 5_000, pw_func: 'pbkdf2', pw_key_size: 512, pw_salt: 'salt' },
  '002': { pw_cost: 101_000, pw_salt: 'salt' },
  '003': { pw_cost: 110_000, pw_nonce: 'nonce' },
};
const needed = { '001': ['pw_cost', 'pw_salt'], '002': ['pw_cost', 'pw_salt'], '003': ['pw_nonce'] };
const all = { ...derivations['001'], ...derivations['003'] };

for (const version of ['001', '002', '003'] as const) {
  const derivation = derivations[version];
  const named = version === '003' ? {} : { email: alice.email };

  test(`an account of ${version} has the key params of its version, and no others`, async (t) => {
    const server = await startTesting(t);
    const { access } = await register(server, { ...all, ...derivation, version, created: '1' });
    const expected = { ...named, ...derivation, identifier: alice.email, version };
    const body = { email: alice.email, code_challenge: challengeOf('verifier') };
    t.deepEqual((await server.call('POST', '/v2/login-params', { body })).body, expected);
    const signedIn = await server.call('POST', '/v2/login-params', { body, bearer: access });
    t.deepEqual(signedIn.body, expected);
  });

  test(`registration of ${version} is refused, except on a server for testing`, async (t) => {
    const body = { ...alice, ...all, api: headerSessions, version };
    const closed = await startServer(t);
    t.is((await closed.call('POST', '/v1/users', { body })).status, 400);
    t.is((await closed.call('POST', '/auth', { body })).status, 400);
    const open = await startTesting(t);
    t.is((await open.call('POST', '/v1/users', { body })).status, 200);
  });

  for (const field of needed[version]) {
    test(`an account of ${version} is not made without ${field}`, async (t) => {
      const server = await startTesting(t);
      const body = { ...alice, ...all, api: headerSessions, version, [field]: undefined };
      const refused = await server.call('POST', '/v1/users', { body });
      t.is(refused.status, 400);
      t.is(refused.body.error.message, `${field} is missing.`);
    });
  }
}

for (const api of [headerSessions, cookieSessions]) {
  test(`signing in with ${api} answers a user and a token, and sets no cookies`, async (t) => {
    const server = await startTesting(t);
    const registered = await server.call('POST', '/v1/users', { body: { ...newAlice, ...protocol003, api } });
    for (const answer of [registered, await signIn(server, { api })]) {
      t.is(answer.status, 200);
      t.deepEqual(Object.keys(answer.body).toSorted(), ['token', 'user']);
      t.like(answer.body.user, { email: alice.email, protocolVersion: '003' });
      t.deepEqual(answer.setCookies, []);
      t.is(await standing(server, tokensOf(answer)), 'in');
    }
    t.not(tokensOf(registered).access, tokensOf(await signIn(server, { api })).access);
  });
}

test('a token saves, reads and opens sockets', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const laptop = await phone.another();
  const socket = await laptop.socket(t);
  const uuid = crypto.randomUUID();
  t.is((await phone.save(note({ uuid }))).saved_items.length, 1);
  t.is((await laptop.sync()).retrieved_items[0]?.uuid, uuid);
  const [frame] = await socket.received(1);
  t.is(JSON.parse(String(frame)).type, 'ITEMS_CHANGED_ON_SERVER');
  const settings = await phone.call('GET', `/v1/users/${phone.account.userUuid}/settings`);
  t.is(settings.status, 200);
  t.is(settings.body.success, true);
});

test('a token is good for as long as a session could be refreshed, and is never to be refreshed', async (t) => {
  const server = await startTesting(t);
  const { account } = await oldDevice(server);
  await server.advance(yearMs - 1);
  t.is(await standing(server, account), 'in');
  await server.advance(1);
  t.is(await standing(server, account), '401 invalid-auth');
});

test('a token of an ephemeral sign-in is good for as long as such a session', async (t) => {
  const server = await startTesting(t, { accounts: { ephemeralSessionAgeMs: 60_000 } });
  const { account } = await oldDevice(server, { ephemeral: true });
  await server.advance(59_999);
  t.is(await standing(server, account), 'in');
  await server.advance(1);
  t.is(await standing(server, account), '401 invalid-auth');
});

test('the endpoints of sessions say that the account has none', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const laptop = await phone.another();
  const calls = [
    ['GET', '/v1/sessions'],
    ['DELETE', '/v1/sessions'],
    ['DELETE', `/v1/sessions/${crypto.randomUUID()}`],
  ] as const;
  for (const [method, path] of calls) {
    const refused = await phone.call(method, path);
    t.is(refused.status, 400, `${method} ${path}`);
    t.is(refused.body.error.tag, 'unsupported-account-version');
  }
  t.is(await standing(server, laptop.account), 'in');

  const { access } = phone.account;
  for (const refresh_token of [access, laptop.account.access]) {
    const body = { access_token: access, refresh_token, api: headerSessions };
    const refused = await server.call('POST', '/v1/sessions/refresh', { body });
    t.is(refused.status, 400);
    t.is(refused.body.error.tag, 'invalid-parameters');
  }
});

test('tokens are named in the list of sessions, to a bridge of the account', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const laptop = await phone.another({}, { headers: { 'user-agent': 'StandardNotes/3.1' } });
  const keys = { wrappedKeys: 'keys', kdfSalt: '00', kdfParams: '{}' };
  const made = await phone.call('POST', '/v1/mcp-tokens', { body: { label: 'it', scope: 'write', ...keys } });
  const authenticated = await server.call('POST', '/v1/mcp-tokens/authenticate', {
    body: { token: made.body.token },
  });
  const bridge = new Device(server, { ...phone.account, ...tokensOf(authenticated) });
  const { body: listed } = await bridge.call('GET', '/v1/sessions');
  t.is(listed.length, 3);
  const infos = listed.map(({ device_info }: { device_info: string }) => device_info);
  t.true(infos.includes('Standard Notes Desktop 3.1'));
  t.is(await standing(server, laptop.account), 'in');
});

test('signing out ends the token of the device, and no other', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const laptop = await phone.another();
  const socket = await phone.socket(t);
  t.is((await phone.call('POST', '/v1/logout')).status, 204);
  t.is(await standing(server, phone.account), '401 invalid-auth');
  t.is((await phone.call('POST', '/v1/logout')).status, 401);
  t.is(await socket.closed, 1008);
  t.is(await standing(server, laptop.account), 'in');
});

test('an operator who ends all sessions ends all tokens', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const laptop = await phone.another();
  const operator = server.host.actors.get(UserAdministration, phone.account.userUuid).ask;
  t.like(await operator.operatorShow({}), { sessions: 2, protocolVersion: '003' });
  t.deepEqual(await operator.operatorEndSessions({}), { ended: 2 });
  t.is(await standing(server, phone.account), '401 invalid-auth');
  t.is(await standing(server, laptop.account), '401 invalid-auth');
});

for (const new_password of [newPassword, alice.password]) {
  const what = new_password === newPassword ? 'another' : 'the same';
  test(`a change to ${what} password without an upgrade ends every token and answers a new one`, async (t) => {
    const server = await startTesting(t);
    const phone = await oldDevice(server);
    const laptop = await phone.another();
    const socket = await laptop.socket(t);
    const answer = await changeCredentials(phone, { new_password, ...protocol003 });
    t.is(answer.status, 200);
    t.deepEqual(Object.keys(answer.body).toSorted(), ['token', 'user']);
    t.is(await standing(server, tokensOf(answer)), 'in');
    t.is(await standing(server, phone.account), '401 invalid-auth');
    t.is(await standing(server, laptop.account), '401 invalid-auth');
    t.is(await socket.closed, 1008);
    t.is((await signIn(server, { password: new_password })).status, 200);
  });

  test(`an upgrade to 004 with ${what} password gives a session and ends every token`, async (t) => {
    const server = await startTesting(t);
    const phone = await oldDevice(server);
    const laptop = await phone.another();
    const answer = await upgrade(phone, { new_password });
    t.is(answer.status, 200);
    t.is(answer.setCookies.length, 2);
    t.like(answer.body.user, { email: alice.email, protocolVersion: '004' });
    t.like(answer.body.key_params, { pw_nonce: 'e'.repeat(64), version: '004' });
    t.is(answer.body.key_params.pw_cost, undefined);
    t.is(await statusOf(server, tokensOf(answer)), '200');
    t.is(await standing(server, phone.account), '401 invalid-auth');
    t.is(await standing(server, laptop.account), '401 invalid-auth');
    t.truthy((await signIn(server, { password: new_password })).body.session);
  });
}

test('a repeated upgrade gets the session of the first, though its token is gone', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const lost = server.transport.loseReplyTo('changeCredentials');
  const answer = await server.answered(upgrade(phone));
  await lost;
  t.is(answer.status, 200);
  t.is(await statusOf(server, tokensOf(answer)), '200');
});

const back = { current_password: newPassword, new_password: alice.password, ...protocol003 };

test('the session of an upgrade takes it back, to the version there was', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  t.is((await changeCredentials(phone, { ...derivations['002'], version: '002' })).status, 401);
  const upgraded = new Device(server, { ...phone.account, ...tokensOf(await upgrade(phone)) });
  t.is((await changeCredentials(upgraded, { ...back, ...derivations['002'], version: '002' })).status, 401);
  const answer = await changeCredentials(upgraded, back);
  t.is(answer.status, 200, answer.text);
  t.like(answer.body, { user: { protocolVersion: '003' } });
  t.is(await standing(server, tokensOf(answer)), 'in');
  t.truthy((await signIn(server)).body.token, 'with the password there was');
  t.is((await upgrade(new Device(server, { ...phone.account, ...tokensOf(answer) }))).status, 200);
});

test('no other session takes an upgrade back, nor the same one later or twice', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const upgraded = new Device(server, { ...phone.account, ...tokensOf(await upgrade(phone)) });
  const other = await upgraded.another({ password: newPassword });
  t.is((await changeCredentials(other, back)).status, 401);
  await server.advance(10 * 60_000);
  t.is((await changeCredentials(upgraded, back)).status, 401);
  t.is(await statusOf(server, upgraded.account), '200');
  const later = await changeCredentials(upgraded, { ...back, version: '004' });
  const changed = new Device(server, { ...phone.account, ...tokensOf(later) });
  t.is((await changeCredentials(changed, { ...protocol003 })).status, 401);
});

test('a value that a client left to a default of its own is not made up', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server, { pw_cost: undefined });
  const body = { email: alice.email, code_challenge: challengeOf('verifier') };
  const { email: identifier, pw_nonce } = alice;
  const { body: keyParams } = await phone.call('POST', '/v2/login-params', { body });
  t.deepEqual(keyParams, { identifier, pw_nonce, version: '003' });
});

test('a change that names no version keeps it, and needs all key params of it', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const refused = await changeCredentials(phone, { pw_nonce: undefined });
  t.is(refused.status, 400);
  t.is(refused.body.error.message, 'pw_nonce is missing.');
  t.is(await standing(server, phone.account), 'in');
  t.like((await changeCredentials(phone)).body.user, { protocolVersion: '003' });
});

test('a read-only account of an old protocol writes nothing', async (t) => {
  const server = await startTesting(t, { accounts: { readonlyUsers: new Set([alice.email]) } });
  const phone = await oldDevice(server);
  const [conflict] = (await phone.save()).conflicts;
  t.is(conflict?.type, 'readonly_error');
  const refused = await upgrade(phone);
  t.is(refused.status, 403);
  t.is(refused.body.error.tag, 'read-only-access');
});

test('the token of a deleted account is worth nothing', async (t) => {
  const server = await startTesting(t);
  const phone = await oldDevice(server);
  const headers = { 'x-server-password': alice.password };
  t.is((await phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, { headers })).status, 200);
  t.is(await standing(server, phone.account), '401 invalid-auth');
  await server.advance(60_000);
  t.is(await standing(server, phone.account), '401 invalid-auth');
});

test('tokens outlive a restart', async (t) => {
  const server = await startTesting(t);
  const { account } = await oldDevice(server);
  await server.restart();
  t.is(await standing(server, account), 'in');
});

const steps = fc.array(
  fc.record({
    step: fc.constantFrom('sign in', 'sign in', 'sign out', 'change', 'keep', 'end all', 'restart'),
    which: fc.nat(20),
  }),
  { minLength: 1, maxLength: 12 },
);

test('the valid tokens of an account are those that nothing has ended', async (t) => {
  const server = await startTesting(t);
  await fc.assert(
    fc.asyncProperty(steps, async (chosen) => {
      const email = `${crypto.randomUUID()}@example.org`;
      const first = await oldDevice(server, { email });
      let password = alice.password;
      let living = [first];
      const ended: Device[] = [];
      const end = (devices: readonly Device[]) => {
        ended.push(...devices);
        living = living.filter((device) => !devices.includes(device));
      };
      for (const { step, which } of chosen) {
        const device = living[which % living.length];
        if (step === 'restart') await server.restart();
        else if (step === 'sign in' || device === undefined) {
          living.push(await first.another({ password }));
        } else if (step === 'sign out') {
          t.is((await device.call('POST', '/v1/logout')).status, 204);
          end([device]);
        } else if (step === 'end all') {
          const operator = server.host.actors.get(UserAdministration, first.account.userUuid).ask;
          t.deepEqual(await operator.operatorEndSessions({}), { ended: living.length });
          end(living);
        } else {
          const new_password = step === 'keep' ? password : crypto.randomUUID().padEnd(64, 'f');
          const changed = await changeCredentials(device, { current_password: password, new_password });
          t.is(changed.status, 200);
          end(living);
          living.push(new Device(server, { ...first.account, ...tokensOf(changed) }));
          password = new_password;
        }
      }
      for (const { account } of living) t.is(await standing(server, account), 'in');
      for (const { account } of ended) t.is(await standing(server, account), '401 invalid-auth');
    }),
    { seed: 20_261_122, numRuns: 20 },
  );
});

test('wrong passwords are answered and counted as for any account', async (t) => {
  const outcomes = await Promise.all(
    ['003', '004'].map(async (version) => {
      const server = await startTesting(t);
      await register(server, { ...protocol003, version });
      const answers = [];
      for (let n = 0; n < 13; n += 1) answers.push(await signIn(server, { password: 'wrong' }));
      return answers.map(({ status, text }) => `${status} ${text}`);
    }),
  );
  t.deepEqual(outcomes[0], outcomes[1]);
  t.regex(outcomes[0]?.at(-1) ?? '', /^423/);
});
