import { readFileSync, statSync } from 'node:fs';
import { join as joined } from 'node:path';
import test from 'ava';
import { defaultItemSettings } from '../../../actors/collection/settings.ts';
import { statusOf } from '../../kit/account.ts';
import type { Device } from '../../kit/device.ts';
import { ciphertext, RemoteFile } from '../../kit/files.ts';
import { startApi } from '../../kit/internal-api.ts';
import { deletion, note } from '../../kit/items.ts';
import { operate } from '../../kit/operator.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';
import { join, makeVault, vaults as vaultsAt } from '../../kit/vaults.ts';

const dayMs = 86_400_000;
const path = ({ account }: Device) => `/v1/users/${account.userUuid}/requests`;
const ask = (device: Device, requestType: unknown, headers: Record<string, string> = {}) =>
  device.call('POST', path(device), { body: { requestType }, headers });
const requested = async (device: Device): Promise<string> =>
  (await ask(device, 'data-export')).body.request.path;

const inVault = (vault: string) =>
  note({ uuid: crypto.randomUUID(), shared_vault_uuid: vault, key_system_identifier: 'system' });
const uuidsOf = (items: readonly { readonly uuid: string }[]) => items.map(({ uuid }) => uuid);

/** The whole file, parsed. */
async function fetched(device: Device, from: string) {
  const answer = await device.call('GET', from);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

test('an export is a file of all items, as ciphertext, with the key params of the account', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const items = Array.from({ length: 700 }, () => note({ uuid: crypto.randomUUID() }));
  for (let at = 0; at < items.length; at += 100) await phone.sync({ items: items.slice(at, at + 100) });
  const removed = { uuid: crypto.randomUUID() };
  const { saved_items: saved } = await phone.save(note(removed));
  await phone.save(deletion(removed.uuid, saved[0]?.updated_at_timestamp ?? 0));
  const answer = await ask(phone, 'data-export');
  t.like(answer.body, { success: true, request: { requestType: 'data-export' } });
  const { createdAt, expiresAt, path: from } = answer.body.request;
  t.is(expiresAt - createdAt, dayMs * 1_000);
  const download = await phone.call('GET', from);
  t.is(download.headers.get('content-type'), 'application/json; charset=utf-8');
  t.is(download.headers.get('cache-control'), 'private, no-store');
  t.regex(download.headers.get('content-disposition') ?? '', /^attachment; filename="/);
  const file = JSON.parse(download.text);
  t.is(file.version, '004');
  t.is(file.keyParams.identifier, phone.account.email);
  const uuids = file.items.map(({ uuid }: { uuid: string }) => uuid);
  t.deepEqual(uuids.toSorted(), items.map(({ uuid }) => uuid).toSorted());
  const sent = items[3];
  t.like(
    file.items.find(({ uuid }: { uuid: string }) => uuid === sent?.uuid),
    { content: sent?.content },
  );
});

test('an operator exports the same file, also of a user who cannot sign in', async (t) => {
  const api = await startApi(t);
  const { server } = api;
  const phone = await server.device();
  for (let count = 0; count < 7; count += 1) {
    await phone.sync({ items: Array.from({ length: 100 }, () => note({ uuid: crypto.randomUUID() })) });
  }
  const file = await fetched(phone, await requested(phone));
  t.is(file.items.length, 700);
  const out = joined(temporaryFolder(t), 'export.txt');
  const { email, userUuid } = phone.account;
  t.is((await operate(api, 'user', 'ban', userUuid, '--yes')).code, 0);
  const exported = await operate(api, 'export', 'user', email, '--out', out);
  t.is(exported.code, 0, exported.err);
  t.deepEqual(JSON.parse(readFileSync(out, 'utf8')), file);
  t.is(statSync(out).mode & 0o777, 0o600);
  const again = await operate(api, 'export', 'user', email, '--out', out);
  t.is(again.code, 64);
  t.regex(again.err, /cannot be made: EEXIST/);
  t.is((await operate(api, 'export', 'user', 'nobody@example.org')).code, 1);
});

test('an export has what the account owns in its vaults, the history of items, and a list of files', async (t) => {
  const server = await startServer(t, {
    items: { revisions: { ...defaultItemSettings.revisions, pauseMs: 0 } },
  });
  const [alice, bob] = [await server.device(), await server.device('bob@example.org')];
  const vaults = [await makeVault(alice), await makeVault(alice)];
  for (const vault of vaults) await join(alice, vault, bob);
  const own = note({ uuid: crypto.randomUUID(), content: '004:before' });
  const { saved_items: first } = await alice.save(own);
  await alice.save({
    ...own,
    content: '004:after',
    updated_at_timestamp: first[0]?.updated_at_timestamp ?? 0,
  });
  const [mine, another] = [inVault(vaults[0] ?? ''), inVault(vaults[1] ?? '')];
  await alice.sync({ items: [mine, another] });
  await bob.sync({ items: [inVault(vaults[0] ?? '')] });
  const upload = new RemoteFile(alice);
  await upload.upload(ciphertext(40));

  const file = await fetched(alice, await requested(alice));
  const owned = [own, mine, another].map((each) => each?.uuid);
  t.deepEqual(uuidsOf(file.items).toSorted(), owned.toSorted());
  const contents = file.revisions
    .filter(({ item_uuid: uuid }: { item_uuid: string }) => uuid === own.uuid)
    .map(({ content }: { content: string }) => content);
  t.deepEqual(contents, ['004:before']);
  t.is(file.revisions.length, 1, 'the newest revision is the item itself');
  t.like(file.files, [
    { remote_identifier: upload.remoteIdentifier, shared_vault_uuid: null, encrypted_bytes: 40 },
  ]);

  await alice.call('DELETE', `${vaultsAt}/${vaults[1]}/users/${bob.account.userUuid}`);
  t.is((await fetched(bob, await requested(bob))).items.length, 1);
  await alice.call('DELETE', `${vaultsAt}/${vaults[0]}/users/${bob.account.userUuid}`);
  const left = await fetched(bob, await requested(bob));
  t.deepEqual([left.items, left.revisions, left.files], [[], [], []]);
});

test('an empty account has a file without items', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  t.deepEqual((await fetched(phone, await requested(phone))).items, []);
});

