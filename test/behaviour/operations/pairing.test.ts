/** Pairings for operators: with the command line, over the internal API, with a real identity provider. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { pairingId } from '../../../actors/pairing/contract.ts';
import {
  byOperator,
  PairingAdministration,
  unpairAllConfirmation,
} from '../../../actors/pairing/operator-contract.ts';
import { exitCodes } from '../../../cli/failure.ts';
import { startConfiguredServer } from '../../kit/configured-server.ts';
import { Device } from '../../kit/device.ts';
import { call } from '../../kit/http.ts';
import { redirectUri, startIdentityProvider } from '../../kit/identity-provider.ts';
import { apiOver } from '../../kit/internal-api.ts';
import { operate, runTyped } from '../../kit/operator.ts';
import { adminEmails, base, paired, pairingSettingsFor } from '../../kit/pairing.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';

const otherKey = Buffer.alloc(32, 4);

type World = Awaited<ReturnType<typeof paired>>;

async function start(t: ExecutionContext, options: Parameters<typeof paired>[1] = {}) {
  return operated(t, await paired(t, options));
}

/** With an operator of the host that serves now. */
async function operated(t: ExecutionContext, world: World) {
  const { address, log } = await apiOver(t, world.server);
  const said: string[] = [];
  const typing = async (typed: string | undefined, ...args: readonly string[]) => {
    const operator = { address, server: world.server, ...(typed !== undefined && { typed }) };
    const ended = await operate(operator, 'pairing', ...args);
    said.push(ended.out, ended.err);
    return ended;
  };
  const run = (...args: readonly string[]) => typing(undefined, ...args);
  const json = async (...args: readonly string[]) => {
    const { code, out, err } = await run(...args, '--json');
    if (code !== exitCodes.ok) throw new Error(`exit code ${code}: ${err}`);
    return JSON.parse(out);
  };
  /** The address to which the provider sends the browser of an operator who has started. */
  const cameBack = async (...args: readonly string[]) => {
    const { authorizationUrl } = await json('start', ...args);
    return `${redirectUri}?${await world.identity.agree(authorizationUrl)}`;
  };
  return { ...world, log, said, typing, run, json, cameBack };
}

test('an operator pairs a subscription in the browser, and sees that it is used', async (t) => {
  const { run, json, cameBack, callback, ask, server, log } = await start(t);
  t.deepEqual(await json('list'), { subscriptions: [] });
  t.like(await run('list'), { out: 'No subscription is paired.\n' });
  t.regex((await run('status')).out, /^state +not paired$/m);
  const [, query = ''] = (await cameBack()).split('?');
  t.regex((await run('status')).out, /^state +being paired$/m);
  t.is((await callback(query)).status, 200);
  const status = await json('status');
  t.like(status, {
    subscriptionId: 'default',
    available: true,
    paired: true,
    storeUnreadable: false,
    accountLabel: 'alice@provider.test',
    accountId: 'org-7',
    repairReason: '',
    transientFailure: '',
    retry: null,
    pendingAttempt: false,
    backendProfiles: ['paid'],
  });
  t.true(Date.parse(status.expires) > server.clock.nowMs());
  t.deepEqual(await json('list'), { subscriptions: [status] });
  t.regex((await run('list')).out, /^default +paired +alice@provider\.test, org-7 +paid$/m);
  t.is((await ask()).events[0]?.kind, 'text-delta');
  await server.advance(1_000);
  const { since, updated, ...used } = await json('usage');
  t.deepEqual(used, { subscriptionId: 'default', requests: 1, promptTokens: 7, completionTokens: 3 });
  t.is(since, updated);
  t.regex((await run('usage')).out, /^prompt tokens +7$/m);
  t.deepEqual(log, [
    { subscriptionId: 'default', message: 'an operator has begun to pair a subscription of the assistant' },
  ]);
});

test('a pairing that an operator begins and a browser completes is in the log of the node, and one of an administrator in the audit trail alone', async (t) => {
  const identity = await startIdentityProvider(t, () => {});
  const server = await startConfiguredServer(t, pairingSettingsFor(identity.endpoints, 'http://127.0.0.1:9'));
  const admin = await Device.register(server, { email: adminEmails[0] });
  const address = `unix:${server.internalApi.socketPath}`;
  const { out } = await runTyped(['pairing', 'start', 'ours', '--json'], { address, typed: undefined });
  const ofAdministrator = await admin.call('POST', `${base}/start`, { body: { subscriptionId: 'mine' } });
  for (const { authorizationUrl } of [JSON.parse(out), ofAdministrator.body]) {
    const brought = await identity.agree(authorizationUrl);
    for (const status of [200, 400])
      t.is((await call(server.url, 'GET', `${base}/callback?${brought}`)).status, status);
  }
  const logged = server.log
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /a subscription of the assistant$/.test(msg))
    .map(({ msg, subscriptionId }) => [subscriptionId, msg]);
  t.deepEqual(logged, [
    ['ours', 'an operator has begun to pair a subscription of the assistant'],
    ['ours', 'an operator has paired a subscription of the assistant'],
  ]);
});

