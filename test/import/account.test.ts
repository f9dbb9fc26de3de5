/** Accounts that come from the existing server: who can sign in, by what, and when. */

import { hashSync } from '@node-rs/bcrypt';
import test from 'ava';
import { generateSync } from 'otplib';
import { tokensOf } from '../kit/account.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { SecurityKey } from '../kit/security-key.ts';
import { envelope, serverPassword, someTime } from './installation.ts';
import { firstSync, loginParams, signInWith, startMove } from './moving.ts';

const dayMs = 86_400_000;

test('an account signs in by its old password, and finds every item with its times', async (t) => {
  const move = await startMove(t);
  const { uuid } = await move.there.user('ada@example.org');
  const note = await move.there.item(uuid);
  const undated = await move.there.item(uuid, { created_at_timestamp: 0, updated_at_timestamp: 0 });
  const report = await move.pass();
  t.like(report.tables.users, { read: 1, written: 1 });
  const { first, sync } = await firstSync(move, 'ada@example.org');
  const found = new Map(first.retrieved_items.map((item: { uuid: string }) => [item.uuid, item]));
  t.like(found.get(note), {
    content: `004:${note}`,
    content_type: 'Note',
    deleted: false,
    user_uuid: uuid,
    created_at_timestamp: someTime,
    updated_at_timestamp: someTime + 1,
  });
  t.like(found.get(undated), { created_at_timestamp: 0, updated_at_timestamp: 0 });
  const changed = { ...(found.get(note) as object), content: '004:changed' };
  const saved = await sync([changed], first.sync_token);
  t.like(saved.body, { conflicts: [], saved_items: [{ uuid: note }] });
});

test('the first sign-in puts a hash of our own in the place of the old one', async (t) => {
  const move = await startMove(t);
  await move.there.user('ada@example.org');
  await move.pass();
  const { hasher } = move.world.server;
  t.is((await signInWith(move, 'ada@example.org', 'wrong')).status, 401);
  t.is(hasher.hashes, 0);
  t.is((await signInWith(move, 'ada@example.org')).status, 200);
  t.is(hasher.hashes, 1);
  t.is((await signInWith(move, 'ada@example.org')).status, 200);
  t.is(hasher.hashes, 1, 'and only the first');
});

test('as long as an imported password is left, every sign-in takes as long as that one', async (t) => {
  const move = await startMove(t);
  await move.there.user('ada@example.org');
  const { server } = move.world;
  const leftAt = async (email: string, password?: string) => {
    await signInWith(move, email, password);
    return server.hasher.importedLeft;
  };
  t.false(await leftAt('nobody@example.org'));
  await move.pass();
  await server.advance(30_000);
  t.true(await leftAt('nobody@example.org'));
  t.true(await leftAt('ada@example.org', 'wrong'));
  t.true(await leftAt('ada@example.org'));
  await server.advance(30_000);
  t.false(await leftAt('nobody@example.org'));
});

