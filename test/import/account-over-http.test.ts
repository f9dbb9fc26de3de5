/** One account that comes from another server over HTTP, with the password that its owner types. */
import test, { type ExecutionContext } from 'ava';
import { generateSync } from 'otplib';
import { defaultItemSettings } from '../../actors/collection/settings.ts';
import { type ReceivedKeyParams, serverPasswordOf } from '../../cli/import/account/server-password.ts';
import { ImportService } from '../../proto/generated/scriptorium/v1/import.ts';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { challengeOf, signIn, tokensOf } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import { callerOf, startApi } from '../kit/internal-api.ts';
import { note } from '../kit/items.ts';
import { runTyped } from '../kit/operator.ts';
import { Postbox } from '../kit/postbox.ts';
import { type ServerOptions, startServer } from '../kit/server.ts';
import { makeVault } from '../kit/vaults.ts';
import { passMs } from './moving.ts';

const { bring } = commandsOf('docs/import.md', 'One account', ['bring']);

const email = 'ada@example.org';
const typed = 'correct horse battery staple';
const nonce = 'b'.repeat(64);

async function started(
  t: ExecutionContext,
  options: ServerOptions = {},
  keyParams: ReceivedKeyParams = { identifier: email, version: '004', pw_nonce: nonce },
) {
  const there = await startServer(t, {
    items: { revisions: { ...defaultItemSettings.revisions, pauseMs: 0 } },
    ...options,
  });
  const password = await serverPasswordOf(typed, keyParams);
  const phone = await Device.register(there, { ...keyParams, email, password });
  const world = await startApi(t);
  const run = async (
    options: readonly string[] = [],
    answers: string | ((prompt: string) => string | Promise<string>) = typed,
  ) => {
    const replacements = { 'https://notes.example.org': there.url, 'alice@example.org': email };
    const [, , ...documented] = replaced(bring, replacements).trim().split(/ +/);
    const args = [...documented, ...options];
    return world.server.answered(runTyped(args, { address: world.address, typed: answers }), passMs);
  };
  const here = async () => {
    const signedIn = await signIn(world.server, { email, password });
    if (signedIn.status !== 200) return undefined;
    const tokens = tokensOf(signedIn);
    const device = new Device(world.server, { ...tokens, email, password: '' });
    const items = (await device.syncAll()).flatMap(({ retrieved_items }) => retrieved_items);
    return { items, get: (path: string) => device.call('GET', path), userUuid: tokens.userUuid };
  };
  return { there, phone, world, run, here };
}

/** The session that saved an item last is not here. */
const byUuid = (items: readonly object[]) =>
  (items as readonly { readonly uuid: string; readonly updated_with_session?: unknown }[])
    .map(({ updated_with_session: _, ...item }) => item)
    .toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));

test('an account comes with its items, their times and its settings, and signs in with the same password', async (t) => {
  const { phone, run, here } = await started(t);
  const items = Array.from({ length: 320 }, () => note({ uuid: crypto.randomUUID() }));
  for (let at = 0; at < items.length; at += 80) await phone.sync({ items: items.slice(at, at + 80) });
  const path = `/v1/users/${phone.account.userUuid}/settings`;
  await phone.call('PUT', path, { body: { name: 'CONFLICT_RESOLUTION_STRATEGY', value: 'keepBoth' } });
  phone.syncToken = null;
  const before = (await phone.syncAll()).flatMap(({ retrieved_items }) => retrieved_items);
  t.is(before.length, 320);

  const dry = await run(['--dry-run']);
  t.is(dry.code, 0, dry.err);
  t.regex(dry.out, /items +320 +320/);
  t.is(await here(), undefined);

  const ended = await run();
  t.is(ended.code, 0, ended.err + ended.out);
  t.regex(ended.err, /^Password of ada@example.org: 320 items fetched\.\n$/);
  t.notRegex(ended.err + ended.out, new RegExp(typed));
  const found = await here();
  t.is(found?.userUuid, phone.account.userUuid);
  t.deepEqual(byUuid(found?.items ?? []), byUuid(before));
  t.is((await found?.get(`${path}/conflict_resolution_strategy`))?.body.setting.value, 'keepBoth');

  const again = await run(['--json']);
  t.is(again.code, 65);
  t.like(JSON.parse(again.out), { opened: false, tables: { users: { skipped: { used: 1 } } } });
});

