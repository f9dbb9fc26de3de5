/** Subscription, invites and the file of an export, as the client itself reads and sends them. */
import test from 'ava';
import { World } from './world.ts';

const style = { pageOrigin: 'other', apiVersion: '20200115' } as const;
const password = 'correct horse battery';
let world: World | undefined;

test.before(async () => {
  world = await World.open({});
});
test.after.always(() => world?.close());

async function registered(name: string) {
  const device = await (world as World).device(name, style);
  await device.client.register({ email: `${name}@example.org`, password });
  return device;
}

test('the client has the subscription of everybody', async (t) => {
  const a = await registered('subscriber');
  const subscription = await a.client.subscription();
  t.like(subscription, { planName: 'PRO_PLAN', cancelled: false });
  t.true((subscription?.endsAt ?? 0) / 1_000 > Date.now());
  await a.close();
});

test('every feature that the client knows is given, as the client describes it', async (t) => {
  const a = await registered('featured');
  const { account, headers } = signedIn(await a.client.accessToken());
  const answer = await fetch(`${account}/features`, { headers });
  const { features } = ((await answer.json()) as { data: { features: { identifier: string }[] } }).data;
  const byIdentifier = new Map(features.map((feature) => [feature.identifier, feature]));
  const known = await a.client.nativeFeatures();
  t.true(known.length > 30);
  for (const feature of known) t.like(byIdentifier.get(String(feature['identifier'])), feature);
  await a.close();
});

test('the client invites, lists, accepts and cancels', async (t) => {
  const a = await registered('inviter');
  const b = await registered('guest');
  t.true(await a.client.invite('guest@example.org'));
  t.false(await a.client.invite('guest@example.org'));
  const [sent] = await a.client.invitations();
  t.like(sent, { inviteeIdentifier: 'guest@example.org', status: 'sent' });
  const uuid = sent?.uuid ?? '';
  t.is(await b.client.acceptInvitation(uuid), undefined);
  t.is((await a.client.invitations())[0]?.status, 'accepted');
  t.true(await a.client.cancelInvitation(uuid));
  t.is((await a.client.invitations())[0]?.status, 'canceled');
  t.is(await b.client.acceptInvitation(uuid), 'This invite is not valid any more.');
  await Promise.all([a.close(), b.close()]);
});

test('the client imports an export into another account', async (t) => {
  const a = await registered('leaver');
  await a.client.createNote({ title: 'a title', text: 'a text' });
  t.true(await a.client.sync());
  const file = await exportOf(await a.client.accessToken());
  t.false(file.includes('a title'));
  const b = await registered('newcomer');
  await b.client.importFile(file, password);
  t.true(await b.client.sync());
  const notes = await b.client.notes();
  t.deepEqual(
    notes.map(({ title, text }) => [title, text]),
    [['a title', 'a text']],
  );
  await Promise.all([a.close(), b.close()]);
});

/** The credentials of a program that makes the requests that the client does not. */
function signedIn({ value }: { readonly value: string }) {
  const url = (world as World).serverUrl;
  const [, userUuid = ''] = /^1:([0-9a-f-]{36})\./.exec(value) ?? [];
  const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/json' };
  return { url, account: `${url}/v1/users/${userUuid}`, headers };
}

/** Like a person, with a token and any program. */
async function exportOf(token: { readonly value: string }): Promise<string> {
  const { url, account, headers } = signedIn(token);
  const body = JSON.stringify({ requestType: 'data-export' });
  const answer = await fetch(`${account}/requests`, { method: 'POST', headers, body });
  const { data } = (await answer.json()) as { data: { request: { path: string } } };
  return (await fetch(`${url}${data.request.path}`, { headers })).text();
}
