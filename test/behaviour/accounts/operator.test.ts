/** The questions of operators about a user, below the internal API. */
import test from 'ava';
import { findUser } from '../../../actors/identity/account-table.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { userParts } from '../../../actors/user/user.ts';
import { NotFoundError } from '../../../runtime/errors.ts';
import { createLookups } from '../../../runtime/host/cluster-operations.ts';
import { alice, register, signIn, statusOf, tokensOf } from '../../kit/account.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const operated = (server: TestServer, userUuid: string) =>
  server.host.actors.get(UserAdministration, userUuid).ask;

test('an operator is shown an account and never its keys', async (t) => {
  const server = await startServer(t, {
    accounts: {
      adminEmails: new Set([alice.email]),
      readonlyUsers: new Set([alice.email]),
    },
  });
  const { userUuid } = await register(server);
  await signIn(server);
  t.deepEqual(await operated(server, userUuid).operatorShow({}), {
    state: 'active',
    email: alice.email,
    workspace: 'default',
    protocolVersion: '004',
    createdAtMs: server.clock.nowMs(),
    items: 0,
    itemBytes: 0,
    fileBytes: 0,
    fileBytesMax: 107_374_182_400,
    lastUsedAtMs: server.clock.nowMs(),
    factors: { authenticatorApp: false, securityKeys: 0, emailedCodes: false },
    sessions: 2,
    roles: ['CORE_USER', 'PRO_USER', 'INTERNAL_TEAM_USER'],
    readonly: true,
    banned: false,
    bannedAtMs: null,
    banReason: null,
  });
});

test('sessions that are over are neither counted nor ended', async (t) => {
  const server = await startServer(t, { accounts: { ephemeralSessionAgeMs: 1_000 } });
  const { userUuid } = await register(server, { ephemeral: true });
  await signIn(server);
  await server.advance(1_000);
  t.is((await operated(server, userUuid).operatorShow({})).sessions, 1);
  t.deepEqual(await operated(server, userUuid).operatorEndSessions({}), { ended: 1 });
});

test('an operator ends all sessions of a user, and their clients are asked to sign in and not to wipe', async (t) => {
  const server = await startServer(t);
  const first = await register(server);
  const second = tokensOf(await signIn(server));
  t.deepEqual(await operated(server, first.userUuid).operatorEndSessions({}), { ended: 2 });
  t.is(await statusOf(server, first), '401 invalid-auth');
  t.is(await statusOf(server, second), '401 invalid-auth');
  t.is(await statusOf(server, tokensOf(await signIn(server))), '200');
});

test('a repeat of ending sessions spares those that were opened since', async (t) => {
  const server = await startServer(t);
  const { userUuid } = await register(server);
  const end = () => operated(server, userUuid).operatorEndSessions({}, { callId: 'the same' });
  t.deepEqual(await end(), { ended: 1 });
  const later = tokensOf(await signIn(server));
  t.deepEqual(await end(), { ended: 1 });
  t.is(await statusOf(server, later), '200');
});

test('a deleted account is shown as such until it is gone, and its address is free', async (t) => {
  const server = await startServer(t);
  const { userUuid, access } = await register(server);
  const headers = { 'x-server-password': alice.password };
  t.is((await server.call('DELETE', `/v1/users/${userUuid}`, { bearer: access, headers })).status, 200);
  t.like(await operated(server, userUuid).operatorShow({}), { state: 'deleted', email: '', sessions: 0 });
  t.is(
    await findUser(createLookups(server.host.store), { email: alice.email, workspace: 'default' }),
    undefined,
  );
  await server.advance(60_000);
  await t.throwsAsync(operated(server, userUuid).operatorShow({}), { instanceOf: NotFoundError });
});

test('a user is found by the address as it is stored, in its own workspace alone', async (t) => {
  const server = await startServer(t);
  const { userUuid } = await register(server);
  const { store } = server.host;
  t.is(await findUser(createLookups(store), { email: alice.email, workspace: 'default' }), userUuid);
  t.is(await findUser(createLookups(store), { email: alice.email, workspace: 'other' }), undefined);
  t.is(await findUser(createLookups(store), { email: 'bob@example.org', workspace: 'default' }), undefined);
});

test('there is nothing to show or to end where nobody ever registered', async (t) => {
  const stranger = operated(await startServer(t), '11111111-1111-4111-8111-111111111111');
  await t.throwsAsync(stranger.operatorShow({}), { instanceOf: NotFoundError });
  await t.throwsAsync(stranger.operatorEndSessions({}), { instanceOf: NotFoundError });
});

test('a handle on a user as the gateway has it knows no command of operators', (t) => {
  const asGatewaysKnow = userParts.flatMap(({ name, commands }) =>
    name === 'operators' ? [] : Object.keys(commands),
  );
  const operators = Object.keys(UserAdministration.commands);
  t.deepEqual(
    operators.filter((name) => asGatewaysKnow.includes(name)),
    [],
  );
});