test('history comes if it is asked for, and what lies in shared vaults does not', async (t) => {
  const { phone, run, here } = await started(t);
  const item = note({ uuid: crypto.randomUUID(), content: '004:first' });
  const { saved_items: first } = await phone.save(item);
  await phone.save({ ...item, content: '004:second', updated_at_timestamp: first[0]?.updated_at_timestamp });
  const vault = await makeVault(phone);
  await phone.save(
    note({ uuid: crypto.randomUUID(), shared_vault_uuid: vault, key_system_identifier: 'system' }),
  );
  const ended = await run(['--history', '--json']);
  t.is(ended.code, 0, ended.err + ended.out);
  t.like(JSON.parse(ended.out), { opened: true, inVaults: 1 });
  const found = await here();
  t.is(found?.items.length, 1);
  const { revisions } = (await found?.get(`/v2/items/${item.uuid}/revisions`))?.body ?? {};
  const contents = await Promise.all(
    revisions.map(async ({ uuid }: { uuid: string }) => {
      const revision = await found?.get(`/v2/items/${item.uuid}/revisions/${uuid}`);
      return revision?.body.revision.content;
    }),
  );
  t.true(contents.includes('004:first'));
});

test('a wrong password, a server that is away and an address that is taken here bring nothing', async (t) => {
  const { run, world, here } = await started(t);
  const wrong = await run([], 'another password');
  t.is(wrong.code, 1);
  t.regex(wrong.err, /refuses the sign-in: .*Nothing was written\. Check the address and the password\./);
  const away = await run(['--from', 'http://127.0.0.1:1']);
  t.is(away.code, 69);
  t.is((await run(['--from', 'nowhere'])).code, 64);
  t.is((await run(['--size-max', '0'])).code, 64);
  await Device.register(world.server, { email });
  const refused = await run(['--json']);
  t.is(refused.code, 65);
  t.like(JSON.parse(refused.out), { opened: false, tables: { users: { skipped: { taken: 1 } } } });
  t.is(await here(), undefined);
});

test('a server that names the uuid of another account does not write to that one', async (t) => {
  const { phone, run, world } = await started(t);
  const { userUuid } = phone.account;
  const api = callerOf(t, world.address);
  const account = {
    ...{ userUuid, identifier: 'ben@example.org', passwordHash: '', createdAtMs: 1, administrator: false },
    ...{ keyParams: { version: '004', pwNonce: nonce }, settings: [], authenticators: [], locked: false },
  };
  const begun = api.ask(ImportService.beginAccount, account);
  t.like(await world.server.answered(begun), { refused: '', fresh: true });
  for (const options of [['--dry-run'], []]) {
    const refused = await run(options);
    t.is(refused.code, 1);
    t.regex(refused.err, /is here already, under another address\. Nothing was written\./);
    t.notRegex(refused.err, /fetched/, 'it is refused before it is fetched');
  }
  const shown = await world.server.answered(api.ask(UsersService.show, { userUuid }));
  t.is(shown.email, 'ben@example.org');
});

