import { readFileSync } from 'node:fs';
import test from 'ava';
import { settingsActedOn } from '../../../actors/user/settings/contract.ts';
import { statusOf } from '../../kit/account.ts';
import type { Device } from '../../kit/device.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { type ServerOptions, startServer } from '../../kit/server.ts';

const pathOf = ({ account }: Device) => `/v1/users/${account.userUuid}/settings`;
const put = (device: Device, name: string, value: unknown, more: object = {}) =>
  device.call('PUT', pathOf(device), { body: { name, value, ...more } });
const get = (device: Device, name: string) => device.call('GET', `${pathOf(device)}/${name}`);
const remove = (device: Device, name: string) => device.call('DELETE', `${pathOf(device)}/${name}`);

test('a setting is stored, shown, listed, changed and removed, in either case of its name', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  t.is((await get(phone, 'conflict_resolution_strategy')).status, 400);
  const first = (await put(phone, 'CONFLICT_RESOLUTION_STRATEGY', 'ask')).body;
  t.true(first.success);
  t.like(first.setting, { name: 'CONFLICT_RESOLUTION_STRATEGY', value: 'ask', sensitive: false });
  await server.advance(1_000);
  const changed = (await put(phone, 'conflict_resolution_strategy', 'keepBoth')).body.setting;
  t.is(changed.uuid, first.setting.uuid);
  t.is(changed.createdAt, first.setting.createdAt);
  t.is(changed.updatedAt, first.setting.updatedAt + 1_000_000);
  t.deepEqual((await get(phone, 'conflict_resolution_strategy')).body, { success: true, setting: changed });
  const { settings } = (await phone.call('GET', pathOf(phone))).body;
  t.deepEqual(
    settings.find(({ name }: { name: string }) => name === changed.name),
    changed,
  );
  t.deepEqual((await remove(phone, 'CONFLICT_RESOLUTION_STRATEGY')).body, {
    success: true,
    settingName: 'CONFLICT_RESOLUTION_STRATEGY',
    userUuid: phone.account.userUuid,
  });
  t.is((await get(phone, 'conflict_resolution_strategy')).status, 400);
  t.is((await remove(phone, 'CONFLICT_RESOLUTION_STRATEGY')).status, 400);
});

test('settings outlive the actor and the host', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await put(phone, 'EXTENSION_KEY', 'a key');
  const { setting } = (await put(phone, 'MUTE_MARKETING_EMAILS', 'muted')).body;
  await server.restart();
  t.deepEqual((await get(phone, 'mute_marketing_emails')).body.setting, setting);
  t.deepEqual((await get(phone, 'extension_key')).body, { success: true });
});

test('a setting with a default is listed, and stays the same entry until it is set', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const list = async () => (await phone.call('GET', pathOf(phone))).body.settings;
  const names = (await list()).map(({ name }: { name: string }) => name);
  t.deepEqual(names.toSorted(), [
    'EMAIL_REMINDERS_ENABLED',
    'FILE_UPLOAD_BYTES_LIMIT',
    'FILE_UPLOAD_BYTES_USED',
    'LOG_SESSION_USER_AGENT',
    'MUTE_MARKETING_EMAILS',
    'MUTE_SIGN_IN_EMAILS',
  ]);
  t.deepEqual(await list(), await list());
});

test('a secret is told to be set and never shown', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const secret = 'what nobody is to read';
  t.deepEqual((await put(phone, 'EXTENSION_KEY', secret, { sensitive: false })).body, { success: true });
  for (const answer of [await get(phone, 'extension_key'), await phone.call('GET', pathOf(phone))]) {
    t.is(answer.status, 200);
    t.false(answer.text.includes(secret));
  }
  t.is((await get(phone, 'mfa_secret')).status, 400, 'a factor that is off');
});

