/** The page for administrators as they use it, in a browser, on a started server. */
import test, { type ExecutionContext } from 'ava';
import type { Browser, Locator, Page } from 'playwright-core';
import { serverPasswordOf } from '../../cli/import/account/server-password.ts';
import { changeEmail, register, signIn as signInByApi, tokensOf } from '../kit/account.ts';
import { call } from '../kit/http.ts';
import { startSmtpServer } from '../kit/smtp-server.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { until } from '../kit/until.ts';
import { launchChromium } from './chromium.ts';

const admin = { email: 'admin@example.org', pw_nonce: 'c'.repeat(64) };
const typed = 'correct horse battery staple';
const accessKey = 'the key of this house';

const adminPassword = () =>
  serverPasswordOf(typed, { identifier: admin.email, version: '004', pw_nonce: admin.pw_nonce });

const openPaths = new Set(['/admin', '/v2/login-params', '/v2/login', '/v1/logout']);

interface Scene {
  readonly server: RunningServer;
  readonly page: Page;
  /** Errors of the page, and requests that it refused or that left this server. */
  readonly incidents: readonly string[];
  /** The paths of all requests. */
  readonly paths: ReadonlySet<string>;
}

async function sceneOf(
  t: ExecutionContext,
  style: Parameters<Browser['newPage']>[0] = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  t.timeout(180_000);
  const browser = await launchChromium(process.env);
  t.teardown(() => browser.close());
  const server = await startServer({
    ADMINISTRATION_PAGE: 'true',
    ADMIN_EMAILS: admin.email,
    SHARED_SERVER_ACCESS_KEY: accessKey,
    ...settings,
  });
  t.teardown(() => server.stop());
  const headers = { 'x-shared-server-key': accessKey };
  await register(server, { ...admin, password: await adminPassword() }, { headers });
  await register(server, { email: 'mallory@example.org' }, { headers });
  const page = await browser.newPage(style);
  const incidents: string[] = [];
  page.on('pageerror', (error) => incidents.push(error.message));
  const paths = new Set<string>();
  page.on('request', (request) => {
    paths.add(new URL(request.url()).pathname);
    if (!request.url().startsWith(server.url)) incidents.push(request.url());
  });
  await page.goto(`${server.url}/admin`);
  return { server, page, incidents, paths };
}

