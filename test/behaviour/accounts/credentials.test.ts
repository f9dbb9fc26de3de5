import test from 'ava';
import { item } from '../../../actors/collection/item.ts';
import type { SessionReply } from '../../../actors/identity/session.ts';
import { type Account, alice, register, signIn, statusOf, type Tokens, tokensOf } from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import type { Answer } from '../../kit/http.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const newPassword = 'd'.repeat(64);

function change(
  server: TestServer,
  { access, userUuid }: Tokens,
  fields: Record<string, unknown> = {},
): Promise<Answer> {
  return server.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
    bearer: access,
    body: {
      current_password: alice.password,
      new_password: newPassword,
      pw_nonce: 'e'.repeat(64),
      api: '20200115',
      ...fields,
    },
  });
}

function deleteAccount(server: TestServer, { access, userUuid }: Tokens, password?: string) {
  return server.call('DELETE', `/v1/users/${userUuid}`, {
    bearer: access,
    headers: password === undefined ? {} : { 'x-server-password': password },
  });
}

test('a new password ends every other session without a wipe and opens a lasting one', async (t) => {
  const server = await startServer(t, { accounts: { ephemeralSessionAgeMs: 60_000 } });
  const mine = await register(server, { ephemeral: true });
  const other = tokensOf(await signIn(server));
  const reply = await change(server, mine);
  t.is(reply.status, 200);
  t.is(reply.setCookies.length, 2);
  t.like(reply.body.key_params, { pw_nonce: 'e'.repeat(64), version: '004', origination: 'registration' });
  const fresh = tokensOf(reply);
  t.is(await statusOf(server, fresh), '200');
  t.is(await statusOf(server, mine), '401 invalid-auth');
  t.is(await statusOf(server, other), '401 invalid-auth');
  await server.advance(60_000);
  t.is(await statusOf(server, fresh), '200');
  t.is((await signIn(server)).status, 401);
  t.is((await signIn(server, { password: newPassword })).status, 200);
});

test('a repeated change gets the reply of the first, though its session is gone', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const lost = server.transport.loseReplyTo('changeCredentials');
  const reply = await server.answered(change(server, mine));
  t.is(reply.status, 200);
  const first = (await lost) as { ok: SessionReply };
  t.is(reply.body.session.access_token, first.ok.session.access_token);
  t.is(await statusOf(server, tokensOf(reply)), '200');
});

test('a change can be taken back with the passwords swapped', async (t) => {
  const server = await startServer(t);
  const fresh = tokensOf(await change(server, await register(server)));
  const back = await change(server, fresh, { current_password: newPassword, new_password: alice.password });
  t.is(back.status, 200);
  t.is((await signIn(server)).status, 200);
});

test('the same password and address leave the other sessions alive', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const reply = await change(server, mine, { new_password: alice.password });
  t.is(reply.status, 200);
  t.is(await statusOf(server, mine), '200');
  t.is(await statusOf(server, tokensOf(reply)), '200');
});

test('a new address replaces the old one, which is free again', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const reply = await change(server, mine, { new_email: ' Alice@New.example ' });
  t.is(reply.body.user.email, 'alice@new.example');
  t.is((await signIn(server, { password: newPassword })).status, 401);
  t.is((await signIn(server, { email: 'alice@new.example', password: newPassword })).status, 200);
  await register(server);
});

test('a new address alone ends every other session too, ephemeral ones among them', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const others = [tokensOf(await signIn(server)), tokensOf(await signIn(server, { ephemeral: true }))];
  const fields = { new_password: alice.password, new_email: 'alice@new.example' };
  const fresh = tokensOf(await change(server, mine, fields));
  for (const ended of [mine, ...others]) t.is(await statusOf(server, ended), '401 invalid-auth');
  t.is(await statusOf(server, fresh), '200');
  t.is((await signIn(server, { email: 'alice@new.example' })).status, 200);
});

test('an address that is taken is refused and nothing changes, also when two want it at once', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const bob = await register(server, { email: 'bob@example.org' });
  const refused = await change(server, mine, { new_email: 'bob@example.org' });
  t.is(refused.status, 401);
  t.is(await statusOf(server, mine), '200');
  const replies = await Promise.all([
    change(server, mine, { new_email: 'carol@example.org' }),
    change(server, bob, { new_email: 'carol@example.org' }),
  ]);
  t.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 401]);
});