test('a setting that the server only keeps, for backups to third-party drives, may be any text', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const drive of ['DROPBOX', 'ONE_DRIVE', 'GOOGLE_DRIVE', 'NEXTCLOUD']) {
    const name = `${drive}_BACKUP_FREQUENCY`;
    t.is((await put(phone, name, 'every full moon')).status, 200, name);
    t.is((await get(phone, name)).body.setting.value, 'every full moon', name);
  }
});

test('the description and the documents say which settings the server acts on', async (t) => {
  const server = await startServer(t);
  const description = JSON.parse((await server.call('GET', '/v1/openapi.json')).text);
  const { summary } = description.paths['/v1/users/{userUuid}/settings'].put;
  const document = readFileSync(new URL('../../../docs/protocol/account.md', import.meta.url), 'utf8');
  const [, actedOn = ''] = /^- The server acts on ([^;.]*)\./m.exec(document) ?? [];
  t.deepEqual(actedOn.match(/[A-Z_]{4,}/g), [...settingsActedOn]);
  for (const name of settingsActedOn) t.true(summary.includes(name), name);
  t.false(settingsActedOn.includes('DROPBOX_BACKUP_FREQUENCY'));
});

test('names and values that may not be are refused, and nothing changes', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const before = (await phone.call('GET', pathOf(phone))).text;
  for (const [name, value] of [
    ['NO_SUCH_SETTING', 'x'],
    ['__proto__', 'x'],
    ['constructor', 'x'],
    ['', 'x'],
    ['MUTE_MARKETING_EMAILS', 'perhaps'],
    ['MUTE_SIGN_IN_EMAILS', 'perhaps'],
    ['FILE_UPLOAD_BYTES_USED', '0'],
    ['CALDAV_ENABLED', 'perhaps'],
    ['EMAIL_BACKUP_LAST_SENT', '1'],
    ['AI_ENABLED', 'true'],
    ['AI_REQUEST_LIMIT', '1000000'],
    ['COLLABORATION_ENABLED', 'true'],
    ['RECOVERY_CODES', 'AAAA'],
    ['MAGIC_LINK_ENABLED', 'false'],
    ['NEXTCLOUD_BACKUP_URL', 7],
    ['NEXTCLOUD_BACKUP_URL', 'x'.repeat(64 * 1_024 + 1)],
  ] as const) {
    const answer = await put(phone, name, value);
    t.is(answer.status, 400, name);
    t.truthy(answer.body.error.message, name);
  }
  for (const name of ['NO_SUCH_SETTING', '__proto__', 'EMAIL_BACKUP_LAST_SENT', 'RECOVERY_CODES']) {
    t.is((await phone.call('DELETE', `${pathOf(phone)}/${name}`)).status, 400, name);
  }
  t.is((await phone.call('GET', pathOf(phone))).text, before);
});

test('the largest value fits, and all together have a bound', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const value = 'é'.repeat(32 * 1_024);
  const names = ['DROPBOX_BACKUP_FREQUENCY', 'NEXTCLOUD_BACKUP_URL', 'NEXTCLOUD_BACKUP_FOLDER'];
  for (const name of names) t.is((await put(phone, name, value)).status, 200, name);
  t.is((await put(phone, 'EXTENSION_KEY', value.slice(1_024))).status, 200);
  t.is((await get(phone, 'nextcloud_backup_url')).body.setting.value, value);
  t.is((await put(phone, 'DROPBOX_BACKUP_TOKEN', value)).status, 400);
  t.is((await put(phone, 'NEXTCLOUD_BACKUP_URL', value)).status, 200, 'in place of itself');
});

