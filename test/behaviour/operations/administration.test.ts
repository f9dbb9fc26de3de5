/** The actions of administrators in a client, here by operators: with the command line, over the internal API. */
import test, { type ExecutionContext } from 'ava';
import type { AccountSettings } from '../../../actors/settings.ts';
import { exitCodes } from '../../../cli/failure.ts';
import { UnavailableError } from '../../../runtime/errors.ts';
import type { Actors } from '../../../runtime/handles.ts';
import { alice, challengeOf, headerSessions, register, registerStranger } from '../../kit/account.ts';
import { addAuthenticatorApp } from '../../kit/authenticator-app.ts';
import { makeToken, publisher, showing } from '../../kit/calendar.ts';
import type { Device } from '../../kit/device.ts';
import { ciphertext, RemoteFile } from '../../kit/files.ts';
import { startApi } from '../../kit/internal-api.ts';
import { note } from '../../kit/items.ts';
import { operate } from '../../kit/operator.ts';
import { Postbox } from '../../kit/postbox.ts';
import { addSecurityKey } from '../../kit/security-key.ts';
import type { ServerOptions, TestServer } from '../../kit/server.ts';

const nobody = '11111111-1111-4111-8111-111111111111';

async function start(
  t: ExecutionContext,
  settings: Partial<AccountSettings> = {},
  mail: Pick<ServerOptions, 'mail' | 'mailSender'> = {},
) {
  const world = await startApi(t, { settings, mail });
  const run = (...args: readonly string[]) => operate(world, ...args);
  const json = async (...args: readonly string[]) => {
    const { code, out, err } = await run(...args, '--json');
    if (code !== exitCodes.ok) throw new Error(`exit code ${code}: ${err}`);
    return JSON.parse(out);
  };
  return { ...world, run, json };
}

async function eventsOf(device: Device): Promise<readonly string[]> {
  const { body } = await device.call('GET', `/v1/users/${device.account.userUuid}/audit-trail`);
  return body.events.map(({ event }: { event: string }) => event);
}

test('flags are shown, set and removed, as administrators do it', async (t) => {
  const { server, run, json } = await start(t, { adminEmails: new Set([alice.email]) });
  const admin = await server.device();
  const user = await server.device('bob@example.org');
  const { userUuid } = user.account;
  t.deepEqual(await json('user', 'set-flag', userUuid, 'ai_request_limit', '50'), {
    userUuid,
    name: 'AI_REQUEST_LIMIT',
    value: '50',
  });
  t.like(await run('user', 'set-flag', userUuid, 'AI_ENABLED', 'false'), { out: 'AI_ENABLED is set.\n' });
  const view = (await admin.call('GET', `/v1/admin/users/${userUuid}/feature-flags`)).body;
  t.like(view.flags, { AI_ENABLED: 'false', AI_REQUEST_LIMIT: '50', AI_PROFILE: null });
  t.deepEqual(await json('user', 'flags', userUuid), view);
  t.regex((await run('user', 'flags', userUuid)).out, /^AI_REQUEST_LIMIT +50$/m);
  t.like(await run('user', 'remove-flag', userUuid, 'AI_ENABLED'), { out: 'AI_ENABLED is removed.\n' });
  t.is((await json('user', 'flags', userUuid)).flags.AI_ENABLED, null);
});

test('a flag that is none, or cannot be so, is refused as administrators are refused', async (t) => {
  const { server, run, json, log } = await start(t);
  const { account } = await server.device();
  const { userUuid } = account;
  for (const [name, value, said] of [
    ['MFA_SECRET', 'x', 'There is no flag of this name.'],
    ['AI_ENABLED', 'perhaps', 'The value has to be one of true, false.'],
    ['AI_REQUEST_LIMIT', '-1', 'This flag is a number of requests a day; 0 is the limit of all accounts.'],
    ['AI_REQUEST_LIMIT', '', 'This flag is a number of requests a day; 0 is the limit of all accounts.'],
    ['EMAIL_BACKUP_FREQUENCY', 'hourly', 'The value has to be one of disabled, daily, weekly, monthly.'],
  ] as const) {
    const refused = await run('user', 'set-flag', userUuid, '--', name, value);
    t.deepEqual(refused, { code: exitCodes.usage, out: '', err: `${said}\n` });
  }
  const { flags } = await json('user', 'flags', userUuid);
  t.true(Object.values(flags).every((value) => value === null));
  t.deepEqual(log, []);
});

test('the trail of the user says who set a flag, and its value is nowhere', async (t) => {
  const { server, run, log } = await start(t);
  const user = await server.device();
  const { userUuid } = user.account;
  await run('user', 'set-flag', userUuid, 'AI_REQUEST_LIMIT', '47114711');
  const [newest] = await eventsOf(user);
  t.is(newest, 'flag-changed-by-operator');
  t.like(log, [{ userUuid, flag: 'AI_REQUEST_LIMIT' }]);
  const trail = await user.call('GET', `/v1/users/${userUuid}/audit-trail`);
  t.false([trail.text, JSON.stringify(log)].join().includes('47114711'));
});

