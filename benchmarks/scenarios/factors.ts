/**
 * Sign-ins with an authenticator app and with a security key compared with bare ones, reads of settings, and refused
 * look-ups of escrows. A code counts once, so each user signs in once.
 */
import { generateSync } from 'otplib';
import { SecurityKey } from '../../test/kit/security-key.ts';
import { requestBytes, runLoad } from '../http-load.ts';
import { type Account, ask, post, register, signIn, sync } from '../support/api-client.ts';
import { syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';

const usersOfEach = 48;
const atOnce = 16;
const load = { connections: 16, durationMs: 4_000, warmupMs: 500 };
/** Few, so that the figure shows the delay and not a saturated machine. */
const syncConnections = 2;

export async function factors(server: LoadServer) {
  const { url } = server;
  const bare = await prepared(() => register(url));
  const withApp = await prepared(() => withAuthenticatorApp(url));
  const withKey = await prepared(() => withSecurityKey(url));
  const [first] = bare;
  if (first === undefined) throw new Error('no account');
  return {
    'bare sign-ins/s': await rateOf(bare, (account) => signIn(url, account)),
    'sign-ins with an app/s': await rateOf(withApp, ({ account, secret }) =>
      signIn(url, account, () => ({ mfa_code: codeOf(secret, 1) })),
    ),
    'sign-ins with a key/s': await rateOf(withKey, ({ account, key }) =>
      signIn(url, account, async () => ({ authenticator_response: await assertion(url, account, key) })),
    ),
    ...(await settingReads(server, first)),
    ...(await refusedLookUps(server, first)),
  };
}

async function settingReads({ url, pid }: LoadServer, account: Account) {
  const path = new URL(`/v1/users/${account.userUuid}/settings`, url);
  const request = requestBytes('GET', path, { authorization: `Bearer ${account.accessToken}` });
  const reads = await runLoad({ ...at(url), ...load, pid, request: () => request });
  return {
    'reads of settings/s': reads.repliesPerSecond,
    'CPU us each': reads.cpuMicrosPerReply,
  };
}

async function refusedLookUps({ url }: LoadServer, account: Account) {
  const { sync_token } = await sync(url, account, {});
  const idle = syncBytes(url, account, { items: [], sync_token });
  const syncs = { ...at(url), ...load, connections: syncConnections, request: () => idle };
  const path = new URL('/v1/account-recovery/lookup', url);
  const lookUp = requestBytes('POST', path, {}, JSON.stringify({ user_uuid: account.userUuid }));
  const alone = await runLoad(syncs);
  const [beside, lookUps] = await Promise.all([
    runLoad(syncs),
    runLoad({ ...at(url), ...load, request: () => lookUp }),
  ]);
  if (lookUps.statuses[200] !== undefined) throw new Error('a look-up found what nobody had stored');
  return {
    'refused look-ups/s': lookUps.repliesPerSecond,
    'idle sync alone, p99 ms': alone.p99Ms,
    'idle sync beside look-ups, p99 ms': beside.p99Ms,
  };
}

async function withAuthenticatorApp(url: string) {
  const account = await register(url);
  const path = `/v1/users/${account.userUuid}`;
  const { secret } = (await ask(url, 'GET', `${path}/mfa-secret`, account)) as { secret: string };
  const body = { name: 'MFA_SECRET', value: secret, totpToken: codeOf(secret, 0) };
  await ask(url, 'PUT', `${path}/settings`, account, body);
  return { account, secret };
}

async function withSecurityKey(url: string) {
  const account = await register(url);
  const key = new SecurityKey({ origin: 'http://localhost', relyingPartyId: 'localhost' });
  const offer = await ask(url, 'GET', '/v1/authenticators/generate-registration-options', account);
  const { options } = offer as { options: { challenge: string } };
  const body = { attestationResponse: key.register(options.challenge) };
  await ask(url, 'POST', '/v1/authenticators/verify-registration', account, body);
  return { account, key };
}

async function assertion(url: string, { email: username }: Account, key: SecurityKey): Promise<unknown> {
  const offer = await post(url, '/v1/authenticators/generate-authentication-options', { username });
  return key.sign((offer as { options: { challenge: string } }).options.challenge);
}

/** The code of now, or of a step later, which is accepted too. Each step counts only once. */
const codeOf = (secret: string, stepsLater: number) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + 30 * stepsLater });

const prepared = <T>(make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: usersOfEach }, make));

async function rateOf<T>(users: readonly T[], work: (user: T) => Promise<unknown>): Promise<number> {
  const left = [...users];
  const startMs = performance.now();
  const worker = async () => {
    for (let user = left.pop(); user !== undefined; user = left.pop()) await work(user);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (users.length * 1_000) / (performance.now() - startMs);
}

function at(url: string) {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
