/**
 * Second factors, as the unmodified client sets them up, asks for them and loses them. The tests are the steps of one
 * story and run in order.
 */
import test from 'ava';
import { generateSync } from 'otplib';
import type { Device } from './device.ts';
import { type DeviceStyle, World } from './world.ts';

const account = { email: 'factors@example.org', password: 'correct horse battery' };
const style: DeviceStyle = { pageOrigin: 'other', apiVersion: '20240226' };
let world: World | undefined;
let a: Device;
let secret: string;
let recoveryCodes: string;

test.before(async () => {
  world = await World.open();
  a = await world.device('a', style);
  await a.client.register(account);
  await a.client.createNote({ title: 'note', text: 'kept' });
  await a.client.sync();
});

test.after.always(() => world?.close());

test.after('the server reports no failure of its own', (t) => {
  t.deepEqual(world?.serverFailures, []);
});

test.serial('a code of the authenticator app turns it on', async (t) => {
  t.false(await a.client.isAuthenticatorAppOn());
  secret = await a.client.authenticatorAppSecret();
  await a.client.turnAuthenticatorAppOn(secret, codeOf(secret));
  t.true(await a.client.isAuthenticatorAppOn());
});

test.serial('recovery codes are made once and then shown again', async (t) => {
  recoveryCodes = await a.client.recoveryCodes();
  t.regex(recoveryCodes, /^([0-9A-F]{4} ){9}[0-9A-F]{4}$/);
  t.is(await a.client.recoveryCodes(), recoveryCodes);
});

test.serial('another device gets in with the right code and not with a wrong one', async (t) => {
  const b = await device('b');
  const next = codeOf(secret, 1);
  const wrong = next.replace(/^\d/, (digit) => String((Number(digit) + 1) % 10));
  t.is((await b.client.signIn(account, { code: wrong }))?.status, 401);
  t.is(await b.client.signIn(account, { code: codeOf(secret, 1) }), undefined);
  t.deepEqual(await b.client.notes(), await a.client.notes());
  await b.close();
});

test.serial(
  'a device that was approved by another gets in by signing in again, without a code, once',
  async (t) => {
    const b = await device('b');
    t.is((await b.client.signIn(account, { code: 'none' }))?.status, 401);
    t.is(await a.client.approveSignIns(world?.serverUrl ?? ''), 1);
    t.is(await b.client.signIn(account, { code: 'none' }), undefined);
    t.deepEqual(await b.client.notes(), await a.client.notes());
    await b.client.signOut();
    await b.reinstall();
    t.is((await b.client.signIn(account, { code: 'none' }))?.status, 401);
    await b.close();
  },
);

test.serial(
  'a user who has lost the app gets in with the recovery codes, once, and the factor is off then',
  async (t) => {
    const c = await device('c');
    const wrong = recoveryCodes.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    t.truthy(await c.client.signInWithRecoveryCodes(account, wrong));
    t.is(await c.client.signInWithRecoveryCodes(account, recoveryCodes), undefined);
    t.true(await c.client.sync());
    t.deepEqual(await c.client.notes(), await a.client.notes());
    t.false(await c.client.isAuthenticatorAppOn());
    await c.close();

    const d = await device('d');
    t.truthy(await d.client.signInWithRecoveryCodes(account, recoveryCodes));
    t.is(await d.client.signIn(account), undefined);
    await d.close();
  },
);

test.serial('the app is turned on again with another secret, and off', async (t) => {
  const another = await a.client.authenticatorAppSecret();
  t.not(another, secret);
  await a.client.turnAuthenticatorAppOn(another, codeOf(another));
  t.true(await a.client.isAuthenticatorAppOn());
  await a.client.turnAuthenticatorAppOff();
  t.false(await a.client.isAuthenticatorAppOn());

  const b = await device('b');
  t.is(await b.client.signIn(account), undefined);
  await b.close();
});

test.serial('a security key is added, asked for at sign-in, and removed', async (t) => {
  await a.plugInSecurityKey();
  await a.client.addSecurityKey('mine');
  const [key] = await a.client.securityKeys();
  t.is(key?.name, 'mine');

  await a.client.signOut();
  await a.reinstall();
  t.is(await a.client.signIn(account), undefined);
  t.true(a.answers.includes('POST /v1/authenticators/generate-authentication-options 200'));
  t.is((await a.client.notes()).length, 1);

  await a.client.removeSecurityKey(key?.id ?? '');
  t.deepEqual(await a.client.securityKeys(), []);
  const b = await device('b');
  t.is(await b.client.signIn(account), undefined);
  await b.close();
});

/**
 * The current code, or that of the next step of 30 s. The server accepts each step only once, and it accepts the next one too.
 */
function codeOf(appSecret: string, stepsLater = 0): string {
  return generateSync({ secret: appSecret, epoch: Math.floor(Date.now() / 1_000) + 30 * stepsLater });
}

function device(name: string): Promise<Device> {
  if (world === undefined) throw new Error('The world did not open.');
  return world.device(name, style);
}
