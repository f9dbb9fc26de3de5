/**
 * Accounts from a former protocol of the client: their owner signs in with the present one, finds the notes, and
 * upgrades. The library's own code for that protocol makes the old client's requests.
 */
import test from 'ava';
import { type ReceivedKeyParams, serverPasswordOf } from '../../cli/import/account/server-password.ts';
import { headerSessions } from '../kit/account.ts';
import { call } from '../kit/http.ts';
import type { Device } from './device.ts';
import type { Account, OldVersion } from './page/client.ts';
import { type DeviceStyle, World } from './world.ts';

const style: DeviceStyle = { pageOrigin: 'same', apiVersion: '20240226' };
const oldNotes = [
  { title: 'an old note', text: 'written long ago' },
  { title: 'another', text: 'kept ever since' },
];
let world: World;

test.before(async () => {
  world = await World.open({ E2E_TESTING: 'true' });
});
test.after.always(() => world?.close());

test.after('the server reports no failure of its own', (t) => {
  t.deepEqual(world.serverFailures, []);
});

for (const version of ['001', '002', '003'] as const) {
  test.serial(`an account of ${version} signs in, finds its notes and upgrades`, async (t) => {
    const account = { email: `old-${version}@example.org`, password: 'correct horse battery' };
    const a = await world.device(`a-${version}`, style);
    const { password, ...keyParams } = await makeOldAccount(a, version, account);
    t.is(await serverPasswordOf(account.password, keyParams), password, 'as the library derives it');

    t.is(await a.client.signIn(account), undefined);
    t.true(await a.client.sync());
    t.is(await a.client.protocolVersion(), version);
    t.deepEqual(await titlesAndTexts(a), oldNotes);
    await a.client.createNote({ title: 'before', text: 'the upgrade' });
    t.true(await a.client.sync());

    const b = await world.device(`b-${version}`, style);
    t.is(await b.client.signIn(account), undefined);
    t.deepEqual(await titlesAndTexts(b), await titlesAndTexts(a));

    t.true(await a.client.upgradeIsAvailable());
    t.is(await a.client.upgrade(), undefined);
    t.is(await a.client.protocolVersion(), '004');
    await a.client.createNote({ title: 'since', text: 'the upgrade' });
    t.true(await a.client.sync());
    t.is((await a.client.sessions()).length, 1);
    t.deepEqual(
      a.answers.filter((answer) => / (401|498|5\d\d)$/.test(answer)),
      [],
    );

    await Promise.all([b.client.askedForCredentials(), b.client.sync()]);
    await b.client.answerCredentials(account);
    t.true(await b.client.sync());
    const c = await world.device(`c-${version}`, style);
    t.is(await c.client.signIn(account), undefined);
    for (const device of [b, c]) {
      t.deepEqual(await titlesAndTexts(device), await titlesAndTexts(a));
      t.is(await device.client.undecryptableItemCount(), 0);
      t.is(await device.client.protocolVersion(), '004');
    }
    await Promise.all([a, b, c].map((device) => device.close()));
  });
}

/** Resolves to the key params and the server password that the library has made. */
async function makeOldAccount(
  device: Device,
  version: OldVersion,
  account: Account,
): Promise<ReceivedKeyParams & { readonly password: string }> {
  const { registration, items } = await device.client.oldAccount(version, account, oldNotes);
  const api = headerSessions;
  const made = await call(world.serverUrl, 'POST', '/v1/users', { body: { ...registration, api } });
  if (made.status !== 200) throw new Error(`not registered: ${made.text}`);
  const bearer = made.body.token;
  const saved = await call(world.serverUrl, 'POST', '/v1/items', { body: { items, api }, bearer });
  if (saved.body.saved_items.length !== items.length) throw new Error(`not saved: ${saved.text}`);
  return registration as ReceivedKeyParams & { readonly password: string };
}

async function titlesAndTexts({ client }: Device): Promise<{ title: string; text: string }[]> {
  return (await client.notes()).map(({ title, text }) => ({ title, text }));
}
