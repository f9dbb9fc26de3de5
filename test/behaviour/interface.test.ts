/** Alternative names in the requests of old clients. */
import test from 'ava';
import { startServer } from '../kit/server.ts';

test('the aliases of old clients answer as what they stand for', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { email, userUuid } = phone.account;
  const wrong = { email, password: 'wrong', code_verifier: 'x', api: '20240226' };
  const [current, alias] = [
    await server.call('POST', '/v2/login', { body: wrong }),
    await server.call('POST', '/v1/login', { body: wrong }),
  ];
  t.is(current.status, 401);
  t.deepEqual([alias.status, alias.body], [current.status, current.body]);

  const params = await phone.call(
    'GET',
    `/v1/login-params?email=${encodeURIComponent(email)}&code_challenge=x`,
  );
  t.is(params.status, 200);
  t.is(params.body.identifier, email);

  const registration = {
    api: '20200115',
    email: 'old@example.org',
    password: 'p',
    pw_nonce: '0',
    version: '004',
  };
  const registered = await server.call('POST', '/auth', { body: registration });
  t.is(registered.status, 200);
  t.truthy(registered.body.session.access_token);
  t.not(registered.body.user.uuid, userUuid);
  t.is((await server.call('POST', '/v1/users', { body: registration })).status, 400, 'the same address');
});
