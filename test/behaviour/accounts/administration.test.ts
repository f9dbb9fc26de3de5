/** The endpoints of administrators, over HTTP. */
import test, { type ExecutionContext } from 'ava';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { alice, bob, register, signIn, statusOf, tokensOf } from '../../kit/account.ts';
import type { Device } from '../../kit/device.ts';
import { type ServerOptions, startServer, type TestServer } from '../../kit/server.ts';

const nobody = '11111111-1111-4111-8111-111111111111';

async function administered(t: ExecutionContext, options: ServerOptions = {}) {
  const accounts = { adminEmails: new Set([alice.email]), ...options.accounts };
  const server = await startServer(t, { ...options, accounts });
  const admin = await server.device();
  const user = await server.device(bob.email);
  const ban = (userUuid: string, body: object, by: Device = admin) =>
    by.call('PUT', `/v1/admin/users/${userUuid}/ban-status`, { body });
  return { server, admin, user, ban, uuid: user.account.userUuid };
}

test('an administrator looks up, bans and unbans a user, and is shown when and why', async (t) => {
  const { server, admin, user, ban, uuid } = await administered(t);
  const address = encodeURIComponent(' Bob@Example.org ');
  t.deepEqual((await admin.call('GET', `/v1/admin/lookup-user/${address}`)).body, { uuid });
  const path = `/v1/admin/users/${address}/ban-status`;
  const none = { banned: false, bannedAt: null, banReason: null };
  t.deepEqual((await admin.call('GET', path)).body, { uuid, email: bob.email, ...none });
  const bannedAt = new Date(server.clock.nowMs()).toISOString();
  const answer = await ban(uuid, { banned: true, banReason: 'spam' });
  const banned = { banned: true, bannedAt, banReason: 'spam' };
  t.deepEqual([answer.status, answer.body], [200, { success: true, uuid, ...banned }]);
  t.is(await statusOf(server, user.account), '401 invalid-auth');
  await server.advance(1_000);
  t.deepEqual((await ban(uuid, { banned: true, banReason: 'worse' })).body.bannedAt, bannedAt);
  t.deepEqual((await admin.call('GET', `${path}/`)).body, {
    uuid,
    email: bob.email,
    ...banned,
    banReason: 'worse',
  });
  t.deepEqual((await ban(uuid, { banned: false })).body, { success: true, uuid, ...none });
  t.is(await statusOf(server, user.account), '401 invalid-auth');
  t.is(await statusOf(server, tokensOf(await signIn(server, bob))), '200');
});

test('a sign-in to a banned account is told so only with the right password', async (t) => {
  const { server, ban, uuid } = await administered(t);
  await ban(uuid, { banned: true });
  const right = await signIn(server, bob);
  t.is(right.status, 401);
  t.deepEqual(right.body, { error: { message: 'Your account has been suspended.' } });
  const wrong = await signIn(server, { ...bob, password: 'x' });
  t.is(wrong.status, 401);
  t.is(wrong.body.error.message, 'Invalid email or password');
});

test('only administrators get anything, and others do not learn who exists', async (t) => {
  const { server, user, ban, uuid } = await administered(t);
  const paths = [
    `/v1/admin/lookup-user/${alice.email}`,
    '/v1/admin/lookup-user/nobody@example.org',
    `/v1/admin/users/${alice.email}/ban-status`,
    `/v1/admin/users/${uuid}/feature-flags`,
    `/v1/admin/users/${nobody}/feature-flags`,
  ];
  for (const path of paths) {
    const { status, body } = await user.call('GET', path);
    t.deepEqual([path, status, body.error.tag], [path, 403, 'admin-required']);
    t.is((await server.call('GET', path)).status, 401);
  }
  for (const named of [uuid, nobody, 'x']) {
    t.is((await ban(named, { banned: true }, user)).status, 403);
    const body = { name: 'AI_ENABLED', value: 'true' };
    t.is((await user.call('PUT', `/v1/admin/users/${named}/feature-flags`, { body })).status, 403);
  }
  for (const [what, body] of [
    ['ban-status', {}],
    ['ban-status', { banned: 'x' }],
    ['feature-flags', { name: 7, value: true }],
  ] as const) {
    t.is((await user.call('PUT', `/v1/admin/users/${uuid}/${what}`, { body })).status, 403, what);
  }
  const disabled = { registrationDisabled: 'x' };
  t.is((await user.call('PUT', '/v1/admin/registration', { body: disabled })).status, 403);
  t.is((await user.call('GET', `/v1/admin/users/${'x'.repeat(200)}/feature-flags`)).status, 403);
  const retry = `/v1/admin/email-delivery/queue/${'x'.repeat(200)}/retry`;
  t.is((await server.answered(user.call('POST', retry))).status, 403);
  t.is(await statusOf(server, user.account), '200');
});

