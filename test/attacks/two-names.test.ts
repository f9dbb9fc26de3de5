/**
 * Two names for one thing: addresses that mail, or people, take for somebody else's, uuids in another casing, paths
 * in another spelling. A second spelling is the same thing with the same checks, or nothing.
 */
import { request } from 'node:http';
import test from 'ava';
import { register } from '../kit/account.ts';
import { makeToken, publish, publisher, showing, startCalendarServer, unpublish } from '../kit/calendar.ts';
import type { Device } from '../kit/device.ts';
import { note } from '../kit/items.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer, valetTokens } from '../kit/server.ts';
import { accept, invite, makeVault, rowsOf } from '../kit/vaults.ts';

const victim = 'victim@example.net';
const lookalikes = [
  'victim@ｅxample.net',
  'victim@example.ｎet',
  'ｖictim@example.net',
  'victim@exﬁample.net',
];

test('nobody registers, or changes to, a name that mail reads as another', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  await server.device(victim);
  const phone = await server.device('mallory@example.org');
  const { userUuid, password } = phone.account;
  for (const email of lookalikes) {
    await t.throwsAsync(register(server, { email }), undefined, email);
    const answer = await phone.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      body: {
        current_password: password,
        new_password: 'n'.repeat(64),
        new_email: email,
        pw_nonce: 'c'.repeat(64),
        api: '20200115',
        version: '004',
      },
    });
    t.is(answer.status, 401, email);
  }
});

test('nobody has mail sent to an address that mail reads as another', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const phone = await server.device('mallory@example.org');
  for (const email of lookalikes) {
    const invite = await phone.call('POST', '/v1/subscription-invites', { body: { identifier: email } });
    t.is(invite.status, 400, email);
    const body = { recipientEmail: email, shareUrl: 'https://notes.test/s/a#k', intervalDays: 1 };
    t.is((await phone.call('POST', '/v1/dead-man-switches', { body })).status, 400, email);
    const destination = { channel: 'email', destination: email };
    t.not(
      (await phone.call('PUT', '/v1/reminder-delivery/config', { body: destination })).status,
      200,
      email,
    );
  }
});

// --- uuids ----------------------------------------------------------------------------------------------------

/** A uuid with digits that have a case, spelt in three ways. */
const spellingsOf = (uuid: string): readonly string[] => [
  uuid,
  uuid.toUpperCase(),
  [...uuid].map((digit, at) => (at % 2 === 0 ? digit.toUpperCase() : digit)).join(''),
];
const newUuid = () => `abcdef${crypto.randomUUID().slice(6)}`;

test('an item is one item however its uuid is spelt: saved, listed, shown, and refused to others', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const uuid = newUuid();
  let version = 0;
  for (const [at, spelling] of spellingsOf(uuid).entries()) {
    const item = note({ uuid: spelling, content: `004:round-${at}`, updated_at_timestamp: version });
    const { saved_items: saved } = await phone.save(item);
    t.is(saved.length, 1, spelling);
    version = saved[0]?.updated_at_timestamp ?? 0;
  }
  const all = (await (await phone.another()).sync()).retrieved_items;
  t.deepEqual(
    all.map((each) => [each.uuid.toLowerCase(), each.content]),
    [[uuid, '004:round-2']],
  );
  for (const spelling of spellingsOf(uuid)) t.is((await phone.getItem(spelling)).status, 200, spelling);
  // Twice in one request is not twice in the account either.
  const twice = spellingsOf(uuid).map((each) => note({ uuid: each, updated_at_timestamp: version }));
  await phone.send({ items: twice });
  t.is((await (await phone.another()).sync()).retrieved_items.length, 1);
  const other = await server.device('bob@example.org');
  for (const spelling of spellingsOf(uuid)) {
    const { conflicts } = await other.save(note({ uuid: spelling }));
    t.is(conflicts[0]?.type, 'uuid_conflict', spelling);
  }
});

