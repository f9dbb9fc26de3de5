/** Concurrent operations on an account. */
import test from 'ava';
import { generateSync } from 'otplib';
import { alice, newAlice, refresh, register, signIn, statusOf, tokensOf } from '../kit/account.ts';
import { drainPromises } from '../kit/clock.ts';
import { startServer } from '../kit/server.ts';

test('an address is registered once, also when two try at the same moment', async (t) => {
  const server = await startServer(t);
  const body = newAlice;
  const replies = await Promise.all([
    server.call('POST', '/v1/users', { body }),
    server.call('POST', '/v1/users', { body }),
  ]);
  t.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400]);
  t.is((await server.call('POST', '/auth', { body })).status, 400);
});

test('attempts made at the same moment cannot outrun the limit', async (t) => {
  const server = await startServer(t);
  await register(server);
  server.hasher.verifications = 0;
  const replies = await Promise.all(Array.from({ length: 50 }, () => signIn(server, { password: 'wrong' })));
  t.is(server.hasher.verifications, 12);
  t.is(replies.filter(({ status }) => status === 423).length, 38);
});

test('a password that changes while it is being checked opens no session', async (t) => {
  const server = await startServer(t);
  const { access, userUuid } = await register(server);
  server.hasher.meanwhile = async () => {
    const reply = await server.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      bearer: access,
      body: {
        current_password: alice.password,
        new_password: 'd'.repeat(64),
        pw_nonce: 'e'.repeat(64),
        api: '20200115',
      },
    });
    t.is(reply.status, 200);
  };
  t.is((await signIn(server)).status, 401);
});

test('a factor that is turned on while a sign-in is being asked for it is not passed by', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { email, password, userUuid } = phone.account;
  const path = `/v1/users/${userUuid}`;
  const { secret } = (await phone.call('GET', `${path}/mfa-secret`)).body;
  const ask = server.transport.ask.bind(server.transport);
  server.transport.ask = async (call) => {
    const reply = await ask(call);
    if (call.command !== 'checkFactors') return reply;
    server.transport.ask = ask;
    const totpToken = generateSync({ secret, epoch: Math.floor(server.clock.nowMs() / 1_000) });
    const body = { name: 'MFA_SECRET', value: secret, totpToken };
    t.is((await phone.call('PUT', `${path}/settings`, { body })).status, 200);
    // The tell arrives at the actor that waits for this reply.
    await drainPromises();
    return reply;
  };
  t.is((await signIn(server, { email, password })).status, 401);
});

test('refreshes of one pair at the same moment all hand out pairs that get on', async (t) => {
  const server = await startServer(t);
  const first = await register(server);
  const replies = await Promise.all(Array.from({ length: 5 }, () => refresh(server, first)));
  const pairs = replies.map(tokensOf);
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  const statuses = await Promise.all(pairs.map((pair) => statusOf(server, pair)));
  t.deepEqual(statuses.toSorted(), ['200', ...Array(4).fill('498 expired-access-token')]);
  for (const pair of pairs) t.is((await refresh(server, pair)).status, 200);
});