test('nobody signs in before the last pass', async (t) => {
  const move = await startMove(t);
  await move.there.user('ada@example.org');
  const key = ['--env-file', `${move.folder}/.env`];
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${move.folder}/.env`, `AUTH_SERVER_ENCRYPTION_SERVER_KEY="${'ab'.repeat(32)}"\n`);
  await move.pass([...key, '--keep-closed']);
  t.is((await signInWith(move, 'ada@example.org')).status, 401);
  await move.pass(key);
  t.is((await signInWith(move, 'ada@example.org')).status, 200);
});

test('key params come as they are spelled, those of old protocols with all that they need', async (t) => {
  const move = await startMove(t);
  await move.there.user('Mixed@Example.org');
  await move.there.user('old@example.org', {
    version: null,
    pw_nonce: null,
    pw_cost: 5_000,
    pw_salt: 'ab12',
    pw_alg: 'sha512',
    pw_func: 'pbkdf2',
    pw_key_size: 512,
    kp_created: null,
    encrypted_server_key: null,
  });
  await move.pass();
  t.is((await loginParams(move, 'mixed@example.org')).body.identifier, 'Mixed@Example.org');
  t.like((await loginParams(move, 'old@example.org')).body, {
    version: '001',
    pw_cost: 5_000,
    pw_salt: 'ab12',
    pw_func: 'pbkdf2',
    email: 'old@example.org',
  });
  t.is((await signInWith(move, 'mixed@example.org')).status, 200);
});

test('an authenticator app and its recovery codes go on as they were', async (t) => {
  const move = await startMove(t);
  const { uuid, userKey } = await move.there.user('ben@example.org');
  const secret = 'jbswy3dpehpk3pxpjbswy3dpehpk3pxp';
  const codes = Array.from({ length: 10 }, (_, index) => `A${index}B0`).join(' ');
  const encrypted = { server_encryption_version: 1 };
  await move.there.setting(uuid, 'MFA_SECRET', envelope(secret, userKey), encrypted);
  await move.there.setting(uuid, 'RECOVERY_CODES', envelope(codes, userKey), encrypted);
  await move.pass();
  t.is((await loginParams(move, 'ben@example.org')).body.error.tag, 'mfa-required');
  const epoch = Math.floor(move.world.server.clock.nowMs() / 1_000);
  const code = generateSync({ secret: secret.toUpperCase(), epoch });
  t.is((await signInWith(move, 'ben@example.org', 'password', { mfa_code: code })).status, 200);
});

test('a security key signs in under the uuid that it had, and its counter goes on', async (t) => {
  const move = await startMove(t);
  const { uuid } = await move.there.user('cyd@example.org');
  const securityKey = new SecurityKey();
  const keyUuid = '8b85167d-0000-4000-8000-000000000001';
  await move.there.insert('authenticators', {
    uuid: keyUuid,
    user_uuid: uuid,
    credential_id: securityKey.id,
    counter: 7,
    credential_public_key: securityKey.storedPublicKey,
    transports: '["usb","nfc"]',
    created_at: '2023-11-14 22:13:20',
    updated_at: '2023-11-14 22:13:20',
  });
  await move.pass();
  const { server } = move.world;
  const signedBy = async () => {
    const request = { body: { username: 'cyd@example.org' } };
    const offered = await server.call('POST', '/v1/authenticators/generate-authentication-options', request);
    return { authenticator_response: securityKey.sign(offered.body.options.challenge) };
  };
  t.is((await loginParams(move, 'cyd@example.org')).body.error.tag, 'u2f-required');
  t.is((await loginParams(move, 'cyd@example.org', await signedBy())).status, 401, 'a counter from before');
  securityKey.counter = 7;
  const signedIn = await signInWith(move, 'cyd@example.org', 'password', await signedBy());
  t.is(signedIn.status, 200);
  const { access } = tokensOf(signedIn);
  const listed = await server.call('GET', '/v1/authenticators', { bearer: access });
  t.deepEqual(listed.body.authenticators, [{ id: keyUuid }]);
});

test('without the key an import with second factors stops before it writes, or does as it is told', async (t) => {
  const move = await startMove(t);
  const { uuid, userKey } = await move.there.user('ben@example.org');
  await move.there.setting(uuid, 'MFA_SECRET', envelope('JBSWY3DPEHPK3PXP', userKey), {
    server_encryption_version: 1,
  });
  await t.throwsAsync(move.pass([]), { message: /exit code 1: .*second factor/s });
  t.is((await move.run('user', 'find', 'ben@example.org')).code, 1);
  const locked = await move.pass(['--without-key', 'lock'], 65);
  t.is(locked.locked, 1);
  t.is((await signInWith(move, 'ben@example.org')).status, 401);
  t.like(await move.run('import', 'unlock', uuid), { code: 0 });
  t.is((await signInWith(move, 'ben@example.org')).status, 200);
});

test('a wrong key is found out before anything is written', async (t) => {
  const move = await startMove(t);
  await move.there.user('ben@example.org');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${move.folder}/wrong`, 'cd'.repeat(32));
  await t.throwsAsync(move.pass(['--source-key-file', `${move.folder}/wrong`]), { message: /does not open/ });
  t.is((await move.run('user', 'find', 'ben@example.org')).code, 1);
});