async function signIn(page: Page, password = typed): Promise<void> {
  await page.getByLabel('E-mail address').fill('Admin@example.org ');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function signInWithKey(page: Page): Promise<void> {
  await signIn(page);
  await page.getByText('Access to this server is restricted.').waitFor();
  await page.getByLabel('Access key of this server').fill(accessKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Registration' }).waitFor({ timeout: 60_000 });
}

test('an administrator signs in with the password of the notes, bans a user, and closes the registration', async (t) => {
  const { server, page, incidents, paths } = await sceneOf(t);
  await signInWithKey(page);

  await page.getByLabel('E-mail address').fill('mallory@example.org');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('Not banned.').waitFor();
  await page.getByLabel('Reason, for administrators only').fill('<b>spam</b>');
  await page.getByRole('button', { name: 'Ban, and end all sessions' }).click();
  await page.getByText('Banned since').waitFor();
  await page.getByLabel('COLLABORATION_ENABLED').fill('false');
  await page.getByRole('row', { name: 'COLLABORATION_ENABLED' }).getByRole('button').click();
  await page.getByText('COLLABORATION_ENABLED is set.').waitFor();

  await page.getByRole('button', { name: 'Close the registration' }).click();
  await page.getByText('Nobody can register.').waitFor();
  const headers = { 'x-shared-server-key': accessKey };
  await t.throwsAsync(register(server, { email: 'late@example.org' }, { headers }), {
    message: /not registered/,
  });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Signed out.').waitFor();
  t.deepEqual(incidents, []);
  const others = [...paths].filter((path) => !path.startsWith('/v1/admin/') && !openPaths.has(path));
  t.deepEqual(others, [], 'it asks what administrators and anybody who signs in may ask');
});

test('an administrator sends a test mail, and discards a mail that the relay has refused', async (t) => {
  const relay = await startSmtpServer(t);
  const settings = {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(relay.port),
    SMTP_FROM: 'Notes <notes@example.org>',
  };
  const { server, page, incidents } = await sceneOf(t, {}, settings);
  const headers = { 'x-shared-server-key': accessKey };
  // The relay refuses this address, to which the server writes that the account has another one now.
  const refused = await register(server, { email: 'reject@example.org' }, { headers });
  t.is((await changeEmail(server, refused, 'moved@example.org', { headers })).status, 200);
  await signInWithKey(page);
  const mail = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Mail' }) });

  await mail.getByLabel('Send a test to').fill('bob@example.org');
  await mail.getByRole('button', { name: 'Send' }).click();
  await page.getByText('sent, by the relay direct').waitFor();
  await until(() => relay.received.some(({ recipients }) => recipients.includes('bob@example.org')));
  const discard = mail.getByRole('button', { name: 'Discard' });
  // The server tries to send the mail in its own time.
  await until(async () => {
    await mail.getByRole('button', { name: 'Refresh' }).click();
    return (await discard.count()) === 1;
  });
  t.is(await mail.getByRole('cell', { name: 'rejected', exact: true }).count(), 1);
  await discard.click();
  await discard.waitFor({ state: 'detached' });
  t.deepEqual(incidents, []);
});

test('an administrator sees the relays in their order, and has a refused mail tried again through another', async (t) => {
  const { server, page, incidents } = await sceneOf(t);
  const strict = await startSmtpServer(t);
  const lenient = await startSmtpServer(t, { takesAll: true });
  const headers = { 'x-shared-server-key': accessKey };
  const putRelays = await relaysBy(server, headers);
  const relay = { kind: 'smtp', name: 'A relay', from: 'Notes <notes@example.org>', host: '127.0.0.1' };
  const unsealed = { ...relay, security: 'none', enabled: true };
  const account = { username: 'server', credentials: { password: 'a secret word' } };
  const sleeping = { ...unsealed, ...account, id: 'sleeping', port: strict.port, enabled: false };
  t.is(await putRelays([{ ...unsealed, id: 'strict', port: strict.port }, sleeping]), 200);
  const refused = await register(server, { email: 'reject@example.org' }, { headers });
  t.is((await changeEmail(server, refused, 'moved@example.org', { headers })).status, 200);

  await signInWithKey(page);
  const mail = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Mail' }) });
  const rowsOf = async (table: Locator) => {
    const rows = await table.getByRole('row').all();
    return (await Promise.all(rows.map((row) => row.getByRole('cell').allTextContents()))).slice(1);
  };
  const relays = mail.getByRole('table').first();
  const attempts = async () =>
    (await rowsOf(mail.getByRole('table').last())).map(([, relayId, , outcome]) => `${relayId} ${outcome}`);
  const retry = mail.getByRole('button', { name: 'Try again' });
  await until(async () => {
    await mail.getByRole('button', { name: 'Refresh' }).click();
    return (await retry.count()) === 1 && (await mail.getByRole('cell', { name: 'rejected' }).count()) > 0;
  });
  t.deepEqual(await rowsOf(relays), [
    ['strict', 'smtp 127.0.0.1', '"Notes" <notes@example.org>', 'yes', 'no'],
    ['sleeping', 'smtp 127.0.0.1', '"Notes" <notes@example.org>', 'no', 'yes'],
  ]);

  t.is(await putRelays([{ ...unsealed, id: 'lenient', port: lenient.port }]), 200);
  await retry.click();
  await until(() => lenient.received.some(({ recipients }) => recipients.includes('reject@example.org')));
  await until(async () => {
    await mail.getByRole('button', { name: 'Refresh' }).click();
    return (await attempts()).includes('lenient sent');
  });
  t.deepEqual(
    (await rowsOf(relays)).map(([id]) => id),
    ['lenient'],
  );
  t.is(await retry.count(), 0);
  t.true((await attempts()).some((attempt) => attempt.startsWith('strict rejected')));
  t.deepEqual(incidents, []);
});

/** Resolves to what replaces the list of relays, with the administrator's session. It answers the status. */
async function relaysBy(server: RunningServer, headers: Readonly<Record<string, string>>) {
  const signedIn = await signInByApi(server, { ...admin, password: await adminPassword() }, { headers });
  const bearer = tokensOf(signedIn).access;
  return async (relays: readonly object[]): Promise<number> => {
    const body = { relays, fallbackPolicy: { mode: 'none' } };
    return (await call(server.url, 'PUT', '/v1/admin/email-delivery/relays', { bearer, body, headers }))
      .status;
  };
}

test('a wrong password and a user who is no administrator get in nowhere', async (t) => {
  const { page, incidents } = await sceneOf(t);
  await signIn(page, 'wrong');
  await page.getByLabel('Access key of this server').fill(accessKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Invalid email or password').waitFor({ timeout: 60_000 });
  t.is(await page.getByRole('heading', { name: 'Registration' }).count(), 0);
  t.deepEqual(incidents, []);
});

test('a server that was not asked for the page has none', async (t) => {
  t.timeout(180_000);
  const server = await startServer();
  t.teardown(() => server.stop());
  t.is((await fetch(`${server.url}/admin`)).status, 404);
});
