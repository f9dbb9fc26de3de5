/**
 * Whether the time of an answer reveals anything about an address. The benchmark tries known and unknown ones, with
 * and without second factors, in turn, so that other load on the machine affects all alike.
 *
 * npm run build && node --import=tsx benchmarks/timing.ts [--samples 600]
 *
 * It prints the median and, compared with the first of each group, how often a sample is the slower one of a pair. A
 * value of 0.5 reveals nothing. It also prints the deviation that chance alone makes at that many samples.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { generateSync } from 'otplib';
import { type Account, ask, headerSessions, register } from './support/api-client.ts';
import { startBuiltServer } from './support/server.ts';
import { median } from './support/statistics.ts';

const { values } = parseArgs({ options: { samples: { type: 'string', default: '600' } } });
const samples = Number(values.samples);
const addressesOfEach = 40;

/** Every other step of a sign-in, each with a wrong value. */
const failing: readonly {
  readonly title: string;
  readonly path: string;
  readonly fields: (email: string) => object;
}[] = [
  {
    title: 'a wrong code',
    path: '/v2/login-params',
    fields: (email) => ({ email, code_challenge: challenge(), mfa_code: '000000' }),
  },
  {
    title: 'a wrong app password',
    path: '/v2/login-params',
    fields: (email) => ({ email, code_challenge: challenge(), app_password: 'wrong' }),
  },
  {
    title: 'a wrong password',
    path: '/v2/login',
    fields: (email) => ({ email, password: 'wrong', code_verifier: challenge(), api: headerSessions }),
  },
  {
    title: 'options of security keys',
    path: '/v1/authenticators/generate-authentication-options',
    fields: (username) => ({ username }),
  },
  {
    title: 'wrong recovery codes',
    path: '/v1/recovery/login-params',
    fields: (username) => ({ username, code_challenge: challenge(), recovery_codes: 'AAAA' }),
  },
];

interface Probe {
  readonly name: string;
  readonly path: string;
  readonly body: (round: number) => object;
}

// The account must answer every sample, and no limit may.
const server = await startBuiltServer({
  MAX_LOGIN_ATTEMPTS: '1000',
  MAX_CAPTCHA_LOGIN_ATTEMPTS: '1000',
  MAX_STRANGER_LOGIN_ATTEMPTS: '100000',
});
try {
  const plain = await Promise.all(Array.from({ length: addressesOfEach }, () => register(server.url)));
  const guarded = await Promise.all(Array.from({ length: addressesOfEach }, withAuthenticatorApp));
  const nobody = Array.from({ length: addressesOfEach }, () => ({ email: `${randomUUID()}@load.test` }));
  const params = (accounts: readonly { readonly email: string }[]) => (round: number) => ({
    api: headerSessions,
    email: accounts[round % accounts.length]?.email,
    code_challenge: challenge(),
  });
  const escrow = (uuids: readonly string[]) => (round: number) => ({
    user_uuid: uuids[round % uuids.length],
  });
  await compare('login-params', [
    { name: 'an account', path: '/v2/login-params', body: params(plain) },
    { name: 'an account with a second factor', path: '/v2/login-params', body: params(guarded) },
    { name: 'nobody', path: '/v2/login-params', body: params(nobody) },
  ]);
  for (const { title, path, fields } of failing) {
    const body = (accounts: readonly { readonly email: string }[]) => (round: number) =>
      fields(accounts[round % accounts.length]?.email ?? '');
    await compare(title, [
      { name: 'an account', path, body: body(plain) },
      { name: 'an account with a second factor', path, body: body(guarded) },
      { name: 'nobody', path, body: body(nobody) },
    ]);
  }
  await compare('recovery look-up', [
    {
      name: 'an account',
      path: '/v1/account-recovery/lookup',
      body: escrow(plain.map((each) => each.userUuid)),
    },
    { name: 'nobody', path: '/v1/account-recovery/lookup', body: escrow(nobody.map(() => randomUUID())) },
  ]);
} finally {
  await server.stop();
}

function challenge(): string {
  return randomBytes(32).toString('base64url');
}

async function withAuthenticatorApp(): Promise<Account> {
  const account = await register(server.url);
  const path = `/v1/users/${account.userUuid}`;
  const { secret } = (await ask(server.url, 'GET', `${path}/mfa-secret`, account)) as { secret: string };
  const body = { name: 'MFA_SECRET', value: secret, totpToken: generateSync({ secret }) };
  await ask(server.url, 'PUT', `${path}/settings`, account, body);
  return account;
}

async function compare(title: string, probes: readonly Probe[]): Promise<void> {
  const times = probes.map((): number[] => []);
  for (let round = -addressesOfEach; round < samples; round += 1) {
    // Each is the first of a round as often as the others, since the first one takes longer.
    const turn = (round + addressesOfEach) % probes.length;
    const inTurn = [...probes.entries()];
    for (const [index, probe] of [...inTurn.slice(turn), ...inTurn.slice(0, turn)]) {
      const ms = await timeOf(probe, round + addressesOfEach);
      // The first request for each address fetches what the others find in memory.
      if (round >= 0) times[index]?.push(ms);
    }
  }
  console.log(`\n${title}, ${samples} samples of each`);
  const [first = []] = times;
  for (const [index, { name }] of probes.entries()) {
    const own = times[index] ?? [];
    const slower =
      index === 0 ? '' : `  slower than the first in ${shareOfSlower(own, first).toFixed(3)} of pairs`;
    console.log(`  ${name.padEnd(34)} p50 ${median(own).toFixed(3)} ms${slower}`);
  }
  console.log(`  by chance: 0.5 ± ${(2 / Math.sqrt(6 * samples)).toFixed(3)} (two standard deviations)`);
}

async function timeOf({ path, body }: Probe, round: number): Promise<number> {
  const text = JSON.stringify(body(round));
  const startMs = performance.now();
  const reply = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  await reply.arrayBuffer();
  return performance.now() - startMs;
}

/** Over all pairs of a sample of each (Mann and Whitney). */
function shareOfSlower(samplesOfOne: readonly number[], others: readonly number[]): number {
  const sorted = others.toSorted((a, b) => a - b);
  let slower = 0;
  for (const ms of samplesOfOne) {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) < ms) low = middle + 1;
      else high = middle;
    }
    slower += low;
  }
  return slower / (samplesOfOne.length * sorted.length);
}
