/**
 * Signing in and out, sessions, passwords and the end of an account. The page comes from another origin than the
 * server, and the client uses cookie sessions. The tests are the steps of one story and run in order.
 */
import test, { type ExecutionContext } from 'ava';
import { createSigninKeys } from '../../actors/identity/signin-keys.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import type { Device } from './device.ts';
import type { Account } from './page/client.ts';
import { type DeviceStyle, World } from './world.ts';

const email = 'accounts@example.org';
const secondEmail = 'moved@example.org';
const firstPassword = 'correct horse battery';
const secondPassword = 'another horse, another battery';
const style: DeviceStyle = { pageOrigin: 'other', apiVersion: '20240226' };
const secretKey = '01'.repeat(32);
let world: World | undefined;
let a: Device;
/** The other device of the account, passed from one step to the next. */
let b: Device;

test.before(async () => {
  world = await World.open({ SECRET_KEY: secretKey });
  a = await world.device('a', style);
  await a.client.register({ email, password: firstPassword });
  await a.client.createNote({ title: 'note', text: 'kept' });
  await a.client.sync();
});

test.after.always(() => world?.close());

test.after('the server reports no failure of its own', (t) => {
  t.deepEqual(world?.serverFailures, []);
});

/** An address without a made-up second factor, which about half of all unknown addresses get. */
function unknownEmail(): string {
  const keys = createSigninKeys(createKeyring(Buffer.from(secretKey, 'hex')));
  const emails = Array.from({ length: 100 }, (_, index) => `nobody-${index}@example.org`);
  const isAsked = (email: string) => keys.pseudoFactor({ email, workspace: 'default' }) !== undefined;
  return emails.find((email) => !isAsked(email)) ?? '';
}

test.serial('a second registration of the same address is refused', async (t) => {
  const c = await device('again');
  await t.throwsAsync(c.client.register({ email, password: secondPassword }));
  await c.close();
});

test.serial('a wrong password and an unknown address are refused alike', async (t) => {
  const c = await device('stranger');
  const wrong = await c.client.signIn({ email, password: 'not the password' });
  const unknown = await c.client.signIn({ email: unknownEmail(), password: 'not the password' });
  t.is(wrong?.status, 401);
  t.deepEqual(wrong, unknown);
  await c.close();
});

test.serial(
  'the sessions of the account are listed, an ephemeral one too, one as the current one',
  async (t) => {
    b = await device('b');
    t.is(await b.client.signIn({ email, password: firstPassword }, { ephemeral: true }), undefined);
    t.true(await b.client.sync());

    const sessions = await a.client.sessions();
    t.is(sessions.length, 2);
    t.is(sessions.filter((session) => session.current).length, 1);
    t.true(sessions.every((session) => !Number.isNaN(Date.parse(session.updated_at))));
    t.true(sessions.every((session) => session.device_info.includes('Chrom')));
  },
);

test.serial('signing out ends the session and takes its cookies away', async (t) => {
  await b.client.signOut();
  t.true(b.answers.includes('POST /v1/logout 204'));
  t.deepEqual(await b.cookieNames(), []);

  t.is((await a.client.sessions()).length, 1);
  t.true(await a.client.sync());
  await b.close();
});

test.serial('a revoked session wipes its device at the next sync, and only that device', async (t) => {
  b = await signedIn('b', { email, password: firstPassword });
  const other = (await a.client.sessions()).find((session) => !session.current);
  t.is(await a.client.revokeSession(other?.uuid ?? ''), undefined);

  await Promise.all([b.client.ended(), b.client.sync()]);
  t.true(b.answers.includes('POST /v1/items 401'));
  t.is((await a.client.sessions()).length, 1);
  t.true(await a.client.sync());
  await b.close();
});

test.serial(
  'after a change of password the other device is asked for it, goes on and loses nothing',
  async (t) => {
    b = await signedIn('b', { email, password: firstPassword });
    t.is(await a.client.changePassword(secondPassword), undefined);
    await a.client.createNote({ title: 'second', text: 'after the change' });
    t.true(await a.client.sync());

    await b.client.createNote({ title: 'third', text: 'written under the old password' });
    await Promise.all([b.client.askedForCredentials(), b.client.sync()]);
    await b.client.answerCredentials({ email, password: secondPassword });
    t.true(await b.client.sync());
    t.true(await a.client.sync());
    await holdsTheNotesOfA(t, b);
    t.is((await a.client.notes()).length, 3);
  },
);

test.serial('the old password is refused', async (t) => {
  const c = await device('c');
  t.is((await c.client.signIn({ email, password: firstPassword }))?.status, 401);
  await c.close();
});

test.serial('after a change of address the account opens under the new one only', async (t) => {
  t.is(await a.client.changeEmail(secondEmail), undefined);
  t.true(await a.client.sync());
  await Promise.all([b.client.askedForCredentials(), b.client.sync()]);
  await b.close();

  b = await device('b');
  t.is((await b.client.signIn({ email, password: secondPassword }))?.status, 401);
  t.is(await b.client.signIn({ email: secondEmail, password: secondPassword }), undefined);
  await holdsTheNotesOfA(t, b);
});

test.serial('a deleted account is gone for its other devices and for new ones', async (t) => {
  t.is(await a.client.deleteAccount(), undefined);

  await Promise.all([b.client.askedForCredentials(), b.client.sync()]);
  const c = await device('c');
  t.is((await c.client.signIn({ email: secondEmail, password: secondPassword }))?.status, 401);
});

async function holdsTheNotesOfA(t: ExecutionContext, on: Device): Promise<void> {
  t.deepEqual(await on.client.notes(), await a.client.notes());
  t.is(await on.client.undecryptableItemCount(), 0);
}

async function signedIn(name: string, account: Account): Promise<Device> {
  const opened = await device(name);
  const refusal = await opened.client.signIn(account);
  if (refusal !== undefined) throw new Error(`Sign-in was refused: ${refusal.status} ${refusal.message}`);
  return opened;
}

function device(name: string): Promise<Device> {
  if (world === undefined) throw new Error('The world did not open.');
  return world.device(name, style);
}