test('a name of nobody is not found, and a ban that says neither yes nor no is refused', async (t) => {
  const { admin, ban, uuid } = await administered(t);
  const statusAt = async (path: string) => (await admin.call('GET', path)).status;
  t.is(await statusAt('/v1/admin/lookup-user/nobody@example.org'), 404);
  t.is(await statusAt('/v1/admin/users/nobody@example.org/ban-status'), 404);
  t.is(await statusAt(`/v1/admin/users/${nobody}/feature-flags`), 404);
  for (const named of [nobody, 'x']) t.is((await ban(named, { banned: true })).status, 404);
  for (const banned of ['true', 1, null, undefined]) t.is((await ban(uuid, { banned })).status, 400);
  t.is((await ban(uuid, { banned: true, banReason: 'x'.repeat(1_025) })).status, 400);
});

test('an address with several accounts names that of the workspace, the default one unless said', async (t) => {
  const { server, admin, uuid } = await administered(t, { accounts: { workspacesPerEmail: true } });
  const other = await register(server, { ...bob, workspace_identifier: 'other' });
  const path = `/v1/admin/lookup-user/${bob.email}`;
  t.is((await admin.call('GET', path)).body.uuid, uuid);
  t.is((await admin.call('GET', `${path}?workspace_identifier=other`)).body.uuid, other.userUuid);
  t.is((await admin.call('GET', `${path}?workspace_identifier=third`)).status, 404);
});

test('no administrator bans themselves, so that one administrator always remains', async (t) => {
  const { server, admin, ban } = await administered(t);
  const self = admin.account.userUuid;
  t.is((await ban(self, { banned: true })).status, 400);
  t.is((await ban(self.toUpperCase(), { banned: true })).status, 400);
  t.is(await statusOf(server, admin.account), '200');
});

test('an administrator bans another, and an operator demotes one before banning', async (t) => {
  const { server, user, ban, uuid } = await administered(t);
  const actor = server.host.actors.get(UserAdministration, uuid).ask;
  await actor.operatorSetAdministrator({ administrator: true });
  const byOperator = { banned: true, reason: null, by: 'operator' } as const;
  t.is((await actor.operatorSetBan(byOperator)).outcome, 'administrator');
  t.is(await statusOf(server, user.account), '200');
  t.is((await ban(uuid, { banned: true })).status, 200);
  t.is(await statusOf(server, user.account), '401 invalid-auth');
});

