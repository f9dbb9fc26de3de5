/** Codes by e-mail as the second factor: turned on and off, requested, mailed, and entered. */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { defaultMailSettings, type MailSettings } from '../../../actors/mailer/settings.ts';
import { challengeOf, headerSessions } from '../../kit/account.ts';
import { addAuthenticatorApp, appCode } from '../../kit/authenticator-app.ts';
import type { Device } from '../../kit/device.ts';
import { Postbox } from '../../kit/postbox.ts';
import { type ServerOptions, startServer, unknownAddress } from '../../kit/server.ts';

const status = '/v1/mfa/magic-link/status';
const request = '/v1/mfa/magic-link/request';
const minuteMs = 60_000;
const relay: Partial<MailSettings> = {
  host: '127.0.0.1',
  from: { name: 'Notes', address: 'notes@home.test' },
};

const from = (address?: string) => ({ headers: address ? { 'x-forwarded-for': address } : {} });
const turn = (device: Device, enabled: unknown) => device.call('POST', status, { body: { enabled } });

async function withMail(t: ExecutionContext, options: ServerOptions = {}) {
  const postbox = new Postbox();
  const server = await startServer(t, { mail: relay, mailSender: postbox, ...options });
  const phone = await server.device();
  const { email, password } = phone.account;
  const ask = (address?: string, username: string = email) =>
    server.call('POST', request, { body: { email: username }, ...from(address) });
  const mailed = () => postbox.messages.flatMap(({ text }) => /: (\d{6})$/m.exec(text)?.[1] ?? []);
  return {
    server,
    phone,
    postbox,
    ask,
    mailed,
    /** Requests one, and reads it. */
    async codeFor(address?: string): Promise<string> {
      const before = mailed().length;
      const answer = await ask(address);
      if (answer.status !== 200) throw new Error(answer.text);
      await server.until(() => mailed().length > before, 10_000);
      return mailed().at(-1) ?? '';
    },
    async params(factors: object = {}, address?: string, username: string = email) {
      const verifier = randomUUID();
      const body = { email: username, code_challenge: challengeOf(verifier), ...factors };
      const answer = await server.call('POST', '/v2/login-params', { body, ...from(address) });
      return { ...answer, verifier };
    },
    login: (code_verifier: string) =>
      server.call('POST', '/v2/login', { body: { email, password, code_verifier, api: headerSessions } }),
  };
}

test('a value that is neither true nor false turns no codes off', async (t) => {
  const { phone } = await withMail(t);
  t.is((await turn(phone, true)).status, 200);
  for (const enabled of ['maybe', 1, null, undefined, {}]) t.is((await turn(phone, enabled)).status, 400);
  t.deepEqual((await phone.call('GET', status)).body, { enabled: true });
});

test('turned on, a code is asked for in words that have clients ask for the mail, and signs in once', async (t) => {
  const { phone, params, login, ask, codeFor, postbox } = await withMail(t);
  t.deepEqual((await phone.call('GET', status)).body, { enabled: false });
  t.deepEqual((await turn(phone, true)).body, { enabled: true });
  t.deepEqual((await phone.call('GET', `${status}/`)).body, { enabled: true });
  const missing = await params();
  t.deepEqual([missing.status, missing.body.error.tag], [401, 'mfa-required']);
  t.regex(missing.body.error.message, /email/i);
  t.regex(missing.body.error.payload.mfa_key, /^mfa_/);
  t.truthy(missing.body.error.payload.mfa_approval_challenge_id);
  t.is((await login(missing.verifier)).status, 401);
  t.deepEqual((await ask()).body, { emailed: true }, 'the code is in the mail alone');
  const code = await codeFor();
  t.regex(code, /^\d{6}$/);
  t.like(postbox.messages[0], { recipient: phone.account.email });
  const right = await params({ mfa_code: code });
  t.is(right.status, 200, right.text);
  t.is((await login(right.verifier)).status, 200);
  const again = await params({ mfa_code: code });
  t.deepEqual([again.status, again.body.error.tag], [401, 'mfa-invalid']);
});

