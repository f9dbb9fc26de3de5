/**
 * An attacker could measure the work behind an answer. Once the actors of both are in memory, answers to a known and to an unknown
 * address take equally many statements, asks and turns. The times themselves vary with the load of the machine.
 */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { noMetrics, type RuntimeMetrics } from '../../runtime/host/runtime-metrics.ts';
import { challengeOf, headerSessions } from '../kit/account.ts';
import { addAuthenticatorApp } from '../kit/authenticator-app.ts';
import type { Device } from '../kit/device.ts';
import { SecurityKey } from '../kit/security-key.ts';
import { startServer, type TestServer, unknownAddress } from '../kit/server.ts';

type Factor = 'totp' | 'security-key' | 'emailed-code' | undefined;

const background = new Set([
  'renew',
  'shards',
  'nodes',
  'pendingTells',
  'dueTimers',
  'timeMs',
  'expireNodes',
]);

/** Turns that are no step of a call. */
const afterAnswer = /\.(tell|timer|job)\./;

async function countingServer(t: ExecutionContext) {
  const statements: string[] = [];
  let turns = 0;
  const metrics: RuntimeMetrics = {
    ...noMetrics,
    turn(what) {
      if (!afterAnswer.test(what)) turns += 1;
    },
  };
  const schedule = async <T>(method: string, apply: () => T): Promise<T> => {
    await undefined;
    if (!background.has(method)) statements.push(method);
    return apply();
  };
  const server = await startServer(t, {
    accounts: { plainAttemptsMax: 1_000, unknownOriginAttemptsMax: 1_000 },
    mail: { host: '127.0.0.1', from: { name: '', address: 'notes@home.test' } },
    host: { schedule, metrics },
  });
  /** The database statements before the actor had its answer: nobody can observe the later ones. */
  let untilAnswered: readonly string[] = [];
  const ask = server.transport.ask.bind(server.transport);
  server.transport.ask = async (call) => {
    const reply = await ask(call);
    untilAnswered = [...statements];
    return reply;
  };
  /** The statements, the asks and the turns of one call, the third of its kind. */
  async function costOf(path: string, body: () => object) {
    const headers = { 'x-forwarded-for': '198.51.100.1' };
    const ask = () => server.call('POST', path, { body: body(), headers });
    for (let time = 0; time < 2; time += 1) {
      await ask();
      await server.advance(1_000);
    }
    statements.length = 0;
    const countBefore = server.transport.commands.length;
    turns = 0;
    const { status } = await ask();
    return { status, statements: untilAnswered, asks: server.transport.commands.slice(countBefore), turns };
  }
  return { server, costOf };
}

async function turnOn(server: TestServer, device: Device, factor: Factor): Promise<void> {
  if (factor === 'totp') await addAuthenticatorApp(server, device);
  if (factor === 'emailed-code') {
    await device.call('POST', '/v1/mfa/magic-link/status', { body: { enabled: true } });
  }
  if (factor === 'security-key') {
    const path = '/v1/authenticators';
    const { options } = (await device.call('GET', `${path}/generate-registration-options`)).body;
    const body = { attestationResponse: new SecurityKey().register(options.challenge) };
    await device.call('POST', `${path}/verify-registration`, { body });
  }
}

for (const factor of [undefined, 'totp', 'security-key', 'emailed-code'] as const) {
  test(`asking for key params takes the same work, known or not, with ${factor ?? 'no'} factor`, async (t) => {
    const { server, costOf } = await countingServer(t);
    const known = await server.device();
    await turnOn(server, known, factor);
    for (const input of [
      {},
      { mfa_code: '000000' },
      { magic_link_code: '000000' },
      { app_password: 'x' },
      { trusted_device_token: 'x' },
      { authenticator_response: { id: 'x' } },
      { mfa_approval_challenge_id: 'x' },
    ]) {
      const cost = (email: string) =>
        costOf('/v2/login-params', () => ({ email, code_challenge: challengeOf(randomUUID()), ...input }));
      const ofKnown = await cost(known.account.email);
      t.deepEqual(await cost(unknownAddress(factor)), ofKnown, JSON.stringify(input));
      t.false(ofKnown.statements.includes('activate'));
    }
  });
}

