/**
 * Every setting that affects security, once from the environment to what a client sees of it: configuration,
 * composition, server, answer.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { probeHeader, probeKeyPurpose, probeQuestion } from '../../gateway/admission/proxy-probe.ts';
import { secretSettings, settings } from '../../process/config/settings.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { systemRandom } from '../../runtime/random.ts';
import { everySetting } from '../../runtime/setting.ts';
import {
  type Account,
  alice,
  bob,
  challengeOf,
  cookieSessions,
  newAlice,
  protocol003,
  refresh,
  register,
  registerStranger,
  signIn,
  statusOf,
  tokensOf,
} from '../kit/account.ts';
import { FakeClock } from '../kit/clock.ts';
import { type ConfiguredServer, type Environment, startConfiguredServer } from '../kit/configured-server.ts';
import { Device } from '../kit/device.ts';
import { openRaw, type RawConnection } from '../kit/gateway.ts';
import { call, clientAddress } from '../kit/http.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { askTicket, deviceId, dialLane, ended, enterLane, openLane, run, ticketOf } from '../kit/lane.ts';
import { ModelDatabase } from '../kit/model-store/model-store.ts';
import { SecurityKey, type SecurityKeyOptions } from '../kit/security-key.ts';
import { dial, isRefused } from '../kit/socket-client.ts';

const tested = new Set<string>();

/** The effect of `name`, seen by a client of a server that was started with it. */
function setting(
  name: string,
  does: string,
  environment: Environment,
  run: (t: ExecutionContext, server: ConfiguredServer) => Promise<void>,
): void {
  tested.add(name);
  test(`${name} ${does}`, async (t) => run(t, await startConfiguredServer(t, environment)));
}

const attempt = (server: ConfiguredServer, fields = {}) => signIn(server, { password: 'wrong', ...fields });

async function failures(server: ConfiguredServer, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await attempt(server);
}

// --- sessions -------------------------------------------------------------------------------------------------

setting('ACCESS_TOKEN_AGE', 'ends an access token', { ACCESS_TOKEN_AGE: '5' }, async (t, server) => {
  const answer = await call(server.url, 'POST', '/v1/users', { body: newAlice });
  t.is(answer.body.session.access_expiration, server.clock.nowMs() + 5_000);
  await server.advance(4_999);
  t.is(await statusOf(server, tokensOf(answer)), '200');
  await server.advance(1);
  t.is(await statusOf(server, tokensOf(answer)), '498 expired-access-token');
});

setting('REFRESH_TOKEN_AGE', 'ends a session', { REFRESH_TOKEN_AGE: '5' }, async (t, server) => {
  const answer = await call(server.url, 'POST', '/v1/users', { body: newAlice });
  const endsMs = server.clock.nowMs() + 5_000;
  t.is(answer.body.session.refresh_expiration, endsMs);
  for (const cookie of answer.setCookies)
    t.true(cookie.includes(`Expires=${new Date(endsMs).toUTCString()}`));
  await server.advance(5_000);
  t.is(await statusOf(server, tokensOf(answer)), '401 invalid-auth');
  t.is((await refresh(server, tokensOf(answer))).body.error.tag, 'expired-refresh-token');
});

setting(
  'SESSION_FRESHNESS_BUFFER',
  'lets tokens of a longer, former age live on for as long as it says',
  { ACCESS_TOKEN_AGE: '1000' },
  async (t, server) => {
    const account = await register(server);
    const strict = await server.restart({ ACCESS_TOKEN_AGE: '100' });
    t.is(await statusOf(strict, account), '498 expired-access-token');
    const lenient = await strict.restart({ ACCESS_TOKEN_AGE: '100', SESSION_FRESHNESS_BUFFER: '900' });
    t.is(await statusOf(lenient, account), '200');
  },
);

setting(
  'EPHEMERAL_SESSION_AGE',
  'ends ephemeral sessions, and those alone',
  { EPHEMERAL_SESSION_AGE: '5' },
  async (t, server) => {
    const lasting = await register(server);
    const ephemeral = tokensOf(await signIn(server, { ephemeral: true }));
    await server.advance(4_999);
    t.is(await statusOf(server, ephemeral), '200');
    await server.advance(1);
    t.is(await statusOf(server, ephemeral), '401 invalid-auth');
    t.is(await statusOf(server, lasting), '200');
  },
);

setting(
  'COOLDOWN_SESSION_TOKENS_TTL',
  'is how long a replaced pair still refreshes',
  { COOLDOWN_SESSION_TOKENS_TTL: '5' },
  async (t, server) => {
    const account = await register(server);
    await refresh(server, account);
    await server.advance(4_999);
    t.is((await refresh(server, account)).status, 200);
    await server.advance(1);
    t.is((await refresh(server, account)).status, 400);
  },
);

// --- signing in -----------------------------------------------------------------------------------------------

const captchaPage = 'https://captcha.example.org';

setting(
  'MAX_LOGIN_ATTEMPTS',
  'is the failure from which on a captcha is asked for',
  { MAX_LOGIN_ATTEMPTS: '2', CAPTCHA_UI_URL: captchaPage },
  async (t, server) => {
    await register(server);
    t.false((await attempt(server)).headers.has('x-captcha-required'));
    t.is((await attempt(server)).headers.get('x-captcha-required'), captchaPage);
  },
);