const oldAccounts: Readonly<Record<string, ReceivedKeyParams>> = {
  '001': {
    ...{ identifier: email, version: '001', pw_cost: 5_000, pw_salt: 'ab'.repeat(20) },
    ...{ pw_alg: 'sha512', pw_func: 'pbkdf2', pw_key_size: 512 },
  },
  '002': { identifier: email, version: '002', pw_cost: 5_000, pw_salt: 'ab'.repeat(20) },
  '003': { identifier: email, version: '003', pw_cost: 110_000, pw_nonce: nonce },
};
for (const [version, keyParams] of Object.entries(oldAccounts)) {
  test(`an account of protocol ${version} comes with its items, and signs in with the same password`, async (t) => {
    const testing = { accounts: { endToEndTesting: true } };
    const { phone, world, run, here } = await started(t, testing, keyParams);
    const item = note({ uuid: crypto.randomUUID(), content: `${version}:text`, auth_hash: 'of the client' });
    await phone.save(item);
    if (version !== '003') {
      const unconfirmed = await run();
      t.is(unconfirmed.code, 1);
      t.regex(unconfirmed.err, /protocol 00[12], .* add --old-protocol\./);
      t.is(await here(), undefined);
    }
    const ended = await run(version === '003' ? [] : ['--old-protocol']);
    t.is(ended.code, 0, ended.err + ended.out);
    const body = { email, code_challenge: challengeOf('verifier') };
    t.like((await world.server.call('POST', '/v2/login-params', { body })).body, keyParams);
    const found = await here();
    t.is(found?.userUuid, phone.account.userUuid);
    t.like(found?.items, [{ uuid: item.uuid, content: item.content, auth_hash: 'of the client' }]);
  });
}

async function withAuthenticatorApp(t: ExecutionContext) {
  const scene = await started(t);
  const { there, phone } = scene;
  const account = `/v1/users/${phone.account.userUuid}`;
  const { secret } = (await phone.call('GET', `${account}/mfa-secret`)).body;
  const codeNow = () => generateSync({ secret, epoch: Math.floor(there.clock.nowMs() / 1_000) });
  const factor = { name: 'MFA_SECRET', value: secret, totpToken: codeNow() };
  t.is((await phone.call('PUT', `${account}/settings`, { body: factor })).status, 200);
  // Each code counts once.
  await there.advance(60_000);
  return { ...scene, codeNow };
}

test('a second factor is asked for', async (t) => {
  const { run, here, codeNow } = await withAuthenticatorApp(t);
  const prompts: string[] = [];
  const ended = await run([], (prompt) => {
    prompts.push(prompt);
    return prompt.startsWith('Password') ? typed : codeNow();
  });
  t.is(ended.code, 0, ended.err);
  t.deepEqual(prompts, ['Password of ada@example.org: ', 'Code of the second factor: ']);
  t.not(await here(), undefined);
});

test('a wrong code, or none, brings nothing, and the message says what to do', async (t) => {
  const { run, here } = await withAuthenticatorApp(t);
  const runWith = (code: string) => run([], (prompt) => (prompt.startsWith('Password') ? typed : code));
  const refused = await runWith('000000');
  t.is(refused.code, 1);
  t.regex(refused.err, /does not accept the code .* Run the command again with the next code\./);
  t.regex((await runWith('')).err, /No code was given\. Nothing was written\./);
  t.is(await here(), undefined);
});

test('a code by e-mail is requested, and asked for', async (t) => {
  const postbox = new Postbox();
  const from = { name: 'Notes', address: 'notes@home.test' };
  const scene = await started(t, { mail: { host: '127.0.0.1', from }, mailSender: postbox });
  const { there, phone, run, here } = scene;
  const enabled = await phone.call('POST', '/v1/mfa/magic-link/status', { body: { enabled: true } });
  t.is(enabled.status, 200);
  const mailedCode = () => postbox.messages.flatMap(({ text }) => /: (\d{6})$/m.exec(text)?.[1] ?? [])[0];
  const ended = await run([], async (prompt) => {
    if (prompt.startsWith('Password')) return typed;
    t.is(prompt, 'Code that the other server has mailed to ada@example.org: ');
    await there.until(() => mailedCode() !== undefined, 10_000);
    return mailedCode() ?? '';
  });
  t.is(ended.code, 0, ended.err);
  t.not(await here(), undefined);
});

test('an account that is locked after many failures says so', async (t) => {
  const { run } = await started(t);
  const codes = new Set<string>();
  for (let attempt = 0; attempt < 14; attempt += 1) codes.add((await run([], 'another password')).err);
  t.true(
    [...codes].some((text) => /Wait as it asks, and run the command again\./.test(text)),
    [...codes].join(),
  );
});