test('nobody reads or sets another user’s settings, and no read-only session sets its own', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const other = await server.device('bob@example.org');
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['GET', '/mute_marketing_emails'],
    ['DELETE', '/MUTE_MARKETING_EMAILS'],
  ] as const) {
    const body = method === 'PUT' ? { name: 'MUTE_MARKETING_EMAILS', value: 'muted' } : undefined;
    const answer = await other.call(method, pathOf(phone) + path, { ...(body && { body }) });
    t.is(answer.status, 403, `${method} ${path}`);
    t.is(answer.body.error.message, 'Operation not allowed.');
  }
  await server.restart({ accounts: { readonlyUsers: new Set([phone.account.email]) } });
  t.is((await put(phone, 'MUTE_MARKETING_EMAILS', 'muted')).body.error.tag, 'read-only-access');
  t.is((await remove(phone, 'MUTE_MARKETING_EMAILS')).body.error.tag, 'read-only-access');
  t.is((await get(phone, 'mute_marketing_emails')).body.setting.value, 'not_muted');
});

test('settings of the subscription have an endpoint of their own', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const path = `/v1/users/${phone.account.userUuid}/subscription-settings`;
  const read = async (name: string) => (await phone.call('GET', `${path}/${name}`)).body.setting?.value;
  t.is(await read('file_upload_bytes_limit'), '107374182400');
  t.is(await read('file_upload_bytes_used'), '0');
  t.is(await read('mute_sign_in_emails'), 'not_muted');
  const muted = await phone.call('PUT', path, { body: { name: 'MUTE_SIGN_IN_EMAILS', value: 'muted' } });
  t.is(muted.body.setting.value, 'muted');
  t.is(await read('mute_sign_in_emails'), 'muted');
  t.is((await phone.call('PUT', path, { body: { name: 'FILE_UPLOAD_BYTES_USED', value: '0' } })).status, 400);
  t.is((await phone.call('GET', `${path}/mute_marketing_emails`)).status, 400);
});

test('a setting of the subscription is one and the same below both paths', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const subscription = `/v1/users/${phone.account.userUuid}/subscription-settings`;
  const there = async () =>
    (await phone.call('GET', `${subscription}/mute_sign_in_emails`)).body.setting.value;
  const here = async () => (await get(phone, 'mute_sign_in_emails')).body.setting.value;
  t.is(await here(), 'not_muted');
  t.is((await put(phone, 'MUTE_SIGN_IN_EMAILS', 'muted')).body.setting.value, 'muted');
  t.deepEqual([await here(), await there()], ['muted', 'muted']);
  const body = { name: 'MUTE_SIGN_IN_EMAILS', value: 'not_muted' };
  t.is((await phone.call('PUT', subscription, { body })).status, 200);
  t.deepEqual([await here(), await there()], ['not_muted', 'not_muted']);
});

test('a switch is set by each of the words for on and off, and shown in its own', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const words = [
    [true, ['true', '1', 'yes', 'On']],
    [false, ['false', '0', 'NO', 'off']],
  ] as const;
  for (const [name, on, off] of [
    ['EMAIL_REMINDERS_ENABLED', 'true', 'false'],
    ['CALDAV_ENABLED', 'true', 'false'],
    ['REMINDER_DELIVERY_ENABLED', 'true', 'false'],
    ['LOG_SESSION_USER_AGENT', 'enabled', 'disabled'],
    ['MUTE_SIGN_IN_EMAILS', 'muted', 'not_muted'],
  ] as const) {
    for (const [isOn, input] of words) {
      for (const word of [...input, isOn ? on : off]) {
        t.is((await put(phone, name, word)).body.setting?.value, isOn ? on : off, `${name} ${word}`);
        t.is((await get(phone, name.toLowerCase())).body.setting.value, isOn ? on : off);
      }
    }
  }
});

