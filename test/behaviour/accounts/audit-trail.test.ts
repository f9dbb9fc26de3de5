/** The events of an account, as its user reads them. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { auditPagesMax, eventsPerPage } from '../../../actors/user/audit/trail.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { alice, cookieSessions, register, signIn, tokensOf } from '../../kit/account.ts';
import type { Device } from '../../kit/device.ts';
import { startServer } from '../../kit/server.ts';
import { accept, invite, makeVault, vaults } from '../../kit/vaults.ts';

const dayMs = 86_400_000;
const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
const pathOf = (device: Device, query = '') => `/v1/users/${device.account.userUuid}/audit-trail${query}`;

interface AuditPage {
  readonly number: number;
  readonly event: string;
  readonly times: number;
}

async function trail(device: Device, query = ''): Promise<AuditPage[]> {
  const { status, body, text } = await device.call('GET', pathOf(device, query));
  if (status !== 200) throw new Error(text);
  return body.events;
}

const eventsOf = (events: readonly AuditPage[]) => events.map(({ event }) => event);

test('the trail tells what happened, when, from which device and address, the newest first', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await server.advance(1_000);
  const session = tokensOf(await signIn(server, {}, { headers: firefox }));
  const { status, body } = await server.call('GET', pathOf(phone), { bearer: session.access });
  t.is(status, 200);
  const [signedIn, registered] = body.events;
  const at = new Date(server.clock.nowMs()).toISOString();
  t.like(signedIn, { event: 'signed-in', number: 2, times: 1, lastAt: at, device: 'Firefox 140.0 on Linux' });
  t.is(signedIn.ipAddress, '203.0.113.7');
  t.regex(signedIn.about, /^[0-9a-f-]{36}$/);
  t.like(registered, { event: 'registered', number: 1, device: null });
  t.deepEqual([body.events.length, body.before], [2, null]);
});

test('failed sign-ins at the address are counted and shown, and what was given is not', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const password of ['guessed-first', 'guessed-second']) await signIn(server, { password });
  await server.advance(5_000);
  const { body, text } = await phone.call('GET', pathOf(phone));
  t.like(body.events[0], { event: 'sign-in-failed', times: 2, ipAddress: '203.0.113.7' });
  t.false(text.includes('guessed'));
});

test('a sign-in without a challenge proves no knowledge of the address and is not noted', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { email } = alice;
  await server.call('POST', '/v2/login', {
    body: { email, password: 'x', code_verifier: randomUUID(), api: cookieSessions },
  });
  await server.advance(5_000);
  t.deepEqual(eventsOf(await trail(phone)), ['registered']);
});

test('tokens made, used and deleted, sessions revoked and credentials changed are all there', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const made = await phone.call('POST', '/v1/app-passwords', { body: { label: 'a mail program' } });
  await phone.call('DELETE', `/v1/app-passwords/${made.body.appPassword.uuid}`);
  const keys = { wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const bridge = await phone.call('POST', '/v1/mcp-tokens', {
    body: { label: 'bridge', scope: 'read', ...keys },
  });
  const { token } = bridge.body;
  t.is((await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } })).status, 200);
  await phone.call('POST', '/v1/trusted-devices', { body: {} });
  await phone.call('POST', '/v1/subscription-invites', { body: { identifier: 'bob@example.org' } });
  const requests = `/v1/users/${phone.account.userUuid}/requests`;
  const { request } = (await phone.call('POST', requests, { body: { requestType: 'data-export' } })).body;
  t.is((await phone.call('GET', request.path)).status, 200);
  await phone.call('DELETE', `/v1/sessions/${await laptop.sessionUuid()}`);
  await phone.call('DELETE', '/v1/sessions');
  const body = {
    current_password: alice.password,
    new_password: 'n'.repeat(64),
    pw_nonce: alice.pw_nonce,
    api: '20200115',
  };
  const changed = await phone.call('PUT', `/v1/users/${phone.account.userUuid}/attributes/credentials`, {
    body,
  });
  const { access } = tokensOf(changed);
  const answer = await server.call('GET', pathOf(phone), { bearer: access });
  t.deepEqual(eventsOf(answer.body.events), [
    'password-changed',
    'other-sessions-revoked',
    'session-revoked',
    'data-exported',
    'subscription-invite-sent',
    'trusted-device-added',
    'bridge-token-used',
    'bridge-token-made',
    'app-password-deleted',
    'app-password-made',
    'signed-in',
    'registered',
  ]);
  t.false(answer.text.includes('a mail program'));
  t.false(answer.text.includes('bob@example.org'));
  t.false(answer.text.includes(token));
});

test('the actions of operators are in the trail, which an operator reads as the user does', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const actor = server.host.actors.get(UserAdministration, phone.account.userUuid).ask;
  await actor.operatorSetAdministrator({ administrator: true });
  await actor.operatorSetAdministrator({ administrator: false });
  t.deepEqual(eventsOf(await trail(phone)), ['unmade-administrator', 'made-administrator', 'registered']);
  const { events } = await actor.operatorAuditTrail({ before: 3, limit: 1 });
  t.deepEqual(eventsOf(events), ['made-administrator']);
});

test('a trail of many pages is read page by page, each event once', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (let index = 0; index < 3 * eventsPerPage; index += 1) {
    await server.advance(1_000);
    await phone.call('POST', '/v1/app-passwords', { body: { label: `${index}` } });
  }
  await server.restart();
  const numbers: number[] = [];
  let query = '?limit=7';
  for (;;) {
    const { body } = await phone.call('GET', pathOf(phone, query));
    numbers.push(...body.events.map(({ number }: AuditPage) => number));
    if (body.before === null) break;
    query = `?limit=7&before=${body.before}`;
  }
  const count = 3 * eventsPerPage + 1;
  t.deepEqual(
    numbers,
    Array.from({ length: count }, (_, index) => count - index),
  );
});

test('the same again from the same place is counted within the hour, and pushes nothing out', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (let index = 0; index < 20; index += 1) await server.device();
  const signedIn = (await trail(phone)).filter(({ event }) => event === 'signed-in');
  t.is(signedIn.length, 20);
  for (let index = 0; index < 10; index += 1) await signIn(server, { password: `${index}` });
  await server.advance(5_000);
  t.like((await trail(phone))[0], { event: 'sign-in-failed', times: 10 });
});

test('failed sign-ins are one event within the hour, from however many networks they come', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (let network = 1; network <= 20; network += 1) {
    await signIn(server, { password: 'x' }, { headers: { 'x-forwarded-for': `198.51.100.${network}` } });
  }
  await server.advance(5_000);
  t.deepEqual(
    (await trail(phone)).map(({ event, times }) => [event, times]),
    [
      ['sign-in-failed', 20],
      ['registered', 1],
    ],
  );
});

test('the oldest page of too many events goes', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const actor = server.host.actors.get(UserAdministration, phone.account.userUuid).ask;
  const most = (auditPagesMax + 1) * eventsPerPage;
  for (let index = 0; index < most; index += 1) {
    await actor.operatorSetAdministrator({ administrator: index % 2 === 0 });
    await server.clock.leap(3_600_000);
  }
  const { events } = await actor.operatorAuditTrail({ before: most, limit: 10_000 });
  t.true(events.length <= most);
  t.true((events.at(-1)?.number ?? 0) > 1);
});

test('an event that is older than the operator allows is not shown, and goes from the database', async (t) => {
  const server = await startServer(t, { accounts: { auditAgeMs: 10 * dayMs } });
  const phone = await server.device();
  for (let index = 0; index < eventsPerPage; index += 1) {
    await phone.call('POST', '/v1/app-passwords', { body: { label: `${index}` } });
  }
  const rows = () => server.host.database.sizes.get('audit_page');
  t.is(rows(), 1);
  await server.advance(9 * dayMs);
  await phone.call('POST', '/v1/trusted-devices', { body: {} });
  await server.advance(2 * dayMs);
  t.deepEqual(eventsOf(await trail(phone)), ['trusted-device-added']);
  t.is(rows(), 0);
});

test('nobody but its user reads a trail, and nobody writes one', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const mallory = await server.device('mallory@example.org');
  t.is((await mallory.call('GET', pathOf(phone))).status, 403);
  t.is((await server.call('GET', pathOf(phone))).status, 401);
  for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
    t.true((await phone.call(method, pathOf(phone), { body: {} })).status >= 400);
  }
  t.is((await phone.call('GET', pathOf(phone, '?limit=0'))).status, 400);
  t.is((await phone.call('GET', pathOf(phone, '?limit=1e9'))).status, 400);
  t.deepEqual(eventsOf(await trail(phone)), ['registered']);
});

test('a session that may only read is shown no events, as it is shown no sessions', async (t) => {
  const server = await startServer(t, { accounts: { readonlyUsers: new Set([alice.email]) } });
  const { access, userUuid } = await register(server);
  const { body } = await server.call('GET', `/v1/users/${userUuid}/audit-trail`, { bearer: access });
  t.deepEqual(body.events, []);
});

test('a server that keeps no user agents has no devices in the trail', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const path = `/v1/users/${phone.account.userUuid}/settings`;
  await phone.call('PUT', path, { body: { name: 'LOG_SESSION_USER_AGENT', value: 'disabled' } });
  await signIn(server, {}, { headers: firefox });
  const { body } = await phone.call('GET', pathOf(phone));
  t.like(body.events[0], { event: 'signed-in', device: null });
});

test('a sync without items leaves no trace', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.syncAll();
  await phone.sync();
  t.deepEqual(eventsOf(await trail(phone)), ['registered']);
});

test('the trail goes with the account, in the same commit', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (let index = 0; index < eventsPerPage; index += 1) {
    await phone.call('POST', '/v1/app-passwords', { body: { label: `${index}` } });
  }
  t.is(server.host.database.sizes.get('audit_page'), 1);
  const headers = { 'x-server-password': alice.password };
  t.is((await phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, { headers })).status, 200);
  t.is(server.host.database.sizes.get('audit_page'), 0);
});

test('making, joining and ending shared vaults is in the trail', async (t) => {
  const server = await startServer(t);
  const owner = await server.device();
  const member = await server.device('bob@example.org');
  const vault = await makeVault(owner);
  const sent = await invite(owner, vault, member.account.userUuid);
  for (const _again of [1, 2]) t.is((await accept(member, vault, sent)).status, 200);
  await owner.call('DELETE', `${vaults}/${vault}`);
  await server.advance(1_000);
  const inVaults = async (device: Device) =>
    (await trail(device))
      .filter(({ event }) => event.startsWith('shared-vault-'))
      .map(({ event, times }) => `${event} ${times}`);
  t.deepEqual(await inVaults(member), ['shared-vault-left 1', 'shared-vault-joined 1']);
  const ofOwner = await inVaults(owner);
  t.true(ofOwner.includes('shared-vault-made 1') && ofOwner.includes('shared-vault-deleted 1'));
});
