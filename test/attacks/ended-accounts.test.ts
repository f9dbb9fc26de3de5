/** Every credential of an account that is banned or gone. */
import test, { type ExecutionContext } from 'ava';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { alice, challengeOf, refresh, register, signIn, statusOf, tokensOf } from '../kit/account.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const suspended = 'Your account has been suspended.';
const escrow = JSON.stringify({ version: 2, ciphertext: 'c' });

/** A user with one of everything. */
async function wealthy(t: ExecutionContext) {
  const server = await startServer(t);
  const phone = await server.device();
  const headerSession = tokensOf(await signIn(server));
  const browser = tokensOf(await signIn(server, { api: '20240226' }));
  const made = async (path: string, body: object, headers = {}) =>
    (await phone.call('POST', path, { body, headers })).body;
  const keys = { wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { password: appPassword } = await made('/v1/app-passwords', { label: 'mail' });
  const { token: bridge } = await made('/v1/mcp-tokens', { label: 'b', scope: 'write', ...keys });
  const { trustedDevice } = await made('/v1/trusted-devices', {});
  const password = { 'x-server-password': alice.password };
  const { recoveryCodes } = await made('/v1/recovery/codes', {}, password);
  const { userUuid } = phone.account;
  const setting = { name: 'ACCOUNT_RECOVERY_ESCROW', value: escrow };
  t.is((await phone.call('PUT', `/v1/users/${userUuid}/settings`, { body: setting })).status, 200);
  const opened = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token: bridge } });
  const { token: subscriptionToken } = await made('/v1/subscription-tokens', {});
  const socketToken = await phone.socketToken();
  const sessionUuid = await phone.sessionUuid();
  const begun = 'a verifier from before';
  await server.call('POST', '/v2/login-params', {
    body: { email: alice.email, code_challenge: challengeOf(begun) },
  });
  return {
    server,
    phone,
    userUuid,
    headerSession,
    browser,
    appPassword,
    bridge,
    trustedDevice,
    recoveryCodes,
    subscriptionToken,
    socketToken,
    sessionUuid,
    begun,
    bridged: tokensOf(opened),
  };
}

type Wealthy = Awaited<ReturnType<typeof wealthy>>;

async function nothingWorks(t: ExecutionContext, of: Wealthy, loginMessage: string): Promise<void> {
  const { server, phone, userUuid } = of;
  for (const tokens of [phone.account, of.headerSession, of.browser, of.bridged]) {
    t.is(await statusOf(server, tokens), '401 invalid-auth');
    t.true((await refresh(server, tokens)).status >= 400);
  }
  const { living } = await server.host.actors
    .get(Sessions, userUuid)
    .ask.openSocket({ gateway: 'g', sessions: [of.sessionUuid] });
  t.deepEqual(living, []);
  const dialled = await phone.dial(t, { token: of.socketToken });
  t.is('status' in dialled ? dialled.status : 'opened', 401);
  const bridged = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token: of.bridge } });
  t.deepEqual([bridged.status, bridged.body.error.message], [401, 'Invalid MCP token']);
  const { email, password } = alice;
  const begun = { email, password, code_verifier: of.begun, api: '20200115' };
  t.is((await server.call('POST', '/v2/login', { body: begun })).status, 401);
  for (const factor of [
    {},
    { app_password: of.appPassword },
    { trusted_device_token: of.trustedDevice.token },
  ]) {
    const answer = await signIn(server, factor);
    t.deepEqual([answer.status, answer.body.error.message], [401, loginMessage]);
  }
  t.is((await recover(of)).status, 401);
  const lookUp = await server.call('POST', '/v1/account-recovery/lookup', { body: { user_uuid: userUuid } });
  t.is(lookUp.status, 404);
  for (const what of ['features', 'users/subscription']) {
    const tokenHeader = { headers: { 'x-subscription-token': of.subscriptionToken } };
    t.is((await server.call('GET', `/v1/offline/${what}`, tokenHeader)).status, 401, what);
  }
  const headers = { 'x-server-password': password };
  const deletion = await phone.call('DELETE', `/v1/users/${userUuid}`, { headers });
  t.true([200, 401].includes(deletion.status));
}