test('an operator completes by hand with the address from a file or the terminal, and nobody is shown its code', async (t) => {
  const { typing, run, json, cameBack, said, log } = await start(t);
  const directory = temporaryFolder(t);
  const file = join(directory, 'address.txt');
  const [inFile, typed] = [await cameBack('in.file'), await cameBack('typed')];
  said.length = 0;
  writeFileSync(file, `${inFile}\n`);
  t.like(await run('complete', file), { code: 0, err: '' });
  t.like(await typing(typed, 'complete'), { code: 0, err: 'The address that the browser came back to: ' });
  const { subscriptions } = await json('list');
  t.like(subscriptions, [
    { subscriptionId: 'in.file', paired: true },
    { subscriptionId: 'typed', paired: true },
  ]);
  const again = await run('complete', file);
  t.is(again.code, exitCodes.usage);
  t.regex(again.err, /This pairing is not known/);
  for (const address of [inFile, typed]) {
    for (const secret of new URL(address).searchParams.values()) {
      t.false([...said, JSON.stringify(log)].join().includes(secret));
    }
  }
  const events = log.map((line) => (line as { message: string }).message);
  t.is(events.filter((each) => each === 'an operator has paired a subscription of the assistant').length, 2);
});

test('an address that no browser came back to is refused without showing any of it', async (t) => {
  const { typing, run, identity } = await start(t);
  for (const [typed, code] of [
    ['', exitCodes.usage],
    ['a-code', exitCodes.usage],
    [`${redirectUri}?code=a-code`, exitCodes.usage],
    [`${redirectUri}?code=a-code&state=short`, exitCodes.usage],
    [`${redirectUri}?error=a-code&state=short`, exitCodes.refused],
  ] as const) {
    const ended = await typing(typed, 'complete');
    t.deepEqual([ended.code, ended.out], [code, ''], typed);
    t.false(ended.err.includes('a-code'));
  }
  t.is((await run('complete', '/nowhere')).code, exitCodes.usage);
  t.is(identity.requests.length, 0);
});

test('no operator completes a pairing that an administrator has started, nor the other way round', async (t) => {
  const { typing, agree, cameBack, call } = await start(t);
  const ofAdministrator = await typing(`${redirectUri}?${await agree('one')}`, 'complete');
  t.is(ofAdministrator.code, exitCodes.refused);
  t.regex(ofAdministrator.err, /Another administrator has started this pairing/);
  const brought = Object.fromEntries(new URL(await cameBack('two')).searchParams);
  const answer = await call('POST', '/complete', brought);
  t.deepEqual([answer.status, answer.body.error.tag], [403, 'pairing-admin-mismatch']);
});

test('a pairing is removed when that is said twice, with the profiles that it would harm', async (t) => {
  const { pair, run, json, status, ask, log } = await start(t);
  await pair();
  const refused = await run('unpair', 'default');
  t.is(refused.code, exitCodes.refused);
  t.regex(refused.err, /Profiles that would answer nobody: paid\. Use --yes/);
  t.true((await status()).paired);
  t.deepEqual(await json('unpair', 'default', '--yes'), { subscriptionId: 'default', unpaired: true });
  t.is((await ask()).status, 503);
  t.deepEqual(await json('unpair', 'default', '--yes'), { subscriptionId: 'default', unpaired: false });
  t.like(log, [{ unpaired: true, referencesAffected: 1 }, { unpaired: false }]);
});

test('no subscription is removed by leaving out its id', async (t) => {
  const { pair, run, status } = await start(t);
  await pair();
  t.is((await run('unpair', '--yes')).code, exitCodes.usage);
  t.is((await run('unpair', '', '--yes')).code, exitCodes.usage);
  t.true((await status()).paired);
});

test('all pairings are removed when that is said twice', async (t) => {
  const { pair, run, json, log } = await start(t);
  for (const id of ['one', 'two']) await pair(id);
  const refused = await run('unpair-all');
  t.like(refused, { code: exitCodes.refused, out: '' });
  t.regex(refused.err, /This would remove 2 pairings/);
  t.is((await json('list')).subscriptions.length, 2);
  t.deepEqual(await json('unpair-all', '--yes'), { count: 2 });
  t.deepEqual(await json('list'), { subscriptions: [] });
  t.like(log, [{ count: 2 }]);
});

test('pairings under another key are said to be so, and removed only when that is said as well', async (t) => {
  const world = await paired(t);
  const { pair, server, domain, toolsWith } = world;
  await pair();
  await server.restart({ ...domain, pairing: toolsWith(otherKey) });
  const { run, json, log } = await operated(t, world);
  t.true((await json('status')).storeUnreadable);
  t.regex((await run('status')).out, /^state +unreadable: sealed under another key, or altered$/m);
  for (const args of [['list'], ['start'], ['usage'], ['unpair', 'default', '--yes']]) {
    const ended = await run(...args);
    t.is(ended.code, exitCodes.refused, args.join(' '));
    t.regex(ended.err, /cannot be read/);
  }
  for (const args of [[], ['--yes'], ['--unreadable']]) {
    const ended = await run('unpair-all', ...args);
    t.is(ended.code, exitCodes.refused);
    t.regex(ended.err, /The right key would bring them back/);
  }
  // Whatever the command line has asked before, the actor decides.
  const { ask } = server.host.actors.get(PairingAdministration, pairingId);
  const request = { by: byOperator, confirmation: unpairAllConfirmation, onlyReadable: true };
  t.like(await ask.unpairAll(request), { refused: { reason: 'unavailable' } });
  t.true((await json('status')).storeUnreadable);
  t.deepEqual(log, []);
  t.deepEqual(await json('unpair-all', '--yes', '--unreadable'), { count: 1 });
  t.false((await json('status')).storeUnreadable);
});

test('an operator whose server pairs with nobody is told so', async (t) => {
  const { run } = await start(t, { pairing: { seal: undefined, provider: undefined } });
  t.regex((await run('status')).out, /^state +no pairing: a setting is missing$/m);
  for (const args of [['list'], ['start'], ['usage'], ['unpair-all', '--yes']]) {
    const ended = await run(...args);
    t.is(ended.code, exitCodes.refused, args.join(' '));
    t.regex(ended.err, /Pairing is not set up on this server/);
  }
});