test('a vault, its members and its invites are the same however their uuids are spelt', async (t) => {
  const server = await startServer(t);
  const [owner, member] = [await server.device(), await server.device('bob@example.org')];
  const stranger = await server.device('eve@example.org');
  const vault = await makeVault(owner);
  for (const spelling of spellingsOf(member.account.userUuid)) {
    const inviteUuid = await invite(owner, vault.toUpperCase(), spelling);
    const [pending, ...others] = (await rowsOf(server, vault)).invites;
    t.deepEqual([pending?.uuid, others], [inviteUuid, []], 'one invite of a user at a time');
  }
  const [{ uuid: inviteUuid = '' } = {}] = (await rowsOf(server, vault)).invites;
  for (const spelling of spellingsOf(inviteUuid)) {
    t.true((await accept(stranger, vault, spelling)).status >= 400, 'an invite of somebody else');
  }
  t.is((await accept(member, vault.toUpperCase(), inviteUuid.toUpperCase())).status, 200);
  t.is((await rowsOf(server, vault)).members.length, 2);
  for (const spelling of spellingsOf(vault)) {
    const item = note({ uuid: newUuid(), shared_vault_uuid: spelling, key_system_identifier: 'key' });
    t.is((await member.save(item)).saved_items.length, 1, spelling);
    t.is((await stranger.save({ ...item, uuid: newUuid() })).saved_items.length, 0, spelling);
  }
  const removal = `/v1/shared-vaults/${vault.toUpperCase()}/users/${member.account.userUuid.toUpperCase()}`;
  t.is((await owner.call('DELETE', removal)).status, 200);
  for (const spelling of spellingsOf(vault)) {
    const item = note({ uuid: newUuid(), shared_vault_uuid: spelling, key_system_identifier: 'key' });
    t.is((await member.save(item)).saved_items.length, 0, spelling);
  }
});

test('a file has one token and one place however its identifier is spelt', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const identifier = newUuid();
  const claims = [];
  for (const remoteIdentifier of spellingsOf(identifier)) {
    const body = { operation: 'read', resources: [{ remoteIdentifier }] };
    const { valetToken } = (await phone.call('POST', '/v1/files/valet-tokens', { body })).body;
    claims.push(valetTokens.verify(valetToken)?.remoteIdentifier);
  }
  t.deepEqual(claims, [identifier, identifier, identifier]);
});

test('a share is one share however its id is spelt: opened, revoked, and refused to others', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const other = await server.device('bob@example.org');
  const body = { type: 'note', encryptedPayload: 'ciphertext' };
  const { shareId } = (await phone.call('POST', '/v1/shares', { body })).body;
  const open = async (spelling: string) => (await server.call('GET', `/v1/shares/${spelling}`)).status;
  for (const spelling of [...spellingsOf(shareId), shareId.replaceAll('-', '%2d')]) {
    t.is((await other.call('DELETE', `/v1/shares/${spelling}`)).status, 404, spelling);
    t.is(await open(spelling), 200, spelling);
  }
  for (const spelling of [
    `{${shareId}}`,
    shareId.replaceAll('-', ''),
    `urn:uuid:${shareId}`,
    `${shareId}%00`,
  ]) {
    t.true([400, 404].includes(await open(spelling)), spelling);
  }
  t.is((await phone.call('DELETE', `/v1/shares/${shareId.toUpperCase()}`)).status, 200);
  for (const spelling of spellingsOf(shareId)) t.is(await open(spelling), 404, spelling);
});

/** RFC 5545 compares uids literally, so these are three names of three to-dos. */
const uids = ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9'];