setting(
  'MAX_STRANGER_LOGIN_ATTEMPTS',
  'is how many failures new networks have together before they wait',
  { MAX_STRANGER_LOGIN_ATTEMPTS: '2' },
  async (t, server) => {
    await register(server);
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const guess = async (address: string) =>
      (await signIn(server, { password: 'wrong' }, from(address))).status;
    t.deepEqual(
      [await guess('192.0.2.1'), await guess('192.0.2.2'), await guess('192.0.2.3')],
      [401, 401, 423],
    );
    t.is((await signIn(server)).status, 200);
  },
);

setting(
  'MAX_CAPTCHA_LOGIN_ATTEMPTS',
  'is how many further failures lock the account',
  { MAX_LOGIN_ATTEMPTS: '1', MAX_CAPTCHA_LOGIN_ATTEMPTS: '2' },
  async (t, server) => {
    await register(server);
    await failures(server, 2);
    t.is((await signIn(server)).status, 200);
    await failures(server, 3);
    t.is((await signIn(server)).status, 423);
  },
);

setting(
  'FAILED_LOGIN_LOCKOUT',
  'is how long failures are remembered',
  { MAX_LOGIN_ATTEMPTS: '2', FAILED_LOGIN_LOCKOUT: '5', CAPTCHA_UI_URL: captchaPage },
  async (t, server) => {
    await register(server);
    await failures(server, 1);
    await server.advance(5_000);
    t.false((await attempt(server)).headers.has('x-captcha-required'));
    await server.advance(4_999);
    t.true((await attempt(server)).headers.has('x-captcha-required'));
  },
);

setting(
  'FAILED_LOGIN_CAPTCHA_LOCKOUT',
  'is how long an account stays locked',
  { MAX_LOGIN_ATTEMPTS: '1', MAX_CAPTCHA_LOGIN_ATTEMPTS: '1', FAILED_LOGIN_CAPTCHA_LOCKOUT: '5' },
  async (t, server) => {
    await register(server);
    await failures(server, 2);
    await server.advance(4_999);
    t.is((await signIn(server)).status, 423);
    await server.advance(1);
    t.is((await signIn(server)).status, 200);
  },
);

