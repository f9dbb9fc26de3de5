/** The endpoints of administrators, against every kind of caller: none of them reveals who exists, or does anything. */
import test from 'ava';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { tokensOf } from '../kit/account.ts';
import { Device, deleteAccount } from '../kit/device.ts';
import type { Call } from '../kit/http.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const adminEmail = 'admin@example.org';
const nobody = '11111111-1111-4111-8111-111111111111';
const mail = '/v1/admin/email-delivery';
const pairing = '/v1/assistant/subscription';
const user = 'alice@example.org';

/** With requests that would otherwise succeed, and do no harm to the caller. */
const rows: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/v1/admin/lookup-user/:email'],
  ['GET', '/v1/admin/users/:email/ban-status'],
  ['PUT', '/v1/admin/users/:userUuid/ban-status', { banned: true }],
  ['GET', '/v1/admin/users/:userUuid/feature-flags'],
  ['PUT', '/v1/admin/users/:userUuid/feature-flags', { name: 'AI_ENABLED', value: 'true' }],
  ['GET', '/v1/admin/registration'],
  ['PUT', '/v1/admin/registration', { registrationDisabled: true }],
  ['GET', '/v1/admin/roles'],
  ['GET', '/v1/admin/groups'],
  ['POST', '/v1/admin/groups'],
  ['PUT', '/v1/admin/groups/:groupUuid'],
  ['DELETE', '/v1/admin/groups/:groupUuid'],
  ['GET', '/v1/admin/groups/:groupUuid/members'],
  ['POST', '/v1/admin/groups/:groupUuid/members'],
  ['DELETE', '/v1/admin/groups/:groupUuid/members/:userUuid'],
  ['GET', '/v1/admin/users/:userUuid/effective-permissions'],
  ['GET', `${mail}/relays`],
  ['PUT', `${mail}/relays`, { relays: [], fallbackPolicy: { mode: 'none' } }],
  ['POST', `${mail}/test`, { recipient: user }],
  ['GET', `${mail}/queue`],
  ['GET', `${mail}/logs`],
  ['GET', `${mail}/audit`],
  ['POST', `${mail}/queue/:id/retry`],
  ['DELETE', `${mail}/queue/:id`],
  ['GET', `${pairing}/status`],
  ['GET', `${pairing}/list`],
  ['GET', `${pairing}/usage`],
  ['POST', `${pairing}/start`, {}],
  ['POST', `${pairing}/complete`, { code: 'x', state: 'A'.repeat(43) }],
  ['POST', `${pairing}/unpair`, { subscriptionId: 'none' }],
  ['POST', `${pairing}/unpair-all`, { confirmation: 'UNPAIR ALL SUBSCRIPTIONS' }],
];

/** The status of each endpoint, and the tag if there is one. */
async function answersFor(by: {
  call(method: string, path: string, request?: Call): Promise<{ status: number; text: string }>;
}) {
  const answers: string[] = [];
  for (const [method, pattern, body] of rows) {
    const path = pattern.replace(':email', user).replace(':userUuid', nobody).replace(':id', nobody);
    const { status, text } = await by.call(method, path, body === undefined ? {} : { body });
    const { tag } = (JSON.parse(text || '{}').data ?? JSON.parse(text || '{}')).error ?? {};
    answers.push(tag === undefined ? `${status}` : `${status} ${tag}`);
  }
  return answers;
}

const all = (answer: string) => rows.map(() => answer);

async function bridgeOf(admin: Device, scope: 'read' | 'write'): Promise<Device> {
  const body = { label: 'b', scope, wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { token } = (await admin.call('POST', '/v1/mcp-tokens', { body })).body;
  const opened = await admin.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
  return new Device(admin.server, { ...admin.account, ...tokensOf(opened) });
}

const operated = (server: TestServer, { account }: Device) =>
  server.host.actors.get(UserAdministration, account.userUuid).ask;

test('these are all the rows of administrators', async (t) => {
  const server = await startServer(t);
  const { paths } = JSON.parse((await server.call('GET', '/v1/openapi.json')).text);
  const served = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  const ofAdministrators = served.filter(
    (row) => (row.includes(' /v1/admin/') || row.includes(` ${pairing}/`)) && !row.endsWith('/callback'),
  );
  t.deepEqual(rows.map(([method, path]) => `${method} ${path}`).toSorted(), ofAdministrators.toSorted());
});

test('an administrator alone gets anything, by a session of their own', async (t) => {
  const accounts = { adminEmails: new Set([adminEmail]), workspacesPerEmail: true };
  const server = await startServer(t, { accounts });
  await server.device(user);
  const admin = await server.device(adminEmail);
  const bob = await server.device('bob@example.org');
  const elsewhere = await Device.register(server, { email: adminEmail, workspace_identifier: 'mine' });
  const bridges = [await bridgeOf(admin, 'read'), await bridgeOf(admin, 'write')];

  t.deepEqual(await answersFor(server), all('401 invalid-auth'));
  const forged = new Device(server, { ...admin.account, access: `${admin.account.access.slice(0, -2)}xx` });
  t.deepEqual(await answersFor(forged), all('401 invalid-auth'));
  for (const device of [bob, elsewhere]) t.deepEqual(await answersFor(device), all('403 admin-required'));
  for (const device of bridges) {
    for (const [index, answer] of (await answersFor(device)).entries())
      t.regex(answer, /^403/, `a bridge: ${rows[index]?.slice(0, 2).join(' ')}`);
  }

  await operated(server, bob).operatorSetAdministrator({ administrator: true });
  const answered = await answersFor(bob);
  for (const [index, answer] of answered.entries())
    t.notRegex(answer, /^(?:401|403|498|500)/, `an administrator: ${rows[index]?.slice(0, 2).join(' ')}`);
  t.deepEqual(await answersFor(admin), answered);
  await operated(server, bob).operatorSetAdministrator({ administrator: false });
  t.deepEqual(await answersFor(bob), all('403 admin-required'));

  await server.restart({ accounts: { ...accounts, readonlyUsers: new Set([adminEmail]) } });
  const whatReads = rows.map(([method], index) =>
    method === 'GET' ? answered[index] : '403 read-only-access',
  );
  t.deepEqual(await answersFor(admin), whatReads);
  await server.restart({ accounts });
  t.deepEqual(await answersFor(admin), answered);

  const second = await admin.another();
  await server.advance(61 * 86_400_000);
  t.deepEqual(await answersFor(second), all('498 expired-access-token'));
});

test('a former administrator who is gone, banned or signed out gets nothing', async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([adminEmail]) } });
  const admin = await server.device(adminEmail);
  const [gone, banned] = [await server.device('gone@example.org'), await server.device('banned@example.org')];
  for (const device of [gone, banned])
    await operated(server, device).operatorSetAdministrator({ administrator: true });
  t.is((await deleteAccount(gone)).status, 200);
  await operated(server, banned).operatorSetAdministrator({ administrator: false });
  await operated(server, banned).operatorSetBan({ banned: true, reason: null, by: 'operator' });
  await admin.call('POST', '/v1/logout');
  for (const device of [gone, banned, admin]) t.deepEqual(await answersFor(device), all('401 invalid-auth'));
});