test('the registration is closed and opened again, for administrators to see', async (t) => {
  const { server, run, json, log } = await start(t, { adminEmails: new Set([alice.email]) });
  const admin = await server.device();
  const seen = async () => (await admin.call('GET', '/v1/admin/registration')).body.registrationEnabled;
  t.deepEqual(await json('registration', 'show'), { open: true, closedBySettings: false });
  t.like(await run('registration', 'close'), { code: 0, out: 'The registration is closed.\n' });
  t.deepEqual(await json('registration', 'show'), { open: false, closedBySettings: false });
  t.false(await seen());
  await t.throwsAsync(registerStranger(server), { message: /400 .*currently not allowed/ });
  await admin.call('PUT', '/v1/admin/registration', { body: { registrationDisabled: false } });
  t.like(await run('registration', 'show'), { code: 0, out: 'The registration is open.\n' });
  await run('registration', 'close');
  t.deepEqual(await json('registration', 'open'), { open: true, closedBySettings: false });
  t.true(await seen());
  await registerStranger(server);
  t.like(log, [{ disabled: true }, { disabled: true }, { disabled: false }]);
});

test('no operator opens a gate that the settings have closed', async (t) => {
  const { run, json } = await start(t, { registrationDisabled: true });
  const text = 'The registration is closed by the settings (DISABLE_USER_REGISTRATION).\n';
  t.like(await run('registration', 'open'), { code: 0, out: text });
  t.deepEqual(await json('registration', 'show'), { open: false, closedBySettings: true });
});

test('all calendar tokens of a user are revoked, from that moment on', async (t) => {
  const { server, run, json, log } = await start(t, { calendar: true });
  const user = await publisher(server);
  const other = await publisher(server, 'bob@example.org');
  const { userUuid } = user.account;
  const reads = async (token: string) => (await server.call('PROPFIND', '/dav/', showing(token))).status;
  const { token } = await makeToken(user);
  await makeToken(user);
  const { token: spared } = await makeToken(other);
  t.deepEqual([await reads(token), await reads(spared)], [207, 207]);
  t.like(await run('calendar', 'revoke', userUuid), { code: exitCodes.refused, out: '' });
  t.is(await reads(token), 207);
  t.deepEqual(await json('calendar', 'revoke', userUuid, '--yes'), { userUuid, revokedTokens: 2 });
  t.deepEqual([await reads(token), await reads(spared)], [401, 207]);
  t.is((await eventsOf(user))[0], 'calendar-tokens-revoked-by-operator');
  t.like(await run('calendar', 'revoke', userUuid, '--yes'), { out: '0 calendar tokens revoked.\n' });
  t.is((await eventsOf(user)).filter((event) => event === 'calendar-tokens-revoked-by-operator').length, 1);
  t.like(log, [
    { userUuid, revoked: 2 },
    { userUuid, revoked: 0 },
  ]);
});

const withoutFactor = (server: TestServer, { account }: Device, fields: object = {}) =>
  server.call('POST', '/v2/login-params', {
    body: { api: headerSessions, email: account.email, code_challenge: challengeOf('verifier'), ...fields },
  });

test('a user who has lost the second factor signs in by the password once an operator has reset it', async (t) => {
  const postbox = new Postbox();
  const mail = { host: 'smtp.test', from: { name: '', address: 'notes@notes.test' } };
  const { server, run, json, log } = await start(t, {}, { mail, mailSender: postbox });
  const user = await server.device();
  const { userUuid, email } = user.account;
  await addAuthenticatorApp(server, user);
  await addSecurityKey(user);
  const trusted = await user.call('POST', '/v1/trusted-devices', { body: { label: 'the lost phone' } });
  t.is(trusted.status, 200, trusted.text);
  const made = await user.call('POST', '/v1/app-passwords', { body: { label: 'a program' } });
  t.is(made.status, 200, made.text);
  t.is((await withoutFactor(server, user)).status, 401);
  t.regex((await run('user', 'show', userUuid)).out, /^second factor +authenticator app, 1 security key$/m);
  t.deepEqual(await run('user', 'reset-factor', userUuid), {
    code: exitCodes.refused,
    out: '',
    err: 'This would turn off: authenticator app, 1 security key. Use --yes to do it.\n',
  });
  t.is((await withoutFactor(server, user)).status, 401);
  t.deepEqual(await json('user', 'reset-factor', userUuid, '--yes'), {
    userUuid,
    turnedOff: { authenticatorApp: true, securityKeys: 1, emailedCodes: false },
  });
  t.is((await withoutFactor(server, user)).status, 200);
  t.regex((await run('user', 'show', userUuid)).out, /^second factor +none$/m);
  t.deepEqual((await user.call('GET', '/v1/trusted-devices')).body.trustedDevices, []);
  const { appPasswords } = (await user.call('GET', '/v1/app-passwords')).body;
  t.like(appPasswords, [{ label: 'a program' }]);
  const { events } = (await user.call('GET', `/v1/users/${userUuid}/audit-trail`)).body;
  t.like(events.slice(0, 2), [
    { event: 'security-key-removed', device: null, ipAddress: null },
    { event: 'authenticator-app-removed', device: null, ipAddress: null },
  ]);
  await server.until(() => postbox.messages.length > 0, 60_000);
  t.like(postbox.messages[0], {
    recipient: email,
    subject: 'The second factor of your notes was turned off',
  });
  t.deepEqual(await run('user', 'reset-factor', userUuid, '--yes'), {
    code: 0,
    out: 'Turned off: none.\n',
    err: '',
  });
  await server.advance(60_000);
  t.is(postbox.messages.length, 1);
  t.like(log, [{ userUuid }, { userUuid }]);
  t.false(JSON.stringify(log).includes(email));
});