/** A captcha server that answers with `answer`, and the tokens that it received. */
async function startCaptchaServer(t: ExecutionContext, answer: { status: number; body: string }) {
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    const { status, body } = url.endsWith('token=solved')
      ? answer
      : { status: 200, body: '{"status":"fail"}' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

tested.add('CAPTCHA_SERVER_URL');
test('CAPTCHA_SERVER_URL decides which clients may register, and which may go on guessing', async (t) => {
  const captcha = await startCaptchaServer(t, { status: 200, body: '{"status":"pass"}' });
  const server = await startConfiguredServer(t, { CAPTCHA_SERVER_URL: captcha.url, MAX_LOGIN_ATTEMPTS: '1' });
  const registration = async (fields: object) =>
    (await call(server.url, 'POST', '/v1/users', { body: { ...newAlice, ...fields } })).status;
  t.is(await registration({}), 400);
  t.is(await registration({ hvm_token: '' }), 400);
  t.is(await registration({ hvm_token: 'wrong' }), 400);
  t.is(await registration({ hvm_token: 'solved' }), 200);
  t.deepEqual(captcha.requests, ['/verify?token=wrong', '/verify?token=solved']);
  await failures(server, 1);
  t.is((await signIn(server)).status, 401);
  t.is((await signIn(server, { hvm_token: 'wrong' })).status, 401);
  t.is((await signIn(server, { hvm_token: 'solved' })).status, 200);
});

for (const [what, answer] of Object.entries({
  'is in trouble': { status: 500, body: '{"status":"pas' },
  'says nothing': { status: 200, body: '' },
  'says something else': { status: 200, body: '{"status":"PASS"}' },
  'says null': { status: 200, body: 'null' },
})) {
  test(`nobody passes a captcha server that ${what}`, async (t) => {
    const captcha = await startCaptchaServer(t, answer);
    const server = await startConfiguredServer(t, { CAPTCHA_SERVER_URL: captcha.url });
    const body = { ...newAlice, hvm_token: 'solved' };
    t.is((await call(server.url, 'POST', '/v1/users', { body })).status, 400);
    t.is(captcha.requests.length, 1);
  });
}

test('no one passes a captcha server that is down', async (t) => {
  const server = await startConfiguredServer(t, { CAPTCHA_SERVER_URL: 'http://127.0.0.1:1' });
  const body = { ...newAlice, hvm_token: 'solved' };
  t.is((await call(server.url, 'POST', '/v1/users', { body })).status, 400);
});

setting('CAPTCHA_UI_URL', 'is told to clients', { CAPTCHA_UI_URL: captchaPage }, async (t, server) => {
  const { text } = await call(server.url, 'GET', '/v1/meta');
  t.like(JSON.parse(text), { captchaUIUrl: captchaPage, data: { captchaUIUrl: captchaPage } });
});

// --- accounts -------------------------------------------------------------------------------------------------

setting(
  'DISABLE_USER_REGISTRATION',
  'refuses new accounts at both addresses, and lets those that are there sign in',
  {},
  async (t, open) => {
    await register(open);
    const closed = await open.restart({ DISABLE_USER_REGISTRATION: 'true' });
    for (const path of ['/v1/users', '/auth']) {
      const answer = await call(closed.url, 'POST', path, { body: { ...newAlice, email: bob.email } });
      t.is(answer.status, 400);
      t.is(answer.body.error.message, 'User registration is currently not allowed.');
    }
    t.is((await signIn(closed)).status, 200);
  },
);

setting(
  'WORKSPACES_PER_EMAIL_ENABLED',
  'allows a second account of an address',
  { WORKSPACES_PER_EMAIL_ENABLED: 'true' },
  async (t, server) => {
    const home = await register(server);
    const work = await register(server, { workspace_identifier: 'work' });
    t.not(work.userUuid, home.userUuid);
    const signedIn = await signIn(server, { workspace_identifier: 'work' });
    t.is(signedIn.body.user.uuid, work.userUuid);
  },
);

setting(
  'ALLOW_OPEN_REGISTRATION',
  'lets a server that others reach take whoever comes',
  { ALLOW_OPEN_REGISTRATION: 'true', HOST: '0.0.0.0' },
  async (t, server) => {
    t.is(await statusOf(server, await register(server)), '200');
    await t.throwsAsync(startConfiguredServer(t, { HOST: '0.0.0.0' }), {
      message: /ALLOW_OPEN_REGISTRATION/,
    });
  },
);

setting(
  'READONLY_USERS',
  'lets those named read and change nothing, however they write their address',
  { READONLY_USERS: `somebody@example.org, ${alice.email.toUpperCase()}` },
  async (t, server) => {
    const [reader, writer] = [await Device.register(server), await Device.register(server, bob)];
    t.is((await reader.call('DELETE', '/v1/sessions')).body.error.tag, 'read-only-access');
    t.deepEqual(
      (await reader.sync({ items: [note()] })).conflicts.map(({ type }) => type),
      ['readonly_error'],
    );
    t.is(await reader.another().then(({ account }) => statusOf(server, account)), '200');
    t.is((await writer.sync({ items: [note()] })).saved_items.length, 1);
  },
);

setting(
  'ADMIN_EMAILS',
  'makes those named administrators, and nobody else',
  { ADMIN_EMAILS: alice.email.toUpperCase() },
  async (t, server) => {
    const rolesOf = async ({ access }: Account) => {
      const { meta } = await call(server.url, 'GET', '/v1/sessions', { bearer: access });
      return meta?.auth.roles?.map(({ name }) => name);
    };
    t.deepEqual(await rolesOf(await register(server)), ['CORE_USER', 'PRO_USER', 'INTERNAL_TEAM_USER']);
    t.deepEqual(await rolesOf(await register(server, bob)), ['CORE_USER', 'PRO_USER']);
  },
);

// --- browsers -------------------------------------------------------------------------------------------------

const cookiesOf = async (server: ConfiguredServer) =>
  (await call(server.url, 'POST', '/v1/users', { body: newAlice })).setCookies.map((cookie) =>
    cookie
      .split('; ')
      .slice(1)
      .filter((attribute) => !attribute.startsWith('Expires=')),
  );

test('cookies are such as a browser keeps for pages of any site over https and on loopback, else for those of one site', async (t) => {
  const anySite = [
    ['HttpOnly', 'Secure', 'Path=/', 'Partitioned', 'SameSite=None'],
    ['HttpOnly', 'Secure', 'Path=/v1/sessions/refresh', 'Partitioned', 'SameSite=None'],
  ];
  t.deepEqual(await cookiesOf(await startConfiguredServer(t)), anySite);
  t.deepEqual(
    await cookiesOf(await startConfiguredServer(t, { PUBLIC_URL: 'https://notes.example' })),
    anySite,
  );
  t.deepEqual(await cookiesOf(await startConfiguredServer(t, { PUBLIC_URL: 'http://notes.example' })), [
    ['HttpOnly', 'Path=/', 'SameSite=Lax'],
    ['HttpOnly', 'Path=/v1/sessions/refresh', 'SameSite=Lax'],
  ]);
});

const attribute = (name: string, environment: Environment, expected: string) =>
  setting(name, `gives both cookies ${expected}`, environment, async (t, server) => {
    for (const attributes of await cookiesOf(server)) t.true(attributes.includes(expected));
  });
attribute('COOKIE_SAME_SITE', { COOKIE_SAME_SITE: 'Strict' }, 'SameSite=Strict');
attribute('COOKIE_SECURE', { COOKIE_SECURE: 'true' }, 'Secure');
attribute('COOKIE_PARTITIONED', { COOKIE_PARTITIONED: 'true', COOKIE_SECURE: 'true' }, 'Partitioned');
attribute('COOKIE_DOMAIN', { COOKIE_DOMAIN: 'notes.example' }, 'Domain=notes.example');

const allowedFor = async ({ url }: ConfiguredServer, origin: string) =>
  (await call(url, 'GET', '/v1/meta', { headers: { origin } })).headers.get('access-control-allow-origin');
const listed = 'https://notes.example';
const strange = 'https://evil.example';

test('CORS: every origin is named as one that may read', async (t) => {
  const server = await startConfiguredServer(t, { CORS_ALLOWED_ORIGINS: listed });
  for (const origin of [listed, strange]) t.is(await allowedFor(server, origin), origin);
});

setting(
  'CORS_ORIGIN_STRICT_MODE_ENABLED',
  'keeps pages of other origins from reading',
  { CORS_ORIGIN_STRICT_MODE_ENABLED: 'true', CORS_ALLOWED_ORIGINS: listed },
  async (t, server) => {
    t.is(await allowedFor(server, strange), null);
    for (const origin of ['file://', 'moz-extension://1', 'http://localhost:3000', 'null']) {
      t.is(await allowedFor(server, origin), origin);
    }
  },
);

setting(
  'CORS_ALLOWED_ORIGINS',
  'lets the pages it names read all the same',
  { CORS_ORIGIN_STRICT_MODE_ENABLED: 'true', CORS_ALLOWED_ORIGINS: `https://a.example, ${listed}` },
  async (t, server) => {
    t.is(await allowedFor(server, listed), listed);
    t.is(await allowedFor(server, strange), null);
    const preflight = await call(server.url, 'OPTIONS', '/v1/items', { headers: { origin: listed } });
    t.is(preflight.headers.get('access-control-allow-credentials'), 'true');
  },
);

// --- access and limits ----------------------------------------------------------------------------------------

const addressOf = async (server: ConfiguredServer, forwarded: string) => {
  const { body } = await (await Device.register(server, { email: `${forwarded}@example.org` })).call(
    'GET',
    '/v1/sessions',
  );
  return body[0].ip_address;
};

setting('TRUST_PROXY', 'believes no proxy where it is false', { TRUST_PROXY: 'false' }, async (t, server) => {
  t.is(await addressOf(server, 'a'), '127.0.0.1');
  const trusting = await server.restart({});
  t.is(await addressOf(trusting, 'b'), '203.0.113.7');
});

test('the server tells a doctor with its secret key what it believes of the proxy', async (t) => {
  const server = await startConfiguredServer(t, { TRUST_PROXY: 'false' });
  const answerTo = async (secretKey: Buffer) => {
    const question = probeQuestion(
      createKeyring(secretKey).derive(probeKeyPurpose),
      server.clock.nowMs(),
      systemRandom,
    );
    const headers = { [probeHeader]: question, 'x-forwarded-for': '203.0.113.7' };
    return (await fetch(`${server.url}/healthcheck`, { headers })).headers.get(probeHeader);
  };
  t.regex((await answerTo(Buffer.alloc(32, 7))) ?? '', /^ignored;absent;127\.0\.0\.1:\d+$/);
  t.is(await answerTo(Buffer.alloc(32, 8)), null);
});

const key = { SHARED_SERVER_ACCESS_KEY: 'the key' };
const statusWith = async ({ url }: { readonly url: string }, path: string, headers = {}) =>
  (await call(url, 'POST', path, { body: {}, headers })).status;
const withKey = { 'x-shared-server-key': 'the key' };

setting('SHARED_SERVER_ACCESS_KEY', 'shuts out whoever has it not', key, async (t, server) => {
  const refused = await call(server.url, 'POST', '/v2/login', { body: {} });
  t.is(refused.status, 401);
  t.deepEqual(JSON.parse(refused.text), { error: { message: 'Access to this server is restricted.' } });
  t.is(await statusWith(server, '/v1/users', { 'x-shared-server-key': 'the kez' }), 401);
  t.is(await statusWith(server, '/v1/users', withKey), 400);
  t.is((await call(server.url, 'GET', '/healthcheck')).status, 200);
});

setting(
  'SHARED_SERVER_ACCESS_KEY_MODE',
  'guards registration alone, or nothing, or everything where it is mistyped',
  { ...key, SHARED_SERVER_ACCESS_KEY_MODE: 'registration' },
  async (t, server) => {
    const errorOf = async (at: ConfiguredServer, path: string) =>
      (await call(at.url, 'POST', path, { body: {} })).body.error.message;
    const restricted = 'Access to this server is restricted.';
    t.is(await errorOf(server, '/v1/users'), restricted);
    t.is(await errorOf(server, '/auth'), restricted);
    t.not(await errorOf(server, '/v2/login'), restricted);
    const off = await server.restart({ ...key, SHARED_SERVER_ACCESS_KEY_MODE: 'off' });
    t.not(await errorOf(off, '/v1/users'), restricted);
    const mistyped = await off.restart({ ...key, SHARED_SERVER_ACCESS_KEY_MODE: 'of' });
    t.is(await errorOf(mistyped, '/v2/login'), restricted);
  },
);

setting('SHARED_SERVER_ACCESS_KEY_EXEMPT', 'opens sockets without the key', {}, async (t, open) => {
  const token = await (await Device.register(open)).socketToken();
  const upgrade = async ({ url }: ConfiguredServer) => dial(t, `${url}/sockets?authToken=${token}`);
  const guarded = await open.restart(key);
  const refused = await upgrade(guarded);
  t.true(isRefused(refused) && refused.status === 401);
  t.false(
    isRefused(await upgrade(await guarded.restart({ ...key, SHARED_SERVER_ACCESS_KEY_EXEMPT: 'sockets' }))),
  );
});

setting('RATE_LIMIT_PUBLIC', 'slows down one address', { RATE_LIMIT_PUBLIC: '2' }, async (t, server) => {
  const from = async (address: string) =>
    (await call(server.url, 'GET', '/v1/meta', { headers: { 'x-forwarded-for': address } })).status;
  t.deepEqual([await from('203.0.113.1'), await from('203.0.113.1')], [200, 200]);
  t.is(await from('203.0.113.1'), 429);
  t.is(await from('203.0.113.2'), 200);
  await server.advance(60_000);
  t.is(await from('203.0.113.1'), 200);
});

setting(
  'RATE_LIMIT_REGISTRATION',
  'slows down the registrations of one address',
  { RATE_LIMIT_REGISTRATION: '2' },
  async (t, server) => {
    const statusOfNew = async (path: string) => (await call(server.url, 'POST', path, { body: {} })).status;
    t.deepEqual([await statusOfNew('/v1/users'), await statusOfNew('/auth')], [400, 400]);
    t.is(await statusOfNew('/v1/users'), 429);
    t.is((await call(server.url, 'GET', '/v1/meta')).status, 200);
    const free = await server.restart({ RATE_LIMIT_REGISTRATION: '0' });
    for (let n = 0; n < 70; n += 1) {
      t.is((await call(free.url, 'POST', '/v1/users', { body: {} })).status, 400);
    }
  },
);

setting('RATE_LIMIT_SESSION', 'slows down one account', { RATE_LIMIT_SESSION: '2' }, async (t, server) => {
  const [mine, other] = [await Device.register(server), await Device.register(server, bob)];
  const own = await mine.another();
  const list = async (device: Device) => (await device.call('GET', '/v1/sessions')).status;
  t.deepEqual([await list(mine), await list(own), await list(mine)], [200, 200, 429]);
  t.is(await list(other), 200);
  await server.advance(60_000);
  t.deepEqual([await list(mine), await list(own), await list(mine)], [200, 200, 429]);
});

setting(
  'HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES',
  'refuses a larger sync',
  { HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES: '1' },
  async (t, server) => {
    const device = await Device.register(server);
    const sized = async (bytes: number) =>
      (await device.send({ items: [note({ content: 'x'.repeat(bytes) })] })).status;
    t.is(await sized(1_000_000), 200);
    t.is(await sized(1_048_576), 413);
  },
);

setting(
  'BODY_MEMORY_BYTES',
  'refuses for now what would not fit',
  { BODY_MEMORY_BYTES: '1048576' },
  async (t, server) => {
    const device = await Device.register(server);
    t.is((await device.send({ items: [note({ content: 'x'.repeat(3_000_000) })] })).status, 503);
    t.is((await device.send({ items: [note()] })).status, 200);
  },
);

/** A page of 30 MB, more than the system buffers of unread data. */
const largePages = { CONTENT_SIZE_TRANSFER_LIMIT: '60000000' };

async function withLargePage(server: ConfiguredServer): Promise<Device> {
  const device = await Device.register(server);
  const content = 'x'.repeat(10_000_000);
  for (const n of [1, 2, 3]) await device.sync({ items: [note({ uuid: uuidNumber(n), content })] });
  return device;
}

/** Requests the page, and reads no more than its beginning until the socket is resumed. */
async function unread(t: ExecutionContext, { url }: ConfiguredServer, { account }: Device) {
  const connection = await openRaw(t, Number(new URL(url).port));
  const lines = ['POST /v1/items HTTP/1.1', 'Host: a', `Authorization: Bearer ${account.access}`];
  connection.send(`${lines.join('\r\n')}\r\n\r\n`);
  await connection.received('HTTP/1.1 200');
  connection.socket.pause();
  return connection;
}

/** Whether the page arrives completely. */
const comesWhole = ({ received }: Pick<RawConnection, 'received'>): Promise<boolean> =>
  received('"sync_token"').then(
    () => true,
    () => false,
  );

setting(
  'REPLY_MEMORY_BYTES',
  'cuts a reply that would not fit',
  { ...largePages, REPLY_MEMORY_BYTES: '1048576' },
  async (t, server) => {
    const page = await unread(t, server, await withLargePage(server));
    page.socket.resume();
    t.false(await comesWhole(page));
  },
);

setting(
  'REPLY_MEMORY_BYTES_PER_USER',
  'cuts the former of two replies',
  { ...largePages, REPLY_MEMORY_BYTES_PER_USER: '1048576' },
  async (t, server) => {
    const device = await withLargePage(server);
    const former = await unread(t, server, device);
    const latter = await unread(t, server, device);
    for (const { socket } of [former, latter]) socket.resume();
    t.false(await comesWhole(former));
    t.true(await comesWhole(latter));
  },
);

setting(
  'SHARE_MEMORY_BYTES',
  'opens no share that would not fit',
  { SHARE_MEMORY_BYTES: '33554432' },
  async (t, server) => {
    const device = await Device.register(server);
    const body = { type: 'note', encryptedPayload: 'x'.repeat(5 * 1_048_576) };
    const { shareId } = (await device.call('POST', '/v1/shares', { body })).body;
    const open = () => device.call('GET', `/v1/shares/${shareId}`);
    const unread = await openRaw(t, Number(new URL(server.url).port));
    unread.send(`GET /v1/shares/${shareId} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${clientAddress}\r\n\r\n`);
    await unread.received('HTTP/1.1 200');
    unread.socket.pause();
    const waits = setInterval(() => void server.advance(500), 50);
    t.is((await open()).status, 503);
    clearInterval(waits);
    unread.socket.destroy();
    t.is((await open()).status, 200);
  },
);

setting(
  'LEAST_PACE',
  'cuts a reply that is read too slowly',
  { ...largePages, LEAST_PACE: '1000000000' },
  async (t, server) => {
    const page = await unread(t, server, await withLargePage(server));
    await server.advance(62_000);
    page.socket.resume();
    t.false(await comesWhole(page));
  },
);

setting('CONNECTIONS_MAX', 'closes more connections', { CONNECTIONS_MAX: '2' }, async (t, server) => {
  const port = Number(new URL(server.url).port);
  const [, second] = [await openRaw(t, port), await openRaw(t, port)];
  t.is(await (await openRaw(t, port)).ended, '');
  second.send('GET /healthcheck HTTP/1.1\r\nHost: a\r\n\r\n');
  t.regex(await second.received('OK'), /^HTTP\/1\.1 200/);
});

setting(
  'HSTS_SECONDS',
  'is told where the public address is https',
  { HSTS_SECONDS: '60', PUBLIC_URL: 'https://notes.example' },
  async (t, server) => {
    const { headers } = await call(server.url, 'GET', '/v1/meta');
    t.is(headers.get('strict-transport-security'), 'max-age=60');
  },
);

setting('SOCKETS_MAX', 'refuses more sockets', { SOCKETS_MAX: '1' }, async (t, server) => {
  const device = await Device.register(server);
  await device.socket(t);
  const refused = await device.dial(t);
  t.true(isRefused(refused) && refused.status === 503);
});

/** The status of the answer to an upgrade to the sync lane. */
async function laneStatus(t: ExecutionContext, server: ConfiguredServer, origin: string): Promise<number> {
  const dialled = await dialLane(t, server, { headers: { origin } });
  return isRefused(dialled) ? dialled.status : 101;
}

setting(
  'SYNC_LANE_ENABLED',
  'switches the sync lane off',
  { SYNC_LANE_ENABLED: 'false' },
  async (t, server) => {
    t.is((await askTicket(await Device.register(server))).status, 503);
    t.is(await laneStatus(t, server, server.url), 404);
  },
);

setting(
  'SYNC_LANE_ORIGINS',
  'lets pages of other origins open the sync lane',
  { SYNC_LANE_ORIGINS: 'https://app.example, tauri://localhost' },
  async (t, server) => {
    const statuses = ['https://app.example', 'tauri://localhost', server.url, 'https://web.example'].map(
      (origin) => laneStatus(t, server, origin),
    );
    t.deepEqual(await Promise.all(statuses), [101, 101, 101, 403]);
  },
);

setting(
  'SYNC_LANE_SAME_ORIGIN',
  'keeps the server’s own pages out of the sync lane',
  { SYNC_LANE_SAME_ORIGIN: 'false', SYNC_LANE_ORIGINS: 'https://app.example' },
  async (t, server) => {
    t.is(await laneStatus(t, server, server.url), 403);
    t.is(await laneStatus(t, server, 'https://app.example'), 101);
  },
);

setting(
  'SYNC_LANE_SOCKETS_PER_USER',
  'refuses more sockets of one account on the sync lane',
  { SYNC_LANE_SOCKETS_PER_USER: '1' },
  async (t, server) => {
    const device = await Device.register(server);
    await enterLane(t, device, server);
    const more = await openLane(t, server);
    more.lane.send('AUTH', { ticket: await ticketOf(device), deviceId });
    t.deepEqual(await ended(more), ['SOCKET_LIMIT', 1013]);
  },
);

setting(
  'SYNC_LANE_MEMORY_BYTES',
  'bounds what clients that do not read leave in memory',
  { SYNC_LANE_MEMORY_BYTES: String(8 * 1_024 * 1_024) },
  async (t, server) => {
    const device = await Device.register(server);
    const content = 'x'.repeat(200_000);
    await device.sync({ items: [1, 2].map((n) => note({ uuid: uuidNumber(n), content })) });
    const body = { api: '20240226', sync_token: null };
    const silent = [];
    for (let count = 0; count < 4; count += 1) silent.push(await enterLane(t, device, server));
    for (const { socket } of silent) socket.pause();
    const reader = await enterLane(t, device, server);
    const closed = reader.socket.closed.catch(() => 0);
    for (let round = 0; round < 28 && !reader.socket.isClosed; round += 1) {
      for (const { lane } of silent) await lane.command(`command-${round}`, body);
      await Promise.race([run(reader, `command-${round}`, body), closed]);
    }
    t.is((await ended(reader))[0], 'BACKPRESSURE');
  },
);

setting(
  'CONTENT_SIZE_TRANSFER_LIMIT',
  'ends a page',
  { CONTENT_SIZE_TRANSFER_LIMIT: '5000' },
  async (t, server) => {
    const device = await Device.register(server);
    const content = 'x'.repeat(3_000);
    await device.sync({ items: [1, 2, 3].map((n) => note({ uuid: uuidNumber(n), content })) });
    const pages = await (await device.another()).syncAll();
    t.deepEqual(
      pages.map((page) => page.retrieved_items.length),
      [2, 1],
    );
  },
);

setting(
  'ITEM_CONTENT_LIMIT',
  'refuses a larger item alone',
  { ITEM_CONTENT_LIMIT: '100' },
  async (t, server) => {
    const device = await Device.register(server);
    const items = [100, 101].map((size, n) => note({ uuid: uuidNumber(n), content: 'x'.repeat(size) }));
    const { saved_items: saved, conflicts } = await device.sync({ items });
    t.deepEqual(
      saved.map(({ uuid }) => uuid),
      [uuidNumber(0)],
    );
    t.like(conflicts, [{ type: 'content_error', unsaved_item: { uuid: uuidNumber(1) } }]);
  },
);

setting('ACCOUNT_ITEMS_MAX', 'refuses more items', { ACCOUNT_ITEMS_MAX: '2' }, async (t, server) => {
  const device = await Device.register(server);
  const two = [1, 2].map((n) => note({ uuid: uuidNumber(n) }));
  t.is((await device.send({ items: two })).status, 200);
  t.is((await device.send({ items: [note({ uuid: uuidNumber(3) })] })).status, 413);
});

setting('ACCOUNT_BYTES_MAX', 'refuses more content', { ACCOUNT_BYTES_MAX: '5000' }, async (t, server) => {
  const device = await Device.register(server);
  const sized = (n: number) => note({ uuid: uuidNumber(n), content: 'x'.repeat(3_000) });
  t.is((await device.send({ items: [sized(1)] })).status, 200);
  t.is((await device.send({ items: [sized(2)] })).status, 413);
});

// --- the rest -------------------------------------------------------------------------------------------------

setting(
  'E2E_TESTING',
  'makes every session one of headers, registers old accounts, and limits no rate',
  { E2E_TESTING: 'true', RATE_LIMIT_PUBLIC: '1', RATE_LIMIT_SESSION: '1' },
  async (t, server) => {
    const device = await Device.register(server, { api: cookieSessions });
    t.regex(device.account.access, /^1:/);
    const old = await Device.register(server, { email: 'old@example.org', ...protocol003 });
    t.is((await old.sync()).retrieved_items.length, 0);
    for (let n = 0; n < 3; n += 1) t.is((await device.call('GET', '/v1/sessions')).status, 200);
  },
);

class WatchedDatabase extends ModelDatabase {
  readonly hashes = new Set<string>();

  override commit(commits: Parameters<ModelDatabase['commit']>[0]): ReturnType<ModelDatabase['commit']> {
    for (const [hash] of inspect(commits, { depth: null }).matchAll(/\$argon2id\$[^'"]+/g))
      this.hashes.add(hash);
    return super.commit(commits);
  }
}

test('E2E_TESTING alone lets accounts of one password share a hash', async (t) => {
  for (const [E2E_TESTING, hashes] of [
    ['true', 1],
    ['false', 2],
  ] as const) {
    const clock = new FakeClock();
    const database = new WatchedDatabase(clock);
    const server = await startConfiguredServer(t, { E2E_TESTING }, clock, database);
    await register(server, alice);
    await register(server, bob);
    t.is(database.hashes.size, hashes, `E2E_TESTING=${E2E_TESTING}`);
    t.is((await signIn(server, bob)).status, 200);
    t.is((await signIn(server, { ...bob, password: 'wrong' })).status, 401);
  }
});

setting(
  'PUBLIC_URL',
  'is where the files server is said to be',
  { PUBLIC_URL: 'https://notes.example/' },
  async (t, server) => {
    const { meta } = await call(server.url, 'GET', '/v1/sessions', {
      bearer: (await register(server)).access,
    });
    t.is(meta?.server.filesServerUrl, 'https://notes.example');
  },
);

setting(
  'FILES_SERVER_URL',
  'is told with every answer, refusals too',
  { FILES_SERVER_URL: 'https://files.example' },
  async (t, server) => {
    const body = { email: alice.email, password: 'x', code_verifier: challengeOf('x'), api: cookieSessions };
    const refused = await call(server.url, 'POST', '/v2/login', { body });
    t.is(refused.status, 401);
    t.is(refused.meta?.server.filesServerUrl, 'https://files.example');
    const { meta } = JSON.parse((await call(server.url, 'GET', '/v1/meta')).text);
    t.is(meta.server.filesServerUrl, 'https://files.example');
  },
);

setting(
  'LOG_FAILED_SIGN_INS',
  'logs the address of who failed to sign in, and nobody else’s',
  { LOG_FAILED_SIGN_INS: 'true' },
  async (t, server) => {
    const address = '203.0.113.7';
    await register(server);
    await signIn(server);
    await call(server.url, 'POST', '/v2/login', { body: { email: alice.email } });
    t.false(server.log.join('').includes(address));
    await attempt(server);
    const [line = '', ...others] = server.log.filter((text) => text.includes(address));
    t.deepEqual(others, []);
    t.like(JSON.parse(line), { level: 'warn', clientAddress: address, msg: 'a sign-in failed' });
    t.false(line.includes('alice'));
    const quiet = await server.restart({ LOG_LEVEL: 'debug' });
    await failures(quiet, 2);
    t.false(quiet.log.join('').includes(address));
  },
);

// --- second factors -------------------------------------------------------------------------------------------

const dayMs = 86_400_000;

setting(
  'AUTH_TRUSTED_DEVICE_DURATION_DAYS',
  'ends the trust in a device',
  { AUTH_TRUSTED_DEVICE_DURATION_DAYS: '2' },
  async (t, server) => {
    const device = new Device(server, await register(server));
    const { trustedDevice } = (await device.call('POST', '/v1/trusted-devices', { body: {} })).body;
    t.is(trustedDevice.expiresAt, server.clock.nowMs() + 2 * dayMs);
  },
);

setting(
  'AUTH_MFA_APPROVAL_TTL_SECONDS',
  'ends an approval that nobody has given',
  { AUTH_MFA_APPROVAL_TTL_SECONDS: '30' },
  async (t, server) => {
    const params = { email: alice.email, code_challenge: challengeOf('x') };
    const device = new Device(server, await register(server));
    const { options } = (await device.call('GET', '/v1/authenticators/generate-registration-options')).body;
    const key = new SecurityKey({ origin: 'http://localhost', relyingPartyId: 'localhost' });
    const body = { attestationResponse: key.register(options.challenge) };
    t.is((await device.call('POST', '/v1/authenticators/verify-registration', { body })).status, 200);
    const refused = await call(server.url, 'POST', '/v2/login-params', { body: params });
    const id = refused.body.error.payload.mfa_approval_challenge_id;
    const status = async () =>
      (await call(server.url, 'GET', `/v1/pending-mfa-approvals/${id}/status`)).body.status;
    await server.advance(29_000);
    t.is(await status(), 'pending');
    await server.advance(1_000);
    t.is(await status(), 'expired');
  },
);

/** Whether the server accepts a security key that works at this origin, for this domain. */
async function takesKey(server: ConfiguredServer, options: SecurityKeyOptions): Promise<boolean> {
  const device = new Device(server, await registerStranger(server));
  const offered = await device.call('GET', '/v1/authenticators/generate-registration-options');
  const body = { attestationResponse: new SecurityKey(options).register(offered.body.options.challenge) };
  return (await device.call('POST', '/v1/authenticators/verify-registration', { body })).status === 200;
}

setting(
  'U2F_RELYING_PARTY_ID',
  'is the domain of security keys',
  { U2F_RELYING_PARTY_ID: 'notes.example' },
  async (t, server) => {
    t.true(await takesKey(server, { origin: 'https://notes.example', relyingPartyId: 'notes.example' }));
    t.false(await takesKey(server, { origin: 'https://notes.example', relyingPartyId: 'other.example' }));
    const published = await server.restart({ PUBLIC_URL: 'https://public.example' });
    t.true(await takesKey(published, { origin: 'https://public.example', relyingPartyId: 'public.example' }));
  },
);

setting(
  'U2F_EXPECTED_ORIGIN',
  'lists the origins of apps that may use security keys',
  { U2F_EXPECTED_ORIGIN: 'https://app.example, https://web.example' },
  async (t, server) => {
    const at = (origin: string) => takesKey(server, { origin, relyingPartyId: 'localhost' });
    t.deepEqual(
      await Promise.all(['https://app.example', 'https://web.example', 'http://localhost'].map(at)),
      [true, true, false],
    );
  },
);

setting(
  'U2F_RELYING_PARTY_NAME',
  'is what a security key shows',
  { U2F_RELYING_PARTY_NAME: 'Our notes' },
  async (t, server) => {
    const device = new Device(server, await register(server));
    const offered = await device.call('GET', '/v1/authenticators/generate-registration-options');
    t.is(offered.body.options.rp.name, 'Our notes');
  },
);

setting(
  'U2F_REQUIRE_USER_VERIFICATION',
  'refuses keys that ask for neither PIN nor finger',
  { U2F_REQUIRE_USER_VERIFICATION: 'true' },
  async (t, server) => {
    const touched = { origin: 'http://localhost', relyingPartyId: 'localhost' };
    t.false(await takesKey(server, touched));
    t.true(await takesKey(server, { ...touched, verifiesUser: true }));
  },
);

setting(
  'AUDIT_TRAIL_DAYS',
  'is how long an audit trail tells of an event',
  { AUDIT_TRAIL_DAYS: '1', ACCESS_TOKEN_AGE: String(10 * 86_400), REFRESH_TOKEN_AGE: String(20 * 86_400) },
  async (t, server) => {
    const device = new Device(server, await register(server));
    const trail = async () =>
      (await device.call('GET', `/v1/users/${device.account.userUuid}/audit-trail`)).body.events.length;
    for (const left of [1, 0]) {
      await server.clock.leap(dayMs * 0.75);
      await server.advance(60_000);
      t.is(await trail(), left);
    }
  },
);

test('no setting that bears on security is without such a test', (t) => {
  const groups = ['Sessions', 'Signing in', 'Accounts', 'Browsers', 'Access and limits'];
  const all = everySetting({ settings, secretSettings });
  const named = all.filter(({ section }) => groups.includes(section));
  t.true(named.length > 25);
  t.deepEqual(
    named.map(({ name }) => name).filter((name) => !tested.has(name)),
    [],
  );
});

test('with a database elsewhere the log says that free disk space for mail is not checked', async (t) => {
  const DATABASE_URL = 'postgres://nobody:asks@127.0.0.1:1/it';
  const saysSo = ({ log }: ConfiguredServer) =>
    log.some((line) => line.includes('free disk space for mail is not checked'));
  t.true(saysSo(await startConfiguredServer(t, { DATABASE_URL })));
  t.false(saysSo(await startConfiguredServer(t)));
});