test('the code is taken under its own name too, and by clients that say `true` as a text', async (t) => {
  const { phone, params, codeFor } = await withMail(t);
  t.deepEqual((await turn(phone, 'true')).body, { enabled: true });
  t.is((await params({ magic_link_code: await codeFor() })).status, 200);
  const beside = { mfa_code: '', magic_link_code: await codeFor() };
  t.is((await params(beside)).status, 200, 'beside a field that was left empty');
  t.deepEqual((await turn(phone, false)).body, { enabled: false });
  t.deepEqual((await turn(phone, false)).body, { enabled: false });
  t.is((await params()).status, 200);
  const trail = await phone.call('GET', `/v1/users/${phone.account.userUuid}/audit-trail`);
  const events = JSON.stringify(trail.body).match(/emailed-codes-\w+/g);
  t.deepEqual(events?.toSorted(), ['emailed-codes-off', 'emailed-codes-on']);
});

test('only the newest code of a network counts, for a quarter of an hour and five guesses', async (t) => {
  const { server, phone, params, codeFor } = await withMail(t, {
    accounts: { plainAttemptsMax: 100, unknownOriginAttemptsMax: 100 },
  });
  await turn(phone, true);
  const older = await codeFor();
  const newer = await codeFor();
  for (const mfa_code of [older, 'abcdef', newer.slice(1), `${newer}0`]) {
    t.is((await params({ mfa_code })).status, 401, mfa_code);
  }
  t.is((await params({ mfa_code: newer })).status, 200, 'the fifth guess');
  const guessed = await codeFor();
  for (let guess = 0; guess < 5; guess += 1) t.is((await params({ mfa_code: 'wrong' })).status, 401);
  t.is((await params({ mfa_code: guessed })).status, 401);
  await server.advance(60 * minuteMs);
  const late = await codeFor();
  await server.advance(15 * minuteMs);
  t.is((await params({ mfa_code: late })).status, 401);
});

test('a code that was asked for from one network is right from another, once', async (t) => {
  const { phone, params, codeFor, postbox } = await withMail(t);
  await turn(phone, true);
  const code = await codeFor('2001:db8:1::7');
  t.notRegex(postbox.messages[0]?.text ?? '', /network/, 'the mail says nothing else');
  t.is((await params({ mfa_code: code }, '198.51.100.7')).status, 200);
  t.is((await params({ mfa_code: code }, '2001:db8:1::7')).status, 401);
});

test('a code counts after a restart, too', async (t) => {
  const { server, phone, params, codeFor } = await withMail(t);
  await turn(phone, true);
  const code = await codeFor();
  await server.restart();
  t.is((await params({ mfa_code: code })).status, 200);
});

test('it counts before the authenticator app, which alone takes its own codes', async (t) => {
  const { server, phone, params, codeFor } = await withMail(t);
  const secret = await addAuthenticatorApp(server, phone);
  const totp = () => appCode(server, secret);
  await turn(phone, true);
  t.is((await params({ mfa_code: totp() })).body.error.tag, 'mfa-invalid');
  t.is((await params({ mfa_code: await codeFor() })).status, 200);
  const mailed = await codeFor();
  await turn(phone, false);
  t.is((await params({ mfa_code: mailed })).body.error.tag, 'mfa-invalid');
  t.is((await params({ mfa_code: totp() })).status, 200);
});

test('a sign-in that began before it was turned on does not end without it', async (t) => {
  const { server, phone, params, login } = await withMail(t);
  const begun = await params();
  await turn(phone, true);
  await server.advance(1_000);
  t.is((await login(begun.verifier)).status, 401);
});