test('codes by e-mail are turned off, and nobody who is no user', async (t) => {
  const mail = { host: 'smtp.test', from: { name: '', address: 'notes@notes.test' } };
  const { server, run, json } = await start(t, {}, { mail, mailSender: new Postbox() });
  const user = await server.device();
  const { userUuid } = user.account;
  const on = await user.call('POST', '/v1/mfa/magic-link/status', { body: { enabled: true } });
  t.is(on.status, 200, on.text);
  t.like(await json('user', 'reset-factor', userUuid, '--yes'), { turnedOff: { emailedCodes: true } });
  t.is((await eventsOf(user))[0], 'emailed-codes-off');
  t.is((await withoutFactor(server, user)).status, 200);
  t.like(await run('user', 'reset-factor', nobody, '--yes'), {
    code: 1,
    err: 'There is no user with that uuid.\n',
  });
});

test('the last use of an account, its files and their quota are shown to operators', async (t) => {
  const { server, run, json } = await start(t);
  const user = await server.device();
  const { userUuid } = user.account;
  await new RemoteFile(user).upload(ciphertext(1_017));
  await server.advance(3_600_000);
  await user.call('POST', '/v1/items', { body: { api: '20200115', items: [] } });
  const found = await json('user', 'show', userUuid);
  const usedMs = Date.parse(found.lastUsed);
  t.true(Math.abs(usedMs - server.clock.nowMs()) <= 60_000, found.lastUsed);
  t.deepEqual([found.fileBytes, found.fileBytesMax], [1_017, 107_374_182_400]);
  const text = (await run('user', 'show', userUuid)).out;
  t.regex(text, /^files +[\d.]+ \w+ of [\d.]+ \w+$/m);
  await run('user', 'sign-out', userUuid, '--yes');
  t.regex((await run('user', 'show', userUuid)).out, /^last use +-$/m);
});

test('since when and why a user is banned is shown to operators', async (t) => {
  const { server, run, json } = await start(t);
  const { userUuid } = await register(server);
  t.like(await json('user', 'show', userUuid), { banned: false, bannedSince: null, banReason: '' });
  const beforeMs = server.clock.nowMs();
  await run('user', 'ban', userUuid, '--reason', 'sends spam', '--yes');
  const view = await json('user', 'show', userUuid);
  t.like(view, { banned: true, banReason: 'sends spam' });
  const sinceMs = Date.parse(view.bannedSince);
  t.true(beforeMs <= sinceMs && sinceMs <= server.clock.nowMs(), view.bannedSince);
  t.regex((await run('user', 'show', userUuid)).out, /^reason +sends spam$/m);
});

test('a name that is absent, or is no user, is refused in words', async (t) => {
  const { run } = await start(t);
  for (const [...args] of [
    ['user', 'flags'],
    ['user', 'remove-flag'],
    ['calendar', 'revoke', '--yes'],
  ]) {
    const flag = args.includes('remove-flag') ? ['AI_ENABLED'] : [];
    t.like(await run(...args, nobody, ...flag), {
      code: exitCodes.refused,
      err: 'There is no user with that uuid.\n',
    });
    t.like(await run(...args, 'bob', ...flag), { code: exitCodes.usage, err: 'user_uuid is not a uuid.\n' });
  }
});