test('a to-do has one uid, which no other casing, form or escape names', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  const { token } = await makeToken(phone);
  for (const uid of uids) await publish(phone, { uid, summary: `summary of ${encodeURIComponent(uid)}` });
  const todos = `/dav/calendars/${phone.account.userUuid}/todos`;
  const read = async (file: string) => {
    const { status, text } = await server.call('GET', `${todos}/${file}`, showing(token));
    return status === 200 ? [...text.matchAll(/SUMMARY:(.*)\r/g)].map(([, summary]) => summary) : status;
  };
  for (const uid of uids) {
    const escaped = encodeURIComponent(uid);
    const summaries = [`summary of ${escaped}`];
    t.deepEqual(await read(`${escaped}.ics`), summaries, 'as it is');
    t.deepEqual(
      await read(`${escaped.toLowerCase().replaceAll('caf', '%63%61%66')}.ics`),
      uid.startsWith('c') ? summaries : 404,
    );
    t.is(await read(`${encodeURIComponent(escaped)}.ics`), 404, 'escaped twice');
  }
  t.is(await read('caf%C9.ics'), 400, 'no UTF-8');
  t.is((await phone.call('DELETE', `/v1/caldav/todos/${encodeURIComponent('CAFE\u0301')}`)).status, 404);
  t.is((await phone.call('GET', '/v1/caldav/todos')).body.todos.length, uids.length);
  t.is((await unpublish(phone, 'cafe\u0301')).status, 200);
  t.is(await read(`${encodeURIComponent('cafe\u0301')}.ics`), 404);
  t.deepEqual(await read(`${encodeURIComponent('caf\u00e9')}.ics`), [
    `summary of ${encodeURIComponent('caf\u00e9')}`,
  ]);
});

// --- paths ----------------------------------------------------------------------------------------------------

test('a path that names a thing by its uuid means the same in another casing, and is refused to others as ever', async (t) => {
  const server = await startServer(t);
  const phone = await server.device('owner@example.org');
  const stranger = await server.device('mallory@example.org');
  const { userUuid } = phone.account;
  const settings = `/v1/users/${userUuid.toUpperCase()}/settings`;
  t.is((await phone.call('GET', settings)).status, 200);
  t.is((await stranger.call('GET', settings)).status, 403);
  const made = await phone.call('POST', '/v1/app-passwords', { body: { label: 'mail program' } });
  const path = `/v1/app-passwords/${made.body.appPassword.uuid.toUpperCase()}`;
  t.is((await stranger.call('DELETE', path)).status, 404);
  t.is((await phone.call('DELETE', path)).status, 200);
  t.is((await phone.call('DELETE', path)).status, 404);
});

test('a path in another spelling is the same row with the same checks, or none at all', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const request = async (path: string, device?: Device) => {
    const headers: Record<string, string> = device
      ? { authorization: `Bearer ${device.account.access}` }
      : {};
    return statusOf(server.url, path, headers);
  };
  // The same endpoint: a trailing slash and escapes of plain letters.
  for (const path of ['/v1/sessions', '/v1/sessions/', '/v1/%73essions', '/%761/sessions']) {
    t.is(await request(path, phone), 200, path);
    t.is(await request(path), 401, `${path} without a session`);
  }
  const none = [
    '//v1/sessions',
    '/v1//sessions',
    '/v1/./sessions',
    '/v1/items/../sessions',
    '/v1/%2e/sessions',
    '/v1/items/%2e%2e/sessions',
    '/v1/items/%2E./sessions',
    '/v1%2fsessions',
    '/v1/items%2f..%2fsessions',
    '/v1/%5csessions',
    '/V1/sessions',
    '/v1/Sessions',
    '/v1/sessions//',
    '/v1/sessions%00',
    '/v1/sessions%20',
    '/v1/%2573essions',
    '/v1/sessions;a=b',
    '/v1/sessions%3fa',
  ];
  for (const path of none) {
    const status = await request(path, phone);
    t.true(status === 400 || status === 404, `${path}: ${status}`);
  }
});

/** Sent literally, because `fetch` would normalise the path. */
function statusOf(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asking.on('error', reject);
    asking.end();
  });
}