test('without mail it can neither be turned on nor asked for, and stays on', async (t) => {
  const { server, phone, params, ask } = await withMail(t);
  await turn(phone, true);
  await server.restart({ mail: {} });
  t.is((await turn(phone, true)).status, 400);
  t.is((await ask()).status, 400);
  t.is((await ask(undefined, 'nobody@example.org')).status, 400);
  t.is((await params()).body.error.tag, 'mfa-required');
  t.deepEqual((await turn(phone, false)).body, { enabled: false });
});

test('while the queue is full every request for a code is told so, whether or not there would be one', async (t) => {
  const limits = { ...defaultMailSettings.limits, mails: 2 };
  const { server, phone, ask, mailed, codeFor, postbox } = await withMail(t, { mail: { ...relay, limits } });
  await turn(phone, true);
  const plain = await server.device('bob@example.org');
  const addresses = [phone.account.email, plain.account.email, 'nobody@example.org', 'f'.repeat(64)];
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  for (let count = 0; count < 2; count += 1) t.is((await ask()).status, 200);
  await server.advance(2_000);
  // More often than codes are made: a code that was not sent does not count.
  for (let count = 0; count < 6; count += 1) {
    for (const email of addresses) {
      const { status, body, headers } = await ask(undefined, email);
      t.deepEqual([status, body.error.tag, headers.get('retry-after')], [503, 'email-queue-full', '60']);
    }
  }
  postbox.answer = () => undefined;
  await server.advance(5 * minuteMs);
  t.is(mailed().length, 2);
  await codeFor();
  t.is(mailed().length, 3);
});

test('an account whose name is no address cannot turn it on', async (t) => {
  const { server } = await withMail(t);
  const hidden = await server.device('f'.repeat(64));
  t.is((await turn(hidden, true)).status, 400);
  t.deepEqual((await hidden.call('GET', status)).body, { enabled: false });
});

test('a change to a name that is no address turns it off, and to another address keeps it', async (t) => {
  const { server, phone } = await withMail(t);
  await turn(phone, true);
  const { userUuid, password } = phone.account;
  const change = async (device: Pick<Device, 'call'>, new_email: string) => {
    const body = { current_password: password, new_password: password, pw_nonce: 'n', new_email };
    return device.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      body: { ...body, api: headerSessions },
    });
  };
  const moved = await change(phone, 'alice@other.example');
  const bearer = moved.body.session.access_token;
  t.deepEqual((await server.call('GET', status, { bearer })).body, { enabled: true });
  const hidden = await change({ call: (m, p, c) => server.call(m, p, { ...c, bearer }) }, 'f'.repeat(64));
  const last = hidden.body.session.access_token;
  t.deepEqual((await server.call('GET', status, { bearer: last })).body, { enabled: false });
});

test('a request lacks nothing but an address', async (t) => {
  const { server, phone, mailed } = await withMail(t);
  await turn(phone, true);
  for (const body of [{}, { email: '' }, { email: ' ' }]) {
    t.is((await server.call('POST', request, { body })).status, 400);
  }
  const answer = await server.call('POST', `${request}/`, { body: { username: ' ALICE@example.org ' } });
  t.deepEqual([answer.status, answer.body], [200, { emailed: true }]);
  await server.until(() => mailed().length === 1, 10_000);
});

test('an unknown address is asked for a mailed code in the same words, where there is mail', async (t) => {
  const { server, phone, params } = await withMail(t, { accounts: { plainAttemptsMax: 100 } });
  await turn(phone, true);
  const unknown = unknownAddress('emailed-code');
  const outline = async (factors: object, email?: string) => {
    const { status: code, body } = await params(factors, undefined, email);
    const { message, tag, payload } = body.error;
    return [code, message, tag, Object.keys(payload)];
  };
  for (const factors of [{}, { mfa_code: '000000' }, { magic_link_code: 'x' }, { app_password: 'x' }]) {
    t.deepEqual(await outline(factors, unknown), await outline(factors));
  }
  await server.restart({ mail: {} });
  t.notRegex((await params({}, undefined, unknown)).body.error.message, /email/i);
});
