/** Mails that notify users of events in their account. */
import test, { type ExecutionContext } from 'ava';
import { alice, challengeOf, newAlice, signIn, tokensOf } from '../../kit/account.ts';
import { Postbox } from '../../kit/postbox.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
const elsewhere = { headers: { ...firefox, 'x-forwarded-for': '198.51.100.9' } };

async function withMail(t: ExecutionContext) {
  const postbox = new Postbox();
  const mail = { host: 'smtp.test', from: { name: '', address: 'notes@notes.test' } };
  const server = await startServer(t, { mail, mailSender: postbox });
  const phone = await server.device();
  const received = async (count: number) => {
    await server.until(() => postbox.messages.length >= count, 60_000);
    return postbox.messages;
  };
  const silent = async () => {
    await server.advance(60_000);
    return postbox.messages.length === 0;
  };
  return { server, phone, postbox, received, silent };
}

function changeEmail(server: TestServer, bearer: string, userUuid: string, email: string) {
  return server.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
    bearer,
    body: {
      current_password: alice.password,
      new_password: alice.password,
      new_email: email,
      pw_nonce: alice.pw_nonce,
      api: '20200115',
    },
  });
}

test('a sign-in from an unknown device and network is told by mail, once', async (t) => {
  const { server, received } = await withMail(t);
  t.is((await signIn(server, {}, elsewhere)).status, 200);
  const [message] = await received(1);
  t.is(message?.recipient, alice.email);
  t.regex(message?.text ?? '', /Firefox 140\.0 on Linux/);
  t.regex(message?.text ?? '', /198\.51\.100\.9/);
  t.is((await signIn(server, {}, elsewhere)).status, 200);
  await server.advance(60_000);
  t.is((await received(1)).length, 1);
});

test('a sign-in from a known network is not, nor is one that failed', async (t) => {
  const { server, silent } = await withMail(t);
  t.is((await signIn(server)).status, 200);
  t.is((await signIn(server, { password: 'x' }, elsewhere)).status, 401);
  t.true(await silent());
});

test('a user who has muted mails about sign-ins gets none', async (t) => {
  const { server, phone, silent } = await withMail(t);
  const path = `/v1/users/${phone.account.userUuid}/subscription-settings`;
  t.is(
    (await phone.call('PUT', path, { body: { name: 'MUTE_SIGN_IN_EMAILS', value: 'muted' } })).status,
    200,
  );
  t.is((await signIn(server, {}, elsewhere)).status, 200);
  t.true(await silent());
});

test('the old address is told of a change, muted or not, and is not told the new one', async (t) => {
  const { server, phone, received } = await withMail(t);
  const { access, userUuid } = phone.account;
  const path = `/v1/users/${userUuid}/subscription-settings`;
  await phone.call('PUT', path, { body: { name: 'MUTE_SIGN_IN_EMAILS', value: 'muted' } });
  t.is((await changeEmail(server, access, userUuid, ' Alice@New.example ')).status, 200);
  const [message] = await received(1);
  t.is(message?.recipient, alice.email);
  t.regex(message?.subject ?? '', /address/);
  t.false(JSON.stringify(message).includes('new.example'));
});

test('a change of the password alone moves nothing and tells nobody', async (t) => {
  const { server, phone, silent } = await withMail(t);
  const { access, userUuid } = phone.account;
  t.is((await changeEmail(server, access, userUuid, 'alice@example.org')).status, 200);
  t.true(await silent());
});

test('a crash right after a change neither loses nor repeats the mail', async (t) => {
  const { server, phone, received } = await withMail(t);
  const { access, userUuid } = phone.account;
  t.is((await changeEmail(server, access, userUuid, 'alice@new.example')).status, 200);
  await server.restart();
  await received(1);
  await server.advance(120_000);
  t.is((await received(1)).length, 1);
});

test('a sign-in with recovery codes is told', async (t) => {
  const { server, phone, received } = await withMail(t);
  const password = { 'x-server-password': alice.password };
  const { recoveryCodes } = (await phone.call('POST', '/v1/recovery/codes', { headers: password })).body;
  const { email } = alice;
  const body = { username: email, recovery_codes: recoveryCodes, code_challenge: challengeOf('v') };
  await server.call('POST', '/v1/recovery/login-params', { body });
  const login = { ...body, password: alice.password, code_verifier: 'v', api: '20200115' };
  t.is((await server.call('POST', '/v1/recovery/login', { body: login })).status, 200);
  const [message] = await received(1);
  t.regex(message?.subject ?? '', /Recovery codes/);
  t.false(JSON.stringify(message).includes(recoveryCodes));
});

test('a name that is no address gets no mail and signs in', async (t) => {
  const { server, silent } = await withMail(t);
  const email = 'e'.repeat(64);
  t.is((await server.call('POST', '/v1/users', { body: { ...newAlice, email } })).status, 200);
  const answer = await signIn(server, { email }, elsewhere);
  t.is(answer.status, 200);
  t.truthy(tokensOf(answer).access);
  t.true(await silent());
});

test('without a relay nothing is queued, and signing in works', async (t) => {
  const server = await startServer(t);
  await server.device();
  t.is((await signIn(server, {}, elsewhere)).status, 200);
  await server.advance(60_000);
  t.is(server.host.database.sizes.get('mail') ?? 0, 0);
});