test('backups by e-mail are asked for only where they can come, and the answer says why not', async (t) => {
  const refusedOn = async (options: ServerOptions, email?: string) => {
    const phone = await (await startServer(t, options)).device(email);
    t.is((await put(phone, 'EMAIL_BACKUP_FREQUENCY', 'disabled')).status, 200);
    const { status, body } = await put(phone, 'EMAIL_BACKUP_FREQUENCY', 'daily');
    t.is(status, 400);
    return body.error.tag;
  };
  const relay = mailTo(new Postbox());
  t.is(await refusedOn({}), 'email-delivery-unavailable');
  t.is(await refusedOn({ ...relay, accounts: { emailBackups: false } }), 'email-backups-disabled');
  t.is(await refusedOn(relay, 'nobody'), 'email-backups-disabled');
  const phone = await (await startServer(t, relay)).device();
  t.is((await put(phone, 'EMAIL_BACKUP_FREQUENCY', 'hourly')).status, 400);
  t.is((await put(phone, 'EMAIL_BACKUP_FREQUENCY', 'weekly')).status, 200);
});

test('once user agents are not to be logged, none is kept and the kept ones are erased', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0' };
  const agents = async () =>
    (await phone.call('GET', '/v1/sessions')).body.map(
      ({ user_agent }: { user_agent: string }) => user_agent,
    );
  await phone.another({}, { headers });
  t.true((await agents()).includes(headers['user-agent']));
  await put(phone, 'LOG_SESSION_USER_AGENT', 'disabled');
  await phone.another({}, { headers });
  t.deepEqual(await agents(), [null, null, null]);
});

test('a setting that is set to null has the effect of its default', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0' };
  await put(phone, 'LOG_SESSION_USER_AGENT', 'disabled');
  t.is((await put(phone, 'LOG_SESSION_USER_AGENT', null)).status, 200);
  await phone.another({}, { headers });
  const [session] = (await phone.call('GET', '/v1/sessions')).body.filter(
    ({ current }: { current: boolean }) => !current,
  );
  t.is(session.user_agent, headers['user-agent']);
});

test('an account that hides its name keeps no user agents from the start', async (t) => {
  const server = await startServer(t);
  const hidden = await server.device('f'.repeat(64));
  t.is((await get(hidden, 'log_session_user_agent')).body.setting.value, 'disabled');
});

test('a change of the password removes the escrow of the recovery and nothing else', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await put(phone, 'ACCOUNT_RECOVERY_ESCROW', '{"version":2}');
  await put(phone, 'MUTE_MARKETING_EMAILS', 'muted');
  const { userUuid, password } = phone.account;
  const body = {
    api: '20200115',
    current_password: password,
    new_password: 'c'.repeat(64),
    pw_nonce: 'd'.repeat(64),
  };
  const changed = await phone.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, { body });
  const bearer = changed.body.session.access_token;
  t.is(await statusOf(server, { access: bearer, cookie: '' }), '200');
  t.is((await phone.call('GET', `${pathOf(phone)}/account_recovery_escrow`, { bearer })).status, 400);
  const muted = await phone.call('GET', `${pathOf(phone)}/mute_marketing_emails`, { bearer });
  t.is(muted.body.setting.value, 'muted');
});

test('every account has the same subscription for a hundred years and all features', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { userUuid, email } = phone.account;
  const { success, user, subscription } = (await phone.call('GET', `/v1/users/${userUuid}/subscription`))
    .body;
  t.true(success);
  t.deepEqual(user, { uuid: userUuid, email });
  t.like(subscription, {
    uuid: userUuid,
    planName: 'PRO_PLAN',
    cancelled: false,
    subscriptionType: 'regular',
  });
  t.is(subscription.endsAt, server.clock.nowMs() * 1_000 + 36_500 * 86_400_000_000);
  t.regex(String(subscription.subscriptionId), /^\d{10}$/);
  await server.restart();
  const again = (await phone.call('GET', `/v1/users/${userUuid}/subscription`)).body.subscription;
  t.is(again.subscriptionId, subscription.subscriptionId);
  const { features } = (await phone.call('GET', `/v1/users/${userUuid}/features`)).body;
  t.is(features.length, 42);
  t.is(new Set(features.map(({ identifier }: { identifier: string }) => identifier)).size, 42);
  for (const feature of features) {
    t.like(feature, { no_expire: true, role_name: 'PRO_USER' });
    t.false('expires_at' in feature);
  }
});