test('a change says what is wrong with it', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const wrong = await change(server, mine, { current_password: 'x' });
  t.is(wrong.status, 401);
  t.deepEqual(wrong.body.error, {
    message: 'The current password you entered is incorrect. Please try again.',
  });
  t.is((await change(server, mine, { new_email: 'no' })).status, 401);
  t.is((await change(server, mine, { api: '1' })).status, 401);
  t.is((await change(server, mine, { pw_nonce: undefined })).status, 400);
  t.is((await change(server, mine, { new_password: undefined })).status, 400);
  const foreign = await change(server, { ...mine, userUuid: '00000000-0000-4000-8000-000000000000' });
  t.is(foreign.status, 401);
  t.is(foreign.body.error.message, 'Operation not allowed.');
  t.is(await statusOf(server, mine), '200');
});

test('a signed-in caller cannot guess the password either', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    t.is((await change(server, mine, { current_password: 'x' })).status, 401);
    t.is((await deleteAccount(server, mine, 'x')).status, 400);
  }
  t.is((await change(server, mine)).status, 423);
  t.is((await deleteAccount(server, mine, alice.password)).status, 423);
  t.is((await signIn(server)).status, 200);
});

test('an address that strangers have locked does not keep its owner from changing the password', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  for (let attempt = 0; attempt < 12; attempt += 1) await signIn(server, { password: 'x' });
  t.is((await signIn(server)).status, 423);
  t.is((await change(server, mine)).status, 200);
  await server.advance(1_000);
  t.is((await signIn(server, { password: newPassword })).status, 200);
});

test('the right password gives the attempts back after a change too, those of strangers among them', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  for (let attempt = 0; attempt < 11; attempt += 1) {
    await change(server, mine, { current_password: 'x' });
    await signIn(server, { password: 'x' });
  }
  const fresh = tokensOf(await change(server, mine));
  await server.advance(1_000);
  for (let attempt = 0; attempt < 11; attempt += 1) {
    t.is((await change(server, fresh, { current_password: 'x' })).status, 401);
    t.is((await signIn(server)).status, 401);
  }
  t.is((await signIn(server, { password: newPassword })).status, 200);
});

test('a deleted account is gone at once, its tokens are invalid and its address is free', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const deleted = await deleteAccount(server, mine, alice.password);
  t.is(deleted.status, 200);
  t.is(typeof deleted.body.message, 'string');
  t.is(await statusOf(server, mine), '401 invalid-auth');
  t.is((await signIn(server)).status, 401);
  const foreign = { ...mine, userUuid: '00000000-0000-4000-8000-000000000000' };
  t.is((await deleteAccount(server, mine, alice.password)).status, 200);
  t.is((await deleteAccount(server, foreign, alice.password)).status, 401);
  await server.advance(10_000);
  t.is(await statusOf(server, mine), '401 invalid-auth');
  t.is((await deleteAccount(server, mine, alice.password)).status, 200);
  t.is((await deleteAccount(server, foreign, alice.password)).status, 401);
  const again = await register(server);
  t.not(again.userUuid, mine.userUuid);
});

test('a deletion that is refused says why in the words clients compare', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const messageOf = async (tokens: Tokens, password?: string) => {
    const reply = await deleteAccount(server, tokens, password);
    return `${reply.status} ${reply.body.error.message}`;
  };
  t.is(await messageOf(mine), '400 Please update your application to the latest version.');
  t.is(await messageOf(mine, 'x'), '400 The password you entered is incorrect. Please try again.');
  const foreign = { ...mine, userUuid: '00000000-0000-4000-8000-000000000000' };
  t.is(await messageOf(foreign, alice.password), '401 Operation not allowed.');
  t.is(await statusOf(server, mine), '200');
});

test('an account whose purge has run answers like one that never was', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  await deleteAccount(server, mine, alice.password);
  await server.advance(10_000);
  await server.restart();
  t.is(await statusOf(server, mine), '401 invalid-auth');
  const logout = await server.call('POST', '/v1/logout', { bearer: mine.access });
  t.is(logout.status, 401);
});

test('the purge removes every item of a deleted account in bounded commits, and nobody else’s', async (t) => {
  const server = await startServer(t);
  const mine = await register(server);
  const bob = await register(server, { email: 'bob@example.org' });
  const save = async (of: Account, from: number, count: number) => {
    const items = Array.from({ length: count }, (_, index) => note({ uuid: uuidNumber(from + index) }));
    await new Device(server, of).sync({ items });
  };
  await save(mine, 1, 1_200);
  await save(bob, 5_000, 3);
  const rowsOf = async ({ userUuid }: Tokens) => {
    const [read] = await server.host.store.read([
      { read: 'range', table: item, owner: userUuid, after: 0, through: 1e6, limit: 1e6 },
    ]);
    return read?.rows.length;
  };
  t.is(await rowsOf(mine), 1_200);
  await deleteAccount(server, mine, alice.password);
  await server.advance(60_000);
  t.is(await rowsOf(mine), 0);
  t.is(await rowsOf(bob), 3);
  await save(bob, 1, 2);
  t.is(await rowsOf(bob), 5);
});
