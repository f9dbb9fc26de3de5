/** Attackers who know an address, against its owner. */
import test from 'ava';
import { createQueue } from '../../actors/queue.ts';
import { alice, challengeOf, headerSessions, register, signIn, tokensOf } from '../kit/account.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { until } from '../kit/until.ts';

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const wrong = { password: 'wrong' };
const minute = 60_000;

const askParams = (server: TestServer, verifier: string, address: string, email = alice.email) =>
  server.call('POST', '/v2/login-params', {
    body: { email, code_challenge: challengeOf(verifier) },
    ...from(address),
  });

/** Twelve failures from each network, as many as one may have. */
async function guessFrom(server: TestServer, networks: number, email = alice.email): Promise<number[]> {
  const statuses: number[] = [];
  for (let network = 1; network <= networks; network += 1) {
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push((await signIn(server, { ...wrong, email }, from(`198.51.100.${network}`))).status);
    }
  }
  return statuses;
}

const begin = (server: TestServer) => askParams(server, 'mine', '203.0.113.7');
const finish = (server: TestServer, address = '203.0.113.7') =>
  server.call('POST', '/v2/login', {
    body: { ...alice, code_verifier: 'mine', api: headerSessions },
    ...from(address),
  });

test('a stranger who stores challenges pushes out only their own', async (t) => {
  const server = await startServer(t);
  await register(server);
  await begin(server);
  for (let n = 0; n < 70; n += 1) await askParams(server, `${n}`, '198.51.100.1');
  t.is((await finish(server)).status, 200);
});

test('strangers of many networks who store challenges push out only their own', async (t) => {
  const server = await startServer(t);
  await register(server);
  await begin(server);
  for (let n = 0; n < 300; n += 1) await askParams(server, `${n}`, `198.51.${n >> 8}.${n & 255}`);
  t.is((await finish(server)).status, 200);
});

test('a caller from a new network keeps their challenge while one network stores hundreds', async (t) => {
  const server = await startServer(t);
  await register(server);
  await askParams(server, 'mine', '192.0.2.1');
  for (let n = 0; n < 300; n += 1) await askParams(server, `${n}`, '198.51.100.1');
  t.is((await finish(server, '192.0.2.1')).status, 200);
});

test('a verifier without a challenge is not counted as a wrong password', async (t) => {
  const server = await startServer(t);
  await register(server);
  for (let attempt = 0; attempt < 30; attempt += 1) {
    t.is((await finish(server)).status, 401);
  }
  t.is((await signIn(server)).status, 200);
});

test('a stranger who guesses locks out only themselves', async (t) => {
  const server = await startServer(t);
  await register(server);
  t.deepEqual(new Set(await guessFrom(server, 1)), new Set([401]));
  t.is((await signIn(server, {}, from('198.51.100.1'))).status, 423);
  t.is((await signIn(server)).status, 200);
  t.is((await signIn(server, {}, from('192.0.2.1'))).status, 200);
});

test('the guesses of all strangers together are bounded, and the owner gets in from home', async (t) => {
  const server = await startServer(t);
  await register(server);
  const statuses = await guessFrom(server, 10);
  t.is(statuses.filter((status) => status === 401).length, 60);
  t.is(statuses.filter((status) => status === 423).length, 60);
  t.is((await signIn(server)).status, 200);
});

test('strangers wait longer and longer, but never forever', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 3 } });
  await register(server);
  const guess = async (n: number) => (await signIn(server, wrong, from(`198.51.100.${n}`))).status;
  for (let n = 0; n < 3; n += 1) t.is(await guess(n), 401);
  for (const [index, waitMs] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    await server.advance(waitMs * minute - 1);
    t.is(await guess(100 + index), 423, `${waitMs}`);
    await server.advance(1);
    t.is(await guess(100 + index), 401, `${waitMs}`);
  }
  await server.advance(24 * 60 * minute);
  for (let n = 0; n < 3; n += 1) t.is(await guess(n), 401);
});

test('a right password gives strangers back only its own attempt, and its network is known from then on', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 3 } });
  await register(server);
  t.is((await signIn(server, wrong, from('198.51.100.1'))).status, 401);
  t.is((await signIn(server, wrong, from('198.51.100.2'))).status, 401);
  t.is((await signIn(server, {}, from('192.0.2.1'))).status, 200);
  t.is((await signIn(server, wrong, from('198.51.100.3'))).status, 401);
  t.is((await signIn(server, wrong, from('198.51.100.4'))).status, 423);
  t.is((await signIn(server, {}, from('192.0.2.1'))).status, 200);
  t.is((await signIn(server, {}, from('192.0.2.2'))).status, 423);
});