test('flags are set and removed by administrators, and what cannot be is refused', async (t) => {
  const { admin, user, uuid } = await administered(t);
  const path = `/v1/admin/users/${uuid}/feature-flags`;
  const put = (name: string, value: unknown) => admin.call('PUT', path, { body: { name, value } });
  t.deepEqual((await put('AI_REQUEST_LIMIT', '50')).body, {
    success: true,
    userUuid: uuid,
    name: 'AI_REQUEST_LIMIT',
    value: '50',
  });
  await put('ai_enabled', 'false');
  const { body } = await admin.call('GET', path);
  t.like(body, { userUuid: uuid, nextcloudAppPasswordConfigured: false });
  t.like(body.flags, { AI_ENABLED: 'false', AI_REQUEST_LIMIT: '50', EMAIL_BACKUP_FREQUENCY: null });
  t.is((await put('AI_ENABLED', 'off')).body.value, 'false');
  t.is((await admin.call('GET', path)).body.flags.AI_ENABLED, 'false');
  t.is((await put('AI_ENABLED', null)).status, 200);
  t.is((await admin.call('GET', path)).body.flags.AI_ENABLED, null);
  for (const [name, value] of [
    ['MFA_SECRET', 'x'],
    ['AI_ENABLED', 'perhaps'],
    ['AI_REQUEST_LIMIT', '-1'],
    ['AI_REQUEST_LIMIT', 'many'],
    ['AI_PROFILE', 'no profile'],
    ['AI_ENABLED', 7],
  ] as const) {
    t.is((await put(name, value)).status, 400);
  }
  const trail = await user.call('GET', `/v1/users/${uuid}/audit-trail`);
  t.is(trail.body.events[0].event, 'flag-changed-by-administrator');
  t.false(trail.text.includes('AI_'));
});

test('no flag turns on a feature that the server lacks, and the administrator is told why', async (t) => {
  const { admin, uuid } = await administered(t);
  const path = `/v1/admin/users/${uuid}/feature-flags`;
  const put = (name: string, value: string) => admin.call('PUT', path, { body: { name, value } });
  for (const [name, on, off, why] of [
    ['NEXTCLOUD_BACKUP_ALLOWED', 'true', 'false', /no backups to Nextcloud/],
    ['NEXTCLOUD_BACKUP_FREQUENCY', 'daily', 'disabled', /no backups to Nextcloud/],
    ['OCR_SERVER_ALLOWED', 'true', 'false', /no text in images/],
  ] as const) {
    const refused = await put(name, on);
    t.is(refused.status, 400, name);
    t.regex(refused.body.error.message, why);
    t.is((await put(name, off)).status, 200, name);
  }
});

test('the actions of an administrator are in both trails', async (t) => {
  const { server, admin, ban, uuid } = await administered(t);
  await ban(uuid, { banned: true, banReason: 'a secret reason' });
  await ban(uuid, { banned: false });
  const own = await admin.call('GET', `/v1/users/${admin.account.userUuid}/audit-trail`);
  t.like(own.body.events[0], { event: 'unbanned-another', about: uuid });
  t.like(own.body.events[1], { event: 'banned-another', about: uuid });
  const { access } = tokensOf(await signIn(server, bob));
  const theirs = await server.call('GET', `/v1/users/${uuid}/audit-trail`, { bearer: access });
  t.deepEqual(
    theirs.body.events.slice(1, 3).map(({ event }: { event: string }) => event),
    ['unbanned', 'banned'],
  );
  t.false(theirs.text.includes('a secret reason'));
});

test('a session of an administrator that may only read looks up and bans nobody', async (t) => {
  const { admin, ban, uuid } = await administered(t, {
    accounts: { readonlyUsers: new Set([alice.email]) },
  });
  t.is((await admin.call('GET', `/v1/admin/lookup-user/${bob.email}`)).status, 200);
  const refused = await ban(uuid, { banned: true });
  t.deepEqual([refused.status, refused.body.error.tag], [403, 'read-only-access']);
});

const registration = '/v1/admin/registration';
const carol = { ...bob, email: 'carol@example.org' };

async function isRefused(t: ExecutionContext, server: TestServer): Promise<void> {
  await t.throwsAsync(register(server, carol), {
    message: /400 .*User registration is currently not allowed/,
  });
}

const closed = { registrationDisabled: true, registrationEnabled: false, enforcedByOperator: false };
const open = { registrationDisabled: false, registrationEnabled: true, enforcedByOperator: false };

