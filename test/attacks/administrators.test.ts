/** Users who try to become administrators. */
import test from 'ava';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { alice, bob, headerSessions, register, type Tokens, tokensOf } from '../kit/account.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const listed = { adminEmails: new Set([alice.email]) };

async function isAdministrator(server: TestServer, { access }: Pick<Tokens, 'access'>): Promise<boolean> {
  const { meta } = await server.call('GET', '/v1/sessions', { bearer: access });
  const roles = meta?.auth.roles?.map(({ name }) => name) ?? [];
  return roles.includes('INTERNAL_TEAM_USER');
}

async function move(server: TestServer, tokens: Tokens, email: string): Promise<Tokens> {
  const { password, pw_nonce } = alice;
  const body = { current_password: password, new_password: password, new_email: email, pw_nonce };
  const path = `/v1/users/${tokens.userUuid}/attributes/credentials`;
  const answer = await server.call('PUT', path, {
    bearer: tokens.access,
    body: { ...body, api: headerSessions },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return tokensOf(answer);
}

const operated = (server: TestServer, { userUuid }: Tokens) =>
  server.host.actors.get(UserAdministration, userUuid).ask;

test('a listed address has no effect in another workspace', async (t) => {
  const server = await startServer(t, { accounts: { ...listed, workspacesPerEmail: true } });
  t.false(await isAdministrator(server, await register(server, { workspace_identifier: 'mine' })));
  t.true(await isAdministrator(server, await register(server)));
});

test('changing to a listed address gains nothing, and neither does changing back', async (t) => {
  const server = await startServer(t, { accounts: listed });
  const mallory = await move(server, await register(server, bob), alice.email);
  t.false(await isAdministrator(server, mallory));
  const listedOnce = await move(server, mallory, 'carol@example.org');
  t.false(await isAdministrator(server, await move(server, listedOnce, alice.email)));
});

test('an operator makes and unmakes administrators, whatever ADMIN_EMAILS lists or their address becomes', async (t) => {
  const server = await startServer(t, { accounts: listed });
  const [admin, user] = [await register(server), await register(server, bob)];
  t.deepEqual(await operated(server, user).operatorSetAdministrator({ administrator: true }), {
    changed: true,
  });
  t.deepEqual(await operated(server, user).operatorSetAdministrator({ administrator: true }), {
    changed: false,
  });
  t.deepEqual(await operated(server, admin).operatorSetAdministrator({ administrator: false }), {
    changed: true,
  });
  await server.restart();
  t.true(await isAdministrator(server, user));
  t.false(await isAdministrator(server, admin));
  const moved = await move(server, user, 'carol@example.org');
  t.true(await isAdministrator(server, moved));
  await operated(server, moved).operatorSetAdministrator({ administrator: false });
  t.false(await isAdministrator(server, moved));
});

test('a deleted account cannot be promoted', async (t) => {
  const server = await startServer(t);
  const account = await register(server);
  const headers = { 'x-server-password': alice.password };
  await server.call('DELETE', `/v1/users/${account.userUuid}`, { bearer: account.access, headers });
  await t.throwsAsync(operated(server, account).operatorSetAdministrator({ administrator: true }), {
    message: /deleted/,
  });
});