test('users are listed by address, a page at a time, or those whose address contains a text', async (t) => {
  const { server, run, json } = await start(t);
  const emails = Array.from({ length: 5 }, (_, n) => `user-${n}@${n % 2 === 0 ? 'even' : 'odd'}.example.org`);
  const devices = await Promise.all(emails.toReversed().map((email) => server.device(email)));
  const uuids = new Map(devices.map(({ account }) => [account.email, account.userUuid]));
  const listed = async (...options: readonly string[]) => {
    const { users, after } = await json('users', 'list', ...options);
    return { after, emails: users.map(({ email }: { email: string }) => email) };
  };
  const whole = await json('users', 'list');
  t.is(whole.after, null);
  t.deepEqual(
    whole.users,
    emails.map((email) => ({ userUuid: uuids.get(email), email, workspace: 'default' })),
  );
  const first = await listed('--limit', '2');
  t.deepEqual(first.emails, emails.slice(0, 2));
  t.deepEqual(await listed('--limit', '9', '--after', first.after), { after: null, emails: emails.slice(2) });
  t.deepEqual(await listed('--contains', '@EVEN'), { after: null, emails: [0, 2, 4].map((n) => emails[n]) });
  const few = await listed('--contains', '@even', '--limit', '2');
  t.deepEqual(few.emails, [emails[0], emails[2]]);
  t.deepEqual((await listed('--contains', '@even', '--after', few.after)).emails, [emails[4]]);
  t.regex((await run('users', 'list', '--limit', '1')).out, /user-0@even.*\nMore: --after '/);
  t.is((await run('users', 'list', '--contains', 'nowhere')).out, 'There is none.\n');
  for (const wrong of [
    ['--limit', '0'],
    ['--after', 'x'],
    ['--after', '[1]'],
  ]) {
    t.is((await run('users', 'list', ...wrong)).code, exitCodes.usage, wrong.join(' '));
  }
});

test('top shows the actors that use most while it watches', async (t) => {
  const world = await start(t);
  const [idle, busy] = [await world.server.device(), await world.server.device('bob@example.org')];
  await idle.save(note({ uuid: crypto.randomUUID(), content: `004:${'x'.repeat(50_000)}` }));
  const meanwhile = async () => {
    for (let count = 0; count < 3; count += 1) await busy.save();
  };
  const top = async (...options: readonly string[]) => {
    const { code, out, err } = await operate({ ...world, meanwhile }, 'top', ...options);
    t.is(code, exitCodes.ok, err);
    return out;
  };
  const { actors, silentNodes, seconds } = JSON.parse(await top('--by', 'commits', '--json'));
  t.deepEqual({ silentNodes, seconds }, { silentNodes: [], seconds: 2 });
  t.like(actors[0], { kind: 'user', id: busy.account.userUuid, commits: 3, waiting: 0 });
  t.true(actors[0].messages >= 3);
  t.like(
    actors.find(({ id }: { id: string }) => id === idle.account.userUuid),
    { commits: 0, items: 1 },
  );
  const [titles, ...rows] = (await top('--limit', '2')).trimEnd().split('\n');
  t.regex(titles ?? '', /^KIND +ID +NODE +HELD +ITEMS +COMMITS +MESSAGES +WAITING$/);
  t.is(rows.length, 2);
  t.is((await operate({ ...world, meanwhile }, 'top', '--by', 'size')).code, exitCodes.usage);
});

test('top draws again with each pause while it watches, and counts from one picture to the next', async (t) => {
  const world = await start(t);
  const busy = await world.server.device();
  let pauses = 0;
  const meanwhile = async () => {
    pauses += 1;
    if (pauses === 4) throw new Error('interrupted');
    for (let count = 0; count < pauses; count += 1) await busy.save();
  };
  const out: string[] = [];
  const watching = operate(
    { ...world, meanwhile, seen: (text) => out.push(text) },
    'top',
    '--by',
    'commits',
    '--watch',
  );
  await t.throwsAsync(watching, { message: 'interrupted' });
  t.is(out.length, 3);
  t.true(out.every((text) => text.startsWith('\x1b[H\x1b[2J')));
  const commits = out.map(
    (text) => new RegExp(`${busy.account.userUuid}.* (\\d+) +\\d+ +\\d+$`, 'm').exec(text)?.[1],
  );
  t.deepEqual(commits, ['1', '2', '3']);
});

test('top names the nodes that did not answer', async (t) => {
  const away = () => Promise.reject(new UnavailableError('away'));
  const actors = { get: () => ({ ask: { $top: away } }) } as unknown as Actors;
  const world = await startApi(t, { api: { actors } });
  await world.server.device();
  const { code, out } = await operate({ ...world, meanwhile: async () => {} }, 'top');
  t.is(code, exitCodes.ok);
  t.regex(out, /^No actor is in memory\.\nNo answer of \S+\.\n$/);
});

test('where a user lives is found by the address too', async (t) => {
  const { server, json, run } = await start(t);
  const { account } = await server.device();
  t.like(await json('where', account.email), { actor: { kind: 'user', id: account.userUuid }, exists: true });
  t.is((await run('where', 'nobody@example.org')).code, exitCodes.refused);
});