async function recover({ server, recoveryCodes }: Wealthy) {
  const { email, password } = alice;
  const body = { username: email, code_challenge: challengeOf('r'), recovery_codes: recoveryCodes };
  await server.call('POST', '/v1/recovery/login-params', { body });
  return server.call('POST', '/v1/recovery/login', {
    body: { username: email, password, code_verifier: 'r', recovery_codes: recoveryCodes, api: '20200115' },
  });
}

const ban = (server: TestServer, userUuid: string, banned = true) =>
  server.host.actors
    .get(UserAdministration, userUuid)
    .ask.operatorSetBan({ banned, reason: null, by: 'operator' });

test('no credential of a banned account works, before and after a restart', async (t) => {
  const of = await wealthy(t);
  await ban(of.server, of.userUuid);
  await nothingWorks(t, of, suspended);
  await of.server.restart();
  t.is(await statusOf(of.server, of.headerSession), '401 invalid-auth');
  t.is((await signIn(of.server)).body.error.message, suspended);
});

test('a banned account is mailed no token, and nobody accepts its invites until the ban is over', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  const phone = await server.device();
  const guest = await server.device('bob@example.org');
  const invites = '/v1/subscription-invites';
  const { body } = await phone.call('POST', invites, { body: { identifier: 'bob@example.org' } });
  await server.until(() => postbox.messages.length > 0, 10_000);
  await ban(server, phone.account.userUuid);
  const accept = () =>
    guest.call('POST', `${invites}/${body.sharedSubscriptionInvitationUuid}/accept`, { body: {} });
  t.is((await accept()).status, 400);
  const mail = () => server.call('POST', '/v1/offline/subscription-tokens', { body: { email: alice.email } });
  t.is((await mail()).status, 200);
  await server.advance(60_000);
  t.is(postbox.messages.length, 1);

  await ban(server, phone.account.userUuid, false);
  t.deepEqual((await accept()).body, { success: true });
  await mail();
  await server.until(() => postbox.messages.length > 1, 10_000);
});

test('the sockets of a banned account are closed at once', async (t) => {
  const { server, phone, userUuid } = await wealthy(t);
  const socket = await phone.socket(t);
  await ban(server, userUuid);
  t.truthy(await socket.closed);
});

test('after its ban an account has its factors and codes, no session and no trusted device', async (t) => {
  const of = await wealthy(t);
  const { server, phone, userUuid } = of;
  await ban(server, userUuid);
  await recover(of);
  await ban(server, userUuid, false);
  for (const tokens of [phone.account, of.headerSession, of.browser, of.bridged]) {
    t.is(await statusOf(server, tokens), '401 invalid-auth');
  }
  const opened = tokensOf(await signIn(server));
  const list = async (path: string) => (await server.call('GET', path, { bearer: opened.access })).body;
  t.is((await list('/v1/trusted-devices')).trustedDevices.length, 0);
  t.is((await list('/v1/app-passwords')).appPasswords.length, 1);
  t.is((await recover(of)).status, 200);
});

test('a deleted account is not kept among those that had mail sent', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  const phone = await server.device();
  const body = { identifier: 'bob@example.org' };
  await phone.call('POST', '/v1/subscription-invites', { body });
  await server.until(() => postbox.messages.length > 0, 10_000);
  t.is(server.host.database.sizes.get('mail_sender'), 1);
  const guest = await server.device('bob@example.org');
  const headers = { 'x-server-password': alice.password };
  for (const device of [guest, phone]) {
    const deletion = await device.call('DELETE', `/v1/users/${device.account.userUuid}`, { headers });
    t.is(deletion.status, 200);
    await server.advance(60_000);
  }
  t.is(server.host.database.sizes.get('mail_sender'), 0);
});

test('no credential of a deleted account works, not even for the next owner of its address', async (t) => {
  const of = await wealthy(t);
  const headers = { 'x-server-password': alice.password };
  t.is((await of.phone.call('DELETE', `/v1/users/${of.userUuid}`, { headers })).status, 200);
  await nothingWorks(t, of, 'Invalid email or password');
  const { access } = await register(of.server, { password: 'z'.repeat(64) });
  await nothingWorks(t, of, 'Invalid email or password');
  await of.server.advance(60_000);
  t.is(await statusOf(of.server, of.headerSession), '401 invalid-auth');
  t.is(
    (await of.server.call('GET', '/v1/trusted-devices', { bearer: access })).body.trustedDevices.length,
    0,
  );
});
