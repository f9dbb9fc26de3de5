/**
 * Whether the time of an answer reveals that an address is known. The benchmark asks for known and unknown addresses in turn, so
 * that other load on the machine affects all alike.
 *
 * npm run build && node --import=tsx benchmarks/timing.ts [--samples 600]
 *
 * The answer itself says whether an address has a second factor, and the server makes one up for about half of the unknown ones. So
 * each account is compared with an unknown address that is answered in the same way. The benchmark prints the medians and how
 * often the unknown address is the slower one of a pair. A value of 0.5 reveals nothing. It also prints the deviation that chance
 * alone makes at that many samples.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { generateSync } from 'otplib';
import { countLeading } from '../test/kit/sorted.ts';
import { type Account, ask, headerSessions, register } from './support/api-client.ts';
import { median } from './support/figures.ts';
import { numberOptions } from './support/options.ts';
import { startBuiltServer } from './support/server.ts';

const { samples } = numberOptions({ samples: 600 });
const addressesOfEach = 40;
/** In another network than the one from which the accounts registered, which counts as known to them. */
const localAddress = '127.7.7.7';
const agent = new Agent({ keepAlive: true });

/** The other steps of a sign-in, each with a wrong value. */
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

interface Address {
  readonly email: string;
  readonly userUuid: string;
}

interface Probe {
  readonly path: string;
  readonly body: (address: Address) => object;
}

/** Addresses that are answered in the same way. */
interface Pair {
  readonly kind: string;
  readonly known: readonly Address[];
  readonly unknown: readonly Address[];
}

const paramsPath = '/v2/login-params';
const paramsOf = ({ email }: Address) => ({ api: headerSessions, email, code_challenge: challenge() });

// The accounts have to answer every sample, so none may meet a limit.
const server = await startBuiltServer({
  MAX_LOGIN_ATTEMPTS: '1000',
  MAX_CAPTCHA_LOGIN_ATTEMPTS: '1000',
  MAX_STRANGER_LOGIN_ATTEMPTS: '100000',
});
try {
  const pairs: readonly Pair[] = [
    {
      kind: 'password alone',
      known: await all(() => register(server.url)),
      unknown: await all(() => unknownAddress(isLetOn)),
    },
    {
      kind: 'authenticator app',
      known: await all(withAuthenticatorApp),
      unknown: await all(() => unknownAddress(isAskedForCode)),
    },
  ];
  await compare('login-params', pairs, { path: paramsPath, body: paramsOf });
  for (const { title, path, fields } of failing)
    await compare(title, pairs, { path, body: ({ email }) => fields(email) });
  const lookup = {
    path: '/v1/account-recovery/lookup',
    body: ({ userUuid }: Address) => ({ user_uuid: userUuid }),
  };
  await compare('recovery look-up', pairs.slice(0, 1), lookup);
} finally {
  await server.stop();
}

function all<T>(make: () => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: addressesOfEach }, make));
}

/** An address without an account, whose `login-params` has the expected answer. */
async function unknownAddress(isExpected: (status: number, text: string) => boolean): Promise<Address> {
  for (;;) {
    const address = { email: `${randomUUID()}@load.test`, userUuid: randomUUID() };
    const { status, text } = await send({ path: paramsPath, body: paramsOf }, address);
    if (isExpected(status, text)) return address;
  }
}

function isLetOn(status: number): boolean {
  return status === 200;
}

function isAskedForCode(status: number, text: string): boolean {
  return status === 401 && text.includes('two-factor authentication code');
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

async function compare(title: string, pairs: readonly Pair[], probe: Probe): Promise<void> {
  const all = pairs.flatMap(({ known, unknown }) => [known, unknown]);
  const times = all.map((): number[] => []);
  for (let round = -addressesOfEach; round < samples; round += 1) {
    // Each is the first of a round as often as the others, since the first one takes longer.
    const turn = (round + addressesOfEach) % all.length;
    const inTurn = [...all.entries()];
    for (const [index, addresses] of [...inTurn.slice(turn), ...inTurn.slice(0, turn)]) {
      const ms = await timeOf(probe, addresses[(round + addressesOfEach) % addressesOfEach] as Address);
      // The first request for each address fetches what the others find in memory.
      if (round >= 0) times[index]?.push(ms);
    }
  }
  console.log(`\n${title}, ${samples} samples of each`);
  for (const [index, { kind }] of pairs.entries()) {
    const [known = [], unknown = []] = times.slice(2 * index);
    const medians = `${median(known).toFixed(3)} ms, nobody ${median(unknown).toFixed(3)} ms`;
    const slower = shareOfSlower(unknown, known).toFixed(3);
    console.log(`  ${kind.padEnd(18)} p50 of an account ${medians}  nobody slower in ${slower} of pairs`);
  }
  console.log(`  by chance: 0.5 ± ${(2 / Math.sqrt(6 * samples)).toFixed(3)} (two standard deviations)`);
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

function send({ path, body }: Probe, address: Address): Promise<Reply> {
  const text = JSON.stringify(body(address));
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      { method: 'POST', agent, localAddress, headers },
      (reply) => {
        let received = '';
        reply.setEncoding('utf8');
        reply.on('data', (part: string) => {
          received += part;
        });
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: received }));
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

async function timeOf(probe: Probe, address: Address): Promise<number> {
  const startMs = performance.now();
  await send(probe, address);
  return performance.now() - startMs;
}

/** Over all pairs of a sample of each (Mann and Whitney). */
function shareOfSlower(samplesOfOne: readonly number[], others: readonly number[]): number {
  const sorted = others.toSorted((a, b) => a - b);
  let slower = 0;
  for (const ms of samplesOfOne) slower += countLeading(sorted, (other) => other < ms);
  return slower / (samplesOfOne.length * sorted.length);
}
