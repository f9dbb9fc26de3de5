/** Anonymous clients who request mailed codes, or guess them. */
import { inspect } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { challengeOf } from '../kit/account.ts';
import { FakeClock } from '../kit/clock.ts';
import type { Device } from '../kit/device.ts';
import { ModelDatabase, ModelStore } from '../kit/model-store/model-store.ts';
import { Postbox } from '../kit/postbox.ts';
import { type ServerOptions, startServer } from '../kit/server.ts';

const home = '192.0.2.1';
const stranger = (n: number) => `198.51.100.${n}`;
const minuteMs = 60_000;

async function withEmailedCodes(t: ExecutionContext, options: ServerOptions = {}) {
  const postbox = new Postbox();
  const from = { name: 'Notes', address: 'notes@home.test' };
  const server = await startServer(t, {
    mail: { host: '127.0.0.1', from },
    mailSender: postbox,
    ...options,
  });
  const phone = await server.device();
  await phone.another({}, { headers: { 'x-forwarded-for': home } });
  const turnOn = (device: Device) =>
    device.call('POST', '/v1/mfa/magic-link/status', { body: { enabled: true } });
  t.is((await turnOn(phone)).status, 200);
  const ask = (address: string, email = phone.account.email) =>
    server.call('POST', '/v1/mfa/magic-link/request', {
      body: { email },
      headers: { 'x-forwarded-for': address },
    });
  // The owner also gets mails about unknown devices.
  const codes = () => postbox.messages.flatMap(({ text }) => /: (\d{6})$/m.exec(text)?.[1] ?? []);
  return {
    server,
    phone,
    ask,
    codes,
    async codeFor(address: string): Promise<string> {
      const before = codes().length;
      t.is((await ask(address)).status, 200);
      await server.until(() => codes().length > before, 10_000);
      return codes().at(-1) ?? '';
    },
    async guess(address: string, mfa_code: string): Promise<number> {
      const body = { email: phone.account.email, code_challenge: challengeOf('mine'), mfa_code };
      const headers = { 'x-forwarded-for': address };
      return (await server.call('POST', '/v2/login-params', { body, headers })).status;
    },
  };
}

test('a stranger who asks for codes or guesses undoes no code of the owner', async (t) => {
  const { codeFor, guess } = await withEmailedCodes(t);
  const mine = await codeFor(home);
  await codeFor(stranger(1));
  for (let time = 0; time < 5; time += 1) t.is(await guess(stranger(1), '000000'), 401);
  t.is(await guess(home, mine), 200);
});

test('strangers of many networks undo no code of a known network', async (t) => {
  const { server, ask, codeFor, guess } = await withEmailedCodes(t);
  const mine = await codeFor(home);
  for (let n = 0; n < 20; n += 1) t.is((await ask(stranger(n))).status, 200);
  for (let n = 20; n < 90; n += 1) t.is((await ask(stranger(n))).status, 429);
  await server.advance(1_000);
  t.is(await guess(home, mine), 200);
});

test('guesses are counted with all others, and are refused when there were too many', async (t) => {
  const { codeFor, guess } = await withEmailedCodes(t, {
    accounts: { plainAttemptsMax: 3, captchaAttemptsMax: 2 },
  });
  for (let time = 0; time < 3; time += 1) t.is(await guess(stranger(1), `00000${time}`), 401);
  const code = await codeFor(stranger(1));
  for (let time = 0; time < 2; time += 1) t.is(await guess(stranger(1), `11111${time}`), 401);
  t.is(await guess(stranger(1), code), 423);
  t.is(await guess(home, await codeFor(home)), 200);
});

test('one of two sign-ins with one code at the same moment passes', async (t) => {
  const { codeFor, guess } = await withEmailedCodes(t);
  const code = await codeFor(home);
  const passed = await Promise.all([guess(home, code), guess(home, code), guess(home, code)]);
  t.deepEqual(passed.toSorted(), [200, 401, 401]);
});

test('requests for any address are answered and limited alike, and only an owner who wants it gets mail', async (t) => {
  const { server, phone, ask, codes } = await withEmailedCodes(t);
  const plain = await server.device('bob@example.org');
  const addresses = [phone.account.email, plain.account.email, 'nobody@example.org', 'f'.repeat(64)];
  const answers = await Promise.all(
    addresses.map(async (email) => {
      const ofThese: unknown[] = [];
      for (let time = 0; time < 6; time += 1) {
        const { status, text, headers } = await ask(stranger(1), email);
        ofThese.push([status, text, headers.get('retry-after')]);
      }
      return ofThese;
    }),
  );
  for (const of of answers) t.deepEqual(of, answers[0]);
  t.like(answers[0]?.[4], [200]);
  t.like(answers[0]?.[5], [429]);
  await server.advance(minuteMs);
  t.is(codes().length, 5);
  await server.advance(60 * minuteMs);
  t.is((await ask(stranger(1))).status, 200, 'an hour later');
});

test('the mails that strangers have sent to an owner are few, and the owner still gets theirs', async (t) => {
  const { server, ask, codes } = await withEmailedCodes(t);
  for (let n = 0; n < 40; n += 1) await ask(stranger(n));
  await server.advance(minuteMs);
  t.is(codes().length, 20);
  t.is((await ask(home)).status, 200);
  await server.until(() => codes().length === 21, 10_000);
});

test('no code that was mailed is in the database', async (t) => {
  const clock = new FakeClock();
  let written = '';
  class WatchedStore extends ModelStore {
    override commit(...args: Parameters<ModelStore['commit']>): ReturnType<ModelStore['commit']> {
      written += inspect(args, { depth: null, maxStringLength: null, maxArrayLength: null });
      return super.commit(...args);
    }
  }
  const { codeFor, guess } = await withEmailedCodes(t, {
    host: { clock, store: new WatchedStore(new ModelDatabase(clock)) },
  });
  const code = await codeFor(home);
  t.is(await guess(home, code), 200);
  t.true(written.includes('codeRequested'));
  t.false(new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`).test(written));
});

test('the codes of an address end when the account leaves it, and do not come back with it', async (t) => {
  const { server, phone, codeFor, guess } = await withEmailedCodes(t);
  const code = await codeFor(home);
  const { email, password, userUuid } = phone.account;
  let bearer = phone.account.access;
  for (const new_email of ['alice@other.example', email]) {
    const keys = { current_password: password, new_password: password, pw_nonce: 'n', api: '20200115' };
    const path = `/v1/users/${userUuid}/attributes/credentials`;
    const changed = await server.call('PUT', path, { bearer, body: { ...keys, new_email } });
    t.is(changed.status, 200, changed.text);
    bearer = changed.body.session.access_token;
    await server.advance(1_000);
  }
  t.is(await guess(home, code), 401);
});