test('an account that is in use is left alone by the next pass, and one that was made here always', async (t) => {
  const move = await startMove(t);
  const native = await move.world.server.device('native@example.org');
  const { uuid } = await move.there.user('ada@example.org');
  await move.there.user('native@example.org', { uuid: native.account.userUuid });
  await move.there.user('alice@example.org');
  await move.world.server.device();
  const first = await move.pass(undefined, 65);
  t.deepEqual(first.tables.users.skipped, { native: 1, taken: 1 });
  const { access } = tokensOf(await signInWith(move, 'ada@example.org'));
  t.truthy(access);
  await move.there.item(uuid);
  const second = await move.pass(undefined, 65);
  t.deepEqual(second.tables.users.skipped, { native: 1, taken: 1, used: 1 });
});

test('the account with the newer items comes where two addresses differ in case alone', async (t) => {
  const move = await startMove(t);
  const older = await move.there.user('Two@example.org');
  const newer = await move.there.user('two@example.org');
  await move.there.item(newer.uuid);
  const { tables, findings } = await move.pass(undefined, 65);
  t.deepEqual(tables.users.skipped, { 'address-of-another': 1 });
  t.like(findings, [{ uuid: older.uuid, reason: 'address-of-another' }]);
});

test('the one that could sign in, or the one that is named, comes where two differ in case and have nothing', async (t) => {
  const move = await startMove(t);
  const capital = await move.there.user('One@example.org', { uuid: '10000000-0000-4000-8000-000000000001' });
  const lower = await move.there.user('one@example.org');
  const key = ['--source-key-file', `${move.folder}/key`];
  const byCase = await move.pass([...key, '--dry-run'], 65);
  t.like(byCase.findings, [{ uuid: capital.uuid }]);
  const named = await move.pass([...key, '--dry-run', '--prefer', capital.uuid], 65);
  t.like(named.findings, [{ uuid: lower.uuid }]);
});

test('data that no client could use is left out, and reported', async (t) => {
  const move = await startMove(t);
  await move.there.user(null);
  await move.there.user('none@example.org', { pw_nonce: null });
  await move.there.user('odd@example.org', { encrypted_password: 'not a hash' });
  const { tables, findings } = await move.pass(undefined, 65);
  t.deepEqual(tables.users.skipped, { 'no-address': 1, 'key-params': 1 });
  t.true(findings.some(({ reason }: { reason: string }) => reason === 'password-unusable'));
  t.is((await signInWith(move, 'odd@example.org')).status, 401);
});

test('a password of another cost, and of each form of the hash, signs in', async (t) => {
  const move = await startMove(t);
  const hashed = hashSync(serverPassword('password'), 5).replace(/^\$2y/, '$2b');
  for (const form of ['2a', '2b', '2y']) {
    await move.there.user(`${form}@example.org`, { encrypted_password: hashed.replace('$2b$', `$${form}$`) });
  }
  await move.pass();
  for (const form of ['2a', '2b', '2y']) t.is((await signInWith(move, `${form}@example.org`)).status, 200);
});

test('an item that is larger than items may be here is left out and named, and its history with it', async (t) => {
  const move = await startMove(t);
  const { uuid } = await move.there.user('ada@example.org');
  const large = await move.there.item(uuid, { content: `004:${'x'.repeat(1_048_577)}` });
  await move.there.revision(large, uuid, '2023-11-14 22:13:20.000');
  const fits = await move.there.item(uuid, { content: `004:${'x'.repeat(1_000_000)}` });
  const { tables, findings } = await move.pass(undefined, 65);
  t.deepEqual(tables.items.skipped, { 'too-large': 1 });
  t.deepEqual(tables.revisions_revisions.skipped, { 'item-not-here': 1 });
  t.like(findings, [{ reason: 'too-large', uuid: large }]);
  const { first } = await firstSync(move, 'ada@example.org');
  t.deepEqual(
    first.retrieved_items.map((item: { uuid: string }) => item.uuid),
    [fits],
  );
});