test('so does a wrong assertion of a key that was offered, signature included', async (t) => {
  const { server, costOf } = await countingServer(t);
  const known = await server.device();
  await turnOn(server, known, 'security-key');
  let verified = 0;
  const { subtle } = globalThis.crypto;
  const verify = subtle.verify.bind(subtle);
  subtle.verify = (...what: Parameters<typeof verify>) => {
    verified += 1;
    return verify(...what);
  };
  t.teardown(() => Reflect.deleteProperty(subtle, 'verify'));
  // Of one network only the newest offer counts.
  const offer = async (username: string, network: number) => {
    const path = '/v1/authenticators/generate-authentication-options';
    const headers = { 'x-forwarded-for': `198.51.${network}.1` };
    return (await server.call('POST', path, { body: { username }, headers })).body.options;
  };
  const cost = async (email: string) => {
    const offers = [await offer(email, 1), await offer(email, 2), await offer(email, 3)];
    verified = 0;
    const { statements, ...work } = await costOf('/v2/login-params', () => {
      const { challenge, allowCredentials } = offers.pop() ?? (t.fail() as never);
      const [{ id }] = allowCredentials;
      const authenticator_response = { ...new SecurityKey().sign(challenge), id, rawId: id };
      return { email, code_challenge: challengeOf(randomUUID()), authenticator_response };
    });
    return { ...work, statements, verified };
  };
  const ofKnown = await cost(known.account.email);
  t.is(ofKnown.status, 401);
  t.true(ofKnown.verified > 0);
  t.deepEqual(await cost(unknownAddress('security-key')), ofKnown);
});

test('so does having a code mailed', async (t) => {
  const { server, costOf } = await countingServer(t);
  const known = await server.device();
  await turnOn(server, known, 'emailed-code');
  const cost = (email: string) => costOf('/v1/mfa/magic-link/request', () => ({ email }));
  const ofKnown = await cost(known.account.email);
  t.is(ofKnown.status, 200);
  t.deepEqual(await cost('nobody@example.org'), ofKnown);
});

test('so does having a subscription token mailed', async (t) => {
  const { server, costOf } = await countingServer(t);
  const known = await server.device();
  const cost = (email: string) => costOf('/v1/offline/subscription-tokens', () => ({ email }));
  const ofKnown = await cost(known.account.email);
  t.is(ofKnown.status, 200);
  t.deepEqual(await cost('nobody@example.org'), ofKnown);
});

test('so does looking up what was left for a recovery, by a uuid', async (t) => {
  const { server, costOf } = await countingServer(t);
  const known = await server.device();
  const cost = (user_uuid: string) => costOf('/v1/account-recovery/lookup', () => ({ user_uuid }));
  const ofKnown = await cost(known.account.userUuid);
  t.is(ofKnown.status, 404);
  t.deepEqual(await cost(randomUUID()), ofKnown);
  t.false(ofKnown.statements.includes('activate'));
});

test('so does every other step of a sign-in that fails', async (t) => {
  const { server, costOf } = await countingServer(t);
  const known = await server.device();
  const steps: readonly (readonly [string, (email: string) => object])[] = [
    ['/v1/authenticators/generate-authentication-options', (username) => ({ username })],
    [
      '/v2/login',
      (email) => ({ email, password: 'wrong', code_verifier: randomUUID(), api: headerSessions }),
    ],
    [
      '/v1/recovery/login-params',
      (username) => ({ username, code_challenge: challengeOf(randomUUID()), recovery_codes: 'AAAA' }),
    ],
    [
      '/v1/recovery/login',
      (username) => ({
        username,
        password: 'wrong',
        code_verifier: randomUUID(),
        recovery_codes: 'AAAA',
        api: headerSessions,
      }),
    ],
  ];
  for (const [path, body] of steps) {
    const ofKnown = await costOf(path, () => body(known.account.email));
    t.deepEqual(await costOf(path, () => body('nobody@example.org')), ofKnown, path);
    t.false(ofKnown.statements.includes('activate'), path);
  }
});
