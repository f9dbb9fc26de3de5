/** One account that comes from another server over HTTP, with the password that its owner types. */
import test, { type ExecutionContext } from 'ava';
import { generateSync } from 'otplib';
import { defaultItemSettings } from '../../actors/collection/settings.ts';
import { serverPasswordOf } from '../../cli/import/account/server-password.ts';
import { signIn, tokensOf } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import { startApi } from '../kit/internal-api.ts';
import { note } from '../kit/items.ts';
import { runTyped } from '../kit/operator.ts';
import { startServer } from '../kit/server.ts';
import { makeVault } from '../kit/vaults.ts';
import { passMs } from './moving.ts';

const email = 'ada@example.org';
const typed = 'correct horse battery staple';
const nonce = 'b'.repeat(64);
const password = () => serverPasswordOf(typed, { identifier: email, version: '004', pw_nonce: nonce });

async function started(t: ExecutionContext) {
  const there = await startServer(t, {
    items: { revisions: { ...defaultItemSettings.revisions, pauseMs: 0 } },
  });
  const phone = await Device.register(there, { email, password: await password(), pw_nonce: nonce });
  const world = await startApi(t);
  const run = async (
    options: readonly string[] = [],
    answers: string | ((prompt: string) => string) = typed,
  ) => {
    const args = ['import', 'account', '--from', there.url, '--email', email, ...options];
    return world.server.answered(runTyped(args, { address: world.address, typed: answers }), passMs);
  };
  const here = async () => {
    const signedIn = await signIn(world.server, { email, password: await password() });
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
  t.regex(wrong.err, /answered 401/);
  const away = await run(['--from', 'http://127.0.0.1:1']);
  t.is(away.code, 69);
  t.is((await run(['--from', 'nowhere'])).code, 64);
  await Device.register(world.server, { email });
  const refused = await run(['--json']);
  t.is(refused.code, 65);
  t.like(JSON.parse(refused.out), { opened: false, tables: { users: { skipped: { taken: 1 } } } });
  t.is(await here(), undefined);
});

test('a second factor is asked for', async (t) => {
  const { there, phone, run, here } = await started(t);
  const account = `/v1/users/${phone.account.userUuid}`;
  const { secret } = (await phone.call('GET', `${account}/mfa-secret`)).body;
  const codeNow = () => generateSync({ secret, epoch: Math.floor(there.clock.nowMs() / 1_000) });
  const factor = { name: 'MFA_SECRET', value: secret, totpToken: codeNow() };
  t.is((await phone.call('PUT', `${account}/settings`, { body: factor })).status, 200);
  // Each code counts once.
  await there.advance(60_000);
  const prompts: string[] = [];
  const ended = await run([], (prompt) => {
    prompts.push(prompt);
    return prompt.startsWith('Password') ? typed : codeNow();
  });
  t.is(ended.code, 0, ended.err);
  t.deepEqual(prompts, ['Password of ada@example.org: ', 'Code of the second factor: ']);
  t.not(await here(), undefined);
});