test('an administrator closes the registration of the whole server and opens it again', async (t) => {
  const { server, admin } = await administered(t);
  const put = (body: object) => admin.call('PUT', registration, { body });
  t.deepEqual((await admin.call('GET', registration)).body, open);
  t.deepEqual((await put({ registrationDisabled: true })).body, { success: true, ...closed });
  t.deepEqual((await admin.call('GET', registration)).body, closed);
  await isRefused(t, server);
  await server.restart();
  await isRefused(t, server);
  t.deepEqual((await put({ registrationEnabled: true })).body, { success: true, ...open });
  t.truthy((await register(server, carol)).access);
  const trail = await admin.call('GET', `/v1/users/${admin.account.userUuid}/audit-trail`);
  const events = trail.body.events.slice(0, 2).map(({ event }: { event: string }) => event);
  t.deepEqual(events, ['registration-opened', 'registration-closed']);
});

test('a feature that the operator has disabled stays disabled, and the answer says so', async (t) => {
  const { server, admin } = await administered(t);
  await server.restart({ accounts: { adminEmails: new Set([alice.email]), registrationDisabled: true } });
  const enforced = { ...closed, enforcedByOperator: true };
  const { status, body } = await admin.call('PUT', registration, { body: { registrationDisabled: false } });
  t.deepEqual([status, body], [200, { success: true, ...enforced }]);
  t.deepEqual((await admin.call('GET', registration)).body, enforced);
  await isRefused(t, server);
});

test('the registration is read and decided by administrators alone, and only by a clear word', async (t) => {
  const { server, admin, user } = await administered(t);
  const body = { registrationDisabled: true };
  for (const [method, options] of [['GET', {}] as const, ['PUT', { body }] as const]) {
    const refused = await user.call(method, registration, options);
    t.deepEqual([refused.status, refused.body.error.tag], [403, 'admin-required']);
    t.is((await server.call(method, registration, options)).status, 401);
  }
  const unclear = [
    {},
    { registrationDisabled: true, registrationEnabled: true },
    { registrationDisabled: 'true' },
  ];
  for (const body of unclear) t.is((await admin.call('PUT', registration, { body })).status, 400);
  t.deepEqual((await admin.call('GET', registration)).body, open);
});

test('no administrator sets a password or a factor, or is shown what an account is recovered with', async (t) => {
  const { server, admin, user, uuid } = await administered(t);
  const { password, email } = user.account;
  const escrow = '{"version":2,"ciphertext":"of the root key"}';
  const settings = `/v1/users/${uuid}/settings`;
  const left = await user.call('PUT', settings, { body: { name: 'ACCOUNT_RECOVERY_ESCROW', value: escrow } });
  t.is(left.status, 200);
  const headers = { 'x-server-password': password };
  const { recoveryCodes } = (await user.call('POST', '/v1/recovery/codes', { headers })).body;
  t.regex(recoveryCodes, /^[0-9A-F]{4} /);

  const flags = `/v1/admin/users/${uuid}/feature-flags`;
  for (const name of ['ACCOUNT_RECOVERY_ESCROW', 'RECOVERY_CODES', 'MFA_SECRET', 'MAGIC_LINK_ENABLED']) {
    t.is((await admin.call('PUT', flags, { body: { name, value: null } })).status, 400, name);
    t.is((await admin.call('GET', `${settings}/${name}`, { headers })).status, 403, name);
    t.is((await admin.call('DELETE', `${settings}/${name}`, { headers })).status, 403, name);
  }
  const change = { api: '20200115', current_password: password, new_password: 'd'.repeat(64), pw_nonce: 'e' };
  const changed = await admin.call('PUT', `/v1/users/${uuid}/attributes/credentials`, { body: change });
  t.is(changed.status, 401);
  const answers = await Promise.all(
    [flags, `/v1/admin/users/${email}/ban-status`, `/v1/admin/lookup-user/${email}`].map((path) =>
      admin.call('GET', path),
    ),
  );
  for (const { status, text } of answers) {
    t.is(status, 200);
    for (const hidden of ['root key', recoveryCodes]) t.false(text.includes(hidden));
  }
  t.is((await user.call('GET', `${settings}/ACCOUNT_RECOVERY_ESCROW`)).body.setting.value, escrow);
  t.is(await statusOf(server, user.account), '200');
});