test('administrators and quotas come where they are asked for, and times by the zone of the old process', async (t) => {
  const move = await startMove(t);
  const { there } = move;
  const { uuid } = await there.user('ada@example.org');
  const note = await there.item(uuid);
  await there.revision(note, uuid, '2023-11-14 23:13:20.000');
  await there.insert('roles', { uuid: 'role', name: 'INTERNAL_TEAM_USER' });
  await there.insert('user_roles', { user_uuid: uuid, role_uuid: 'role' });
  await there.insert('user_subscriptions', { uuid: 'subscription', user_uuid: uuid });
  await there.insert('subscription_settings', {
    uuid: '20000000-0000-4000-8000-000000000001',
    user_subscription_uuid: 'subscription',
    name: 'FILE_UPLOAD_BYTES_LIMIT',
    value: '1000',
    server_encryption_version: 0,
    created_at: someTime,
    updated_at: someTime,
  });
  const key = ['--source-key-file', `${move.folder}/key`];
  await move.pass([...key, '--administrators', '--quotas', '--utc-offset', '60']);
  const { get } = await firstSync(move, 'ada@example.org');
  const { revisions } = (await get(`/v2/items/${note}/revisions`)).body;
  t.is(revisions[0].created_at, '2023-11-14T22:13:20.000Z');
  const limit = await get(`/v1/users/${uuid}/settings/FILE_UPLOAD_BYTES_LIMIT`);
  t.is(limit.body.setting.value, '1000');
  const { roles } = JSON.parse((await move.run('user', 'show', uuid, '--json')).out);
  t.true(roles.includes('INTERNAL_TEAM_USER'), roles.join(' '));
});

test('mails about sign-ins stay off, as the last subscription and not an older setting of the user says', async (t) => {
  const move = await startMove(t);
  const { there } = move;
  const { uuid } = await there.user('ada@example.org');
  await there.setting(uuid, 'MUTE_SIGN_IN_EMAILS', 'not_muted');
  for (const [place, value] of ['not_muted', 'muted'].entries()) {
    await there.insert('user_subscriptions', { uuid: value, user_uuid: uuid });
    await there.insert('subscription_settings', {
      uuid: `20000000-0000-4000-8000-00000000000${place}`,
      user_subscription_uuid: value,
      name: 'MUTE_SIGN_IN_EMAILS',
      value,
      server_encryption_version: 0,
      created_at: someTime,
      updated_at: someTime + place,
    });
  }
  const { tables } = await move.pass();
  t.deepEqual(tables.settings, { read: 1, written: 0, unchanged: 0, skipped: { older: 1 } });
  t.like(await move.verify(), { same: true, settings: 1 });
  const { get } = await firstSync(move, 'ada@example.org');
  const { body } = await get(`/v1/users/${uuid}/settings/MUTE_SIGN_IN_EMAILS`);
  t.is(body.setting.value, 'muted');
});

test('mail backups go on once an account is open, and not all at once', async (t) => {
  const postbox = new Postbox();
  const move = await startMove(t, { mail: mailTo(postbox) });
  const { there, world, folder } = move;
  for (const name of ['ada', 'ben', 'cyd', 'dan']) {
    const { uuid } = await there.user(`${name}@example.org`);
    await there.setting(uuid, 'EMAIL_BACKUP_FREQUENCY', 'weekly');
  }
  await move.pass(['--keep-closed', '--source-key-file', `${folder}/key`]);
  await world.server.advance(8 * dayMs);
  t.deepEqual(postbox.messages, []);
  const { tables } = await move.pass();
  t.like(tables.settings, { written: 4 });
  const sentOnDay: number[] = [];
  for (let day = 0; day < 7; day += 1) {
    const before = postbox.messages.length;
    await world.server.advance(dayMs);
    sentOnDay.push(postbox.messages.length - before);
  }
  t.is(postbox.messages.length, 4);
  t.true(Math.max(...sentOnDay) < 4, sentOnDay.join());
  t.true(postbox.messages.every(({ attachment }) => attachment !== undefined));
});