test('asking again within a day finds the same export, and after it a new one', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const first = await requested(phone);
  await server.restart();
  t.is(await requested(phone), first);
  t.deepEqual((await fetched(phone, first)).items, []);
  await server.advance(dayMs);
  t.is((await phone.call('GET', first)).status, 404);
  t.not(await requested(phone), first);
});

test('only its owner fetches an export, and no session that may only read', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const eve = await server.device('eve@example.org');
  const own = await requested(phone);
  t.is((await eve.call('GET', own)).status, 403);
  t.is((await eve.call('GET', own.replace(phone.account.userUuid, eve.account.userUuid))).status, 404);
  t.is((await server.call('GET', own)).status, 401);
  t.is((await eve.call('POST', path(phone), { body: { requestType: 'data-export' } })).status, 403);
  await server.restart({ accounts: { readonlyUsers: new Set([phone.account.email]) } });
  t.is((await phone.call('GET', own)).body.error.tag, 'read-only-access');
  t.is((await ask(phone, 'data-export')).body.error.tag, 'read-only-access');
});

test('an export is fetched ten times at most', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const own = await requested(phone);
  for (let count = 0; count < 10; count += 1) t.is((await phone.call('GET', own)).status, 200);
  t.is((await phone.call('GET', own)).status, 429);
});

test('a request for deletion needs the password, and deletes the account', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const without = await ask(phone, 'account-deletion');
  t.deepEqual([without.status, without.body.success], [400, false]);
  const wrong = await ask(phone, 'account-deletion', { 'x-server-password': 'wrong' });
  t.deepEqual([wrong.status, wrong.body.success], [400, false]);
  const headers = { 'x-server-password': phone.account.password };
  const eve = await server.device('eve@example.org');
  const foreign = { body: { requestType: 'account-deletion' }, headers };
  t.not((await eve.call('POST', path(phone), foreign)).status, 200);
  t.is(await statusOf(server, phone.account), '200');
  t.deepEqual((await ask(phone, 'account-deletion', headers)).body, { success: true });
  t.is(await statusOf(server, phone.account), '401 invalid-auth');
});

test('other requests are refused, as clients expect of those they know', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const type of ['exit-discount', '', undefined, 5]) {
    const { status, body } = await ask(phone, type);
    t.is(status, 400);
    if (typeof type === 'string') t.false(body.success);
  }
});

/** Reads a download a chunk at a time. */
async function download(server: TestServer, { account }: Device, from: string) {
  const answer = await fetch(server.url + from, {
    headers: { authorization: `Bearer ${account.access}`, cookie: account.cookie },
  });
  const reader = answer.body?.getReader();
  if (reader === undefined) throw new Error('there is no body');
  return reader;
}

type Reader = Awaited<ReturnType<typeof download>>;

async function rest(reader: Reader): Promise<string> {
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString();
  }
}

/** Far more than the sockets buffer. */
async function saveMuch(phone: Device): Promise<readonly string[]> {
  const uuids = [];
  for (let count = 0; count < 16; count += 1) {
    const uuid = crypto.randomUUID();
    await phone.save(note({ uuid, content: `004:${'x'.repeat(1_000_000)}` }));
    uuids.push(uuid);
  }
  return uuids;
}

test('a download goes on where a host has died, and has what was saved meanwhile', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const uuids = await saveMuch(phone);
  const reader = await download(server, phone, await requested(phone));
  const first = Buffer.from((await reader.read()).value ?? []).toString();
  await server.restart();
  const later = crypto.randomUUID();
  await phone.save(note({ uuid: later }));
  const file = JSON.parse(first + (await server.answered(rest(reader), 30_000)));
  t.deepEqual(new Set(file.items.map(({ uuid }: { uuid: string }) => uuid)), new Set([...uuids, later]));
});

test('a second download ends the first, and so does the end of the session', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const tablet = await server.device();
  await saveMuch(phone);
  const from = await requested(phone);
  const first = await download(server, phone, from);
  await first.read();
  const second = await download(server, tablet, from);
  await second.read();
  await t.throwsAsync(rest(first));
  t.is((await phone.call('DELETE', '/v1/sessions')).status, 204);
  await t.throwsAsync(rest(second));
});
