/**
 * The access token expires while the client is at work, in every style of session. The client learns of it from the
 * 498, refreshes once and repeats its request; its user notices nothing.
 */
import test, { type ExecutionContext } from 'ava';
import type { Device } from './device.ts';
import { type DeviceStyle, World } from './world.ts';

const shortLived = { ACCESS_TOKEN_AGE: '2' };
/**
 * The automatic setting of a server with an https `PUBLIC_URL`; Chromium keeps cookies of another site only with it.
 */
const password = 'correct horse battery';
let world: World | undefined;

test.before(async () => {
  world = await World.open(shortLived);
});

test.after.always(() => world?.close());

test('a cookie session refreshes from a page on the same origin', async (t) => {
  await keepsSyncing(t, world, { pageOrigin: 'same', apiVersion: '20240226' }, '2:');
});

test('a cookie session refreshes from a page on another origin', async (t) => {
  await keepsSyncing(t, world, { pageOrigin: 'other', apiVersion: '20240226' }, '2:');
});

test('a header session refreshes, as a client of the mobile api version has it', async (t) => {
  await keepsSyncing(t, world, { pageOrigin: 'other', apiVersion: '20200115' }, '1:');
});

test('a cookie session refreshes from a page on another site of this machine, over plain http', async (t) => {
  await keepsSyncing(t, world, { pageOrigin: 'foreign', apiVersion: '20240226' }, '2:');
});

test('a page on another site is told why it cannot register where its cookies would not come back', async (t) => {
  const server = await World.open({ COOKIE_SECURE: 'false' });
  t.teardown(() => server.close());
  const account = { email: 'lost@example.org', password };
  const foreign = await server.device('foreign', { pageOrigin: 'foreign', apiVersion: '20240226' });
  await t.throwsAsync(foreign.client.register(account), { message: /different sites.*PUBLIC_URL/ });
  const own = await server.device('own', { pageOrigin: 'other', apiVersion: '20240226' });
  await own.client.register(account);
  t.true(await own.client.sync());
});

test('in conformance mode every session is a header session, and refreshes', async (t) => {
  const conformance = await World.open({ ...shortLived, E2E_TESTING: 'true' });
  t.teardown(() => conformance.close());
  await keepsSyncing(t, conformance, { pageOrigin: 'other', apiVersion: '20240226' }, '1:');
});

async function keepsSyncing(
  t: ExecutionContext,
  server: World | undefined,
  style: DeviceStyle,
  tokenPrefix: string,
): Promise<void> {
  if (server === undefined) return t.fail('The world did not open.');
  const account = { email: `${style.pageOrigin}-${style.apiVersion}@example.org`, password };
  const a = await server.device('a', style);
  await a.client.register(account);
  const uuid = await a.client.createNote({ title: 'note', text: 'before' });
  t.true(await a.client.sync());
  t.true((await a.client.accessToken()).value.startsWith(tokenPrefix));

  for (const text of ['after one refresh', 'after two refreshes']) {
    const { expiresAt } = await a.client.accessToken();
    const refreshes = refreshCount(a);
    await a.client.accessTokenExpired();
    await a.client.editNote(uuid, text);
    t.true(await a.client.sync());
    t.true(refreshCount(a) > refreshes);
    t.true((await a.client.accessToken()).expiresAt > expiresAt);
  }

  t.true(await a.client.isInSync());
  t.is(await a.client.unsavedItemCount(), 0);
  t.deepEqual(await a.client.alerts(), []);
  t.deepEqual(server.serverFailures, []);
  await a.close();
}

function refreshCount(device: Device): number {
  return device.answers.filter((answer) => answer === 'POST /v1/sessions/refresh 200').length;
}