test('known networks outlive the counters, a restart and a sleep', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 1 } });
  await register(server);
  await server.advance(48 * 60 * minute);
  await server.restart();
  t.is((await signIn(server, wrong, from('198.51.100.1'))).status, 401);
  t.is((await signIn(server, wrong, from('198.51.100.2'))).status, 423);
  t.is((await signIn(server)).status, 200);
});

test('a registration with an address that somebody has asked for is known at home as if nobody had', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 1 } });
  await askParams(server, 'early', '198.51.100.1');
  await server.advance(2 * 60 * minute);
  await register(server);
  await server.advance(minute);
  t.is((await signIn(server, wrong, from('198.51.100.1'))).status, 401);
  t.is((await signIn(server, wrong, from('198.51.100.2'))).status, 423);
  t.is((await signIn(server)).status, 200);
});

test('all addresses of an IPv6 network are one stranger', async (t) => {
  const server = await startServer(t);
  await register(server);
  for (let n = 0; n < 12; n += 1) {
    t.is((await signIn(server, wrong, from(`2001:db8:0:1::${n + 1}`))).status, 401);
  }
  t.is((await signIn(server, {}, from('2001:db8:0:1::9999'))).status, 423);
  t.is((await signIn(server, {}, from('2001:db8:0:2::1'))).status, 200);
});

test('strangers see no difference between a registered address and an unregistered one', async (t) => {
  const server = await startServer(t);
  await register(server);
  t.deepEqual(await guessFrom(server, 7), await guessFrom(server, 7, 'nobody@example.org'));
});

test('a locked address says so before any field is looked at', async (t) => {
  const server = await startServer(t);
  await register(server);
  await guessFrom(server, 1);
  const complete = { ...alice, code_verifier: 'x', api: headerSessions };
  const without = ['password', 'code_verifier', 'api'].flatMap((field) => [
    { [field]: undefined },
    { [field]: null },
    { [field]: '' },
  ]);
  for (const fields of [...without, { api: '19700101' }]) {
    const body = { ...complete, ...fields };
    for (const path of ['/v2/login', '/v1/login']) {
      const locked = await server.call('POST', path, { body, ...from('198.51.100.1') });
      t.is(locked.status, 423, JSON.stringify(fields));
      t.is((await server.call('POST', path, { body })).status, 401, JSON.stringify(fields));
    }
  }
});

test('a locked address says so before any field of a recovery is looked at', async (t) => {
  const server = await startServer(t);
  await register(server);
  await guessFrom(server, 1);
  const complete = { username: alice.email, password: 'x', code_verifier: 'x', api: headerSessions };
  const body = { ...complete, code_challenge: 'x', recovery_codes: 'x' };
  for (const path of ['/v1/recovery/login', '/v1/recovery/login-params']) {
    for (const field of ['nothing', 'password', 'code_verifier', 'api', 'recovery_codes']) {
      const lacking = { ...body, [field]: undefined };
      const locked = await server.call('POST', path, { body: lacking, ...from('198.51.100.1') });
      t.is(locked.status, 423, field);
      const refused = await server.call('POST', path, { body: lacking });
      t.is(refused.status, 401, field);
      t.deepEqual(refused.body, { error: { message: 'Invalid login credentials.' } });
    }
  }
});

test('a right password whose answer is lost gives strangers back only its own attempt', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 3 } });
  await register(server);
  for (const n of [1, 2]) t.is((await signIn(server, wrong, from(`198.51.100.${n}`))).status, 401);
  const lost = server.transport.loseReplyTo('login');
  const signedIn = signIn(server, {}, from('192.0.2.1'));
  await lost;
  t.is((await server.answered(signedIn)).status, 200);
  t.is((await signIn(server, wrong, from('198.51.100.3'))).status, 401);
  t.is((await signIn(server, wrong, from('198.51.100.4'))).status, 423);
});

