/** The page for administrators as they use it, in a browser, on a started server. */
import test, { type ExecutionContext } from 'ava';
import type { Browser, Page } from 'playwright-core';
import { serverPasswordOf } from '../../cli/import/account/server-password.ts';
import { changeEmail, register } from '../kit/account.ts';
import { startSmtpServer } from '../kit/smtp-server.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { until } from '../kit/until.ts';
import { launchChromium } from './chromium.ts';

const admin = { email: 'admin@example.org', pw_nonce: 'c'.repeat(64) };
const typed = 'correct horse battery staple';
const accessKey = 'the key of this house';

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
  const password = await serverPasswordOf(typed, {
    identifier: admin.email,
    version: '004',
    pw_nonce: admin.pw_nonce,
  });
  await register(server, { ...admin, password }, { headers });
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
