import test from 'ava';
import { defaultMailSettings } from '../../../actors/mailer/settings.ts';
import type { Device } from '../../kit/device.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { startServer, subscriptionTokens, type TestServer } from '../../kit/server.ts';

const make = (device: Device) => device.call('POST', '/v1/subscription-tokens');
const read = (server: TestServer, what: string, token: string, name = 'x-subscription-token') =>
  server.call('GET', `/v1/offline/${what}`, { headers: { [name]: token } });
const threeHoursMs = 3 * 3_600_000;

test('a subscription token shows subscription and features of its account, and opens nothing else', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token } = (await make(phone)).body;
  t.regex(token, /^[0-9a-f]+$/);
  const own = (await phone.call('GET', `/v1/users/${phone.account.userUuid}/subscription`)).body;
  const view = await read(server, 'users/subscription', token);
  t.true(view.body.success);
  t.like(view.body.subscription, {
    uuid: '00000000-0000-0000-0000-000000000000',
    email: phone.account.email,
    planName: 'PRO_PLAN',
    cancelled: false,
    subscriptionId: own.subscription.subscriptionId,
  });
  const { features } = (await phone.call('GET', `/v1/users/${phone.account.userUuid}/features`)).body;
  for (const header of ['x-subscription-token', 'x-offline-token']) {
    const { body } = await read(server, 'features', token, header);
    t.deepEqual(body.features, features, header);
    t.deepEqual(body.roles, ['CORE_USER', 'PRO_USER'], header);
  }
  t.is((await server.call('GET', '/v1/sessions', { bearer: token })).status, 401);
  const inTheAddress = await server.call('GET', `/v1/offline/features?subscription_token=${token}`);
  t.is(inTheAddress.status, 401);
});

test('a subscription token ends after three hours, and with the credentials it was made under', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token } = (await make(phone)).body;
  await server.advance(threeHoursMs - 2_000);
  t.is((await read(server, 'features', token)).status, 200);
  await server.advance(2_000);
  t.is((await read(server, 'features', token)).body.error.tag, 'invalid-auth');

  const { token: replaced } = (await make(phone)).body;
  const { userUuid, password } = phone.account;
  const body = {
    current_password: password,
    new_password: 'n'.repeat(64),
    pw_nonce: 'c'.repeat(64),
    api: '20200115',
    version: '004',
  };
  const path = `/v1/users/${userUuid}/attributes/credentials`;
  t.is((await phone.call('PUT', path, { body })).status, 200);
  t.is((await read(server, 'features', replaced)).status, 401);
});

test('every wrong token is answered alike', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token } = (await make(phone)).body;
  const later = subscriptionTokens.verify(token);
  const unknownUser = subscriptionTokens.mint({
    userUuid: crypto.randomUUID(),
    credentialsVersion: 1,
    endsSeconds: later?.endsSeconds ?? 0,
  });
  const altered = [...token].map((_, at) => `${token.slice(0, at)}x${token.slice(at + 1)}`);
  const prolonged = `${token.slice(0, 44)}f${token.slice(45)}`;
  for (const wrong of [
    '',
    'x',
    token.slice(1),
    `${token}0`,
    prolonged,
    unknownUser,
    ...altered.slice(0, 8),
  ]) {
    for (const what of ['features', 'users/subscription']) {
      const { status, body } = await read(server, what, wrong);
      t.deepEqual([status, body.error.tag], [401, 'invalid-auth'], wrong);
    }
  }
  t.is((await server.call('GET', '/v1/offline/features')).status, 401);
});

test('the token of a deleted account shows nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token } = (await make(phone)).body;
  const headers = { 'x-server-password': phone.account.password };
  await phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, { headers });
  t.is((await read(server, 'users/subscription', token)).status, 401);
  await server.advance(10_000);
  t.is((await read(server, 'users/subscription', token)).status, 401);
});

const ask = (server: TestServer, body: object) =>
  server.call('POST', '/v1/offline/subscription-tokens', { body });

test('a token is mailed to the account of an address, and shown to nobody else', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  const phone = await server.device();
  const answer = await ask(server, { email: ' Alice@Example.org' });
  t.deepEqual(answer.body, { success: true });
  await server.until(() => postbox.messages.length > 0, 10_000);
  const [message] = postbox.messages;
  t.is(message?.recipient, phone.account.email);
  const [token = ''] = /[0-9a-f]{80,}/.exec(message?.text ?? '') ?? [];
  t.false(answer.text.includes(token));
  t.is((await read(server, 'users/subscription', token)).body.subscription.email, phone.account.email);
});

test('nobody learns whether an address has an account, and no mailbox is filled', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  await server.device();
  const answersTo = async (email: string) => {
    const answers = [];
    for (let count = 0; count < 14; count += 1) {
      const { status, body } = await ask(server, { email });
      answers.push({ status, body });
    }
    return answers;
  };
  const known = await answersTo('alice@example.org');
  t.deepEqual(await answersTo('nobody@example.org'), known);
  t.deepEqual(
    known.map(({ status }) => status),
    [...Array(5).fill(200), ...Array(9).fill(429)],
  );
  await server.advance(60_000);
  t.is(postbox.messages.length, 5);
  t.is((await ask(server, {})).body.error.tag, 'invalid-request');
});

test('the requests of strangers lock nobody out of signing in', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  await server.device();
  for (let count = 0; count < 14; count += 1) await ask(server, { email: 'alice@example.org' });
  await t.notThrowsAsync(server.device());
});

test('where no mail can be sent, nobody is told that one was', async (t) => {
  const server = await startServer(t);
  await server.device();
  for (const email of ['alice@example.org', 'nobody@example.org']) {
    const { status, body } = await ask(server, { email });
    t.deepEqual([status, body.error.tag], [400, 'email-delivery-unavailable']);
  }
});

test('while the queue is full nobody is told that a token was mailed, nor whether there is an account', async (t) => {
  const postbox = new Postbox();
  const { mail, mailSender } = mailTo(postbox);
  const limits = { ...defaultMailSettings.limits, mails: 1 };
  const server = await startServer(t, { mailSender, mail: { ...mail, limits } });
  await server.device();
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  t.is((await ask(server, { email: 'alice@example.org' })).status, 200);
  await server.advance(2_000);
  for (const email of ['alice@example.org', 'nobody@example.org']) {
    const { status, body, headers } = await ask(server, { email });
    t.deepEqual([status, body.error.tag, headers.get('retry-after')], [503, 'email-queue-full', '60']);
  }
  postbox.answer = () => undefined;
  await server.advance(120_000);
  t.is(postbox.messages.length, 1);
  t.is((await ask(server, { email: 'alice@example.org' })).status, 200);
});