test('a guess that passes gives its attempt back once, also if its answer is lost', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 2, captchaAttemptsMax: 1 } });
  await register(server);
  const stranger = from('198.51.100.1');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    t.is((await signIn(server, wrong, stranger)).status, 401);
  }
  const lost = server.transport.loseReplyTo('loginParams');
  // The account has no second factor, so any code passes.
  const body = { email: alice.email, code_challenge: challengeOf('mine'), mfa_code: '000000' };
  const passed = server.call('POST', '/v2/login-params', { body, ...stranger });
  await lost;
  t.is((await server.answered(passed)).status, 200);
  t.is((await signIn(server, wrong, stranger)).status, 401);
  t.is((await signIn(server, wrong, stranger)).status, 423);
});

test('the captcha provider is asked no more often than there are attempts', async (t) => {
  let calls = 0;
  const captcha = {
    passes: async (token?: string) => {
      if (token !== undefined && token !== '') calls += 1;
      return token === 'solved';
    },
  };
  const server = await startServer(t, { captcha, captchaUiUrl: 'https://captcha.example.org' });
  await register(server, { hvm_token: 'solved' });
  calls = 0;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    await signIn(server, { ...wrong, hvm_token: 'made up' }, from('198.51.100.1'));
    const body = { ...alice, code_verifier: 'none', api: headerSessions, hvm_token: 'made up' };
    await server.call('POST', '/v2/login', { body, ...from('198.51.100.2') });
  }
  t.is(calls, 6);
});

test('an attempt without the captcha it needs is not counted', async (t) => {
  const captcha = { passes: async (token?: string) => token === 'solved' };
  const server = await startServer(t, { captcha });
  await register(server, { hvm_token: 'solved' });
  for (let attempt = 0; attempt < 20; attempt += 1) t.is((await signIn(server, wrong)).status, 401);
  t.is((await signIn(server, { hvm_token: 'solved' })).status, 200);
});

test('a device that has signed in is let through anywhere, and has only its own attempts', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 1 } });
  const registered = await register(server);
  const phone = tokensOf(await signIn(server, {}, from('192.0.2.1')));
  await server.advance(24 * 60 * minute);
  t.is((await signIn(server, wrong, from('198.51.100.1'))).status, 401);
  t.is((await signIn(server, {}, from('198.51.100.2'))).status, 423);
  for (const { cookie } of [registered, phone]) {
    t.is((await signIn(server, {}, { ...from('198.51.100.2'), cookie })).status, 200);
  }
  for (let n = 0; n < 12; n += 1) {
    const guess = { ...from(`198.51.100.${n}`), cookie: phone.cookie };
    t.is((await signIn(server, wrong, guess)).status, 401);
  }
  t.is((await signIn(server, {}, { ...from('198.51.100.99'), cookie: phone.cookie })).status, 423);
  t.is((await signIn(server, {}, { ...from('198.51.100.99'), cookie: registered.cookie })).status, 200);
});

test('a made-up cookie, or that of another account, is a stranger’s', async (t) => {
  const server = await startServer(t, { accounts: { unknownOriginAttemptsMax: 1 } });
  await register(server);
  const mallory = await register(server, { email: 'mallory@example.org' });
  t.is((await signIn(server, wrong, from('198.51.100.1'))).status, 401);
  const madeUp = 'access_token_11111111-1111-4111-8111-111111111111=x';
  for (const cookie of [mallory.cookie, madeUp]) {
    for (let n = 0; n < 3; n += 1) {
      t.is((await signIn(server, wrong, { ...from(`198.51.100.${n}`), cookie })).status, 423);
    }
  }
});

test('a known owner takes the room of a crowd of strangers, each from a network of its own', async (t) => {
  const server = await startServer(t);
  await register(server);
  await begin(server);
  const crowd = [1, 2, 3, 4].map((n) => `198.51.100.${n}`);
  const inTurn = createQueue({ concurrent: 1, waiting: crowd.length }, 'full');
  server.hasher.queue = inTurn;
  let release = () => {};
  void inTurn(() => new Promise<void>((resolve) => (release = resolve)), undefined, ['first']);
  const before = server.hasher.verifications;
  const body = { ...alice, code_verifier: 'none', api: headerSessions };
  const guesses = crowd.map((address) => server.call('POST', '/v2/login', { body, ...from(address) }));
  await until(() => server.hasher.verifications === before + crowd.length);
  const owner = finish(server);
  await until(() => server.hasher.verifications === before + crowd.length + 1);
  release();
  // A refused attempt is repeated later, and the clock stands still.
  const first = await Promise.race([owner, Promise.all(guesses).then(() => undefined)]);
  t.is(first?.status, 200);
  await server.answered(Promise.all(guesses));
});
