/** The rights of callers to pairings, leaks of their secrets, and the effect of altered rows. */
import test from 'ava';
import { Registry } from 'prom-client';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { prometheusRuntimeMetrics } from '../../runtime/host/metrics.ts';
import type { Device } from '../kit/device.ts';
import { misbehaviourNames, providerWords } from '../kit/identity-provider.ts';
import { memoryLogger } from '../kit/memory-logger.ts';
import { adminEmails, base, paired, pairingKey } from '../kit/pairing.ts';
import type { TestServer } from '../kit/server.ts';

const rows = [
  ['GET', '/status', undefined],
  ['GET', '/list', undefined],
  ['GET', '/usage', undefined],
  ['POST', '/start', {}],
  ['POST', '/complete', { code: 'x', state: 'A'.repeat(43) }],
  ['POST', '/unpair', { subscriptionId: 'none' }],
  ['POST', '/unpair-all', { confirmation: 'UNPAIR ALL SUBSCRIPTIONS' }],
] as const;

test('each row is answered by the rights of its caller, before anything else about the request', async (t) => {
  const { server, as, admin, domain } = await paired(t);
  const [user, banned] = [await server.device(), await server.device('banned@example.org')];
  const statusesOf = async (device: Device) => {
    const statuses: number[] = [];
    for (const [method, path, body] of rows) statuses.push((await as(device, method, path, body)).status);
    return statuses;
  };
  const anonymous: number[] = [];
  for (const [method, path, body] of rows) {
    anonymous.push((await server.call(method, base + path, body === undefined ? {} : { body })).status);
  }
  t.deepEqual(anonymous, [401, 401, 401, 401, 401, 401, 401]);
  t.deepEqual(await statusesOf(user), [403, 403, 403, 403, 403, 403, 403]);
  t.deepEqual(await statusesOf(admin), [200, 200, 200, 200, 400, 200, 200]);

  const operated = server.host.actors.get(UserAdministration, banned.account.userUuid).ask;
  await operated.operatorSetAdministrator({ administrator: true });
  t.is((await as(banned, 'GET', '/list')).status, 200);
  await operated.operatorSetAdministrator({ administrator: false });
  await operated.operatorSetBan({ banned: true, reason: null, by: 'operator' });
  t.deepEqual(await statusesOf(banned), [401, 401, 401, 401, 401, 401, 401]);

  await server.restart({
    ...domain,
    accounts: { ...domain.accounts, readonlyUsers: new Set(adminEmails) },
  });
  t.deepEqual(await statusesOf(admin), [200, 200, 200, 403, 403, 403, 403]);
});

test('no code, verifier, token or key is in a log, a metric, an audit trail, the database or an answer to an administrator', async (t) => {
  const { lines, logger } = memoryLogger();
  const registry = new Registry();
  let server: TestServer | undefined;
  const scene = await paired(t, {
    host: { logger, metrics: prometheusRuntimeMetrics(registry, () => (server as TestServer).host.host) },
  });
  ({ server } = scene);
  const { identity, admin, start, callback, ask, model } = scene;
  const answers: string[] = [];
  const call = async (method: string, path: string, body?: object) => {
    const answer = await scene.call(method, path, body);
    answers.push(answer.text);
    return answer;
  };
  const found = new Map<string, string>([['the key', pairingKey.toString('hex')]]);
  const pairOnce = async (round: string) => {
    const started = await start();
    found.set(`${round}: state`, started.state);
    const brought = await identity.agree(started.authorizationUrl);
    found.set(`${round}: code`, brought.get('code') ?? 'none');
    const page = await callback(brought);
    answers.push(page.text);
    return brought;
  };
  for (const how of misbehaviourNames.filter((each) => each !== 'no refresh token')) {
    identity.misbehave(how);
    await pairOnce(how);
  }
  identity.misbehave(undefined);
  const brought = await pairOnce('paired');
  await call('POST', '/complete', Object.fromEntries(brought));
  await ask();
  await scene.server.advance(3_600_000);
  await ask();
  model.state.tokens.clear();
  await ask();
  await call('GET', '/status');
  await call('GET', '/list');
  await call('GET', '/usage');
  await call('POST', '/unpair', { subscriptionId: 'default' });
  await scene.server.advance(5_000);
  const trail = await admin.call('GET', `/v1/users/${admin.account.userUuid}/audit-trail`);
  t.true(trail.text.includes('assistant-paired'));

  for (const [index, { access_token, refresh_token, id_token }] of identity.issued.entries()) {
    found.set(`access token ${index}`, access_token);
    found.set(`refresh token ${index}`, refresh_token);
    if (id_token !== undefined) found.set(`ID token ${index}`, id_token);
  }
  for (const [index, fields] of identity.requests.entries()) {
    const verifier = fields.get('code_verifier');
    if (verifier !== null) found.set(`verifier ${index}`, verifier);
  }
  t.true([...found.keys()].some((name) => name.startsWith('verifier')));
  t.is(identity.issued.length, 2);
  const stored = scene.server.host.database.slices({ kind: 'pairing', id: 'pairing' });
  const places = {
    log: [...lines, ...scene.server.log.map((line) => JSON.stringify(line))].join('\n'),
    metrics: `${await registry.metrics()}\n${await scene.server.registry.metrics()}`,
    answers: answers.join('\n'),
    trail: trail.text,
    database: stored.map((row) => Buffer.from(row.data).toString('latin1')).join('\n'),
  };
  for (const [place, text] of Object.entries(places)) {
    t.true(text.length > 0, place);
    for (const [name, secret] of found) t.false(text.includes(secret), `${name} is in the ${place}`);
  }
});

for (const [name, slice, offset] of [
  ['a credential', /credential/, -40],
  ['the tag of a credential', /credential/, -1],
  ['an attempt', /attempt/, -40],
  ['the MAC', /^mac/, -1],
] as const) {
  test(`${name} that somebody has altered in the database makes all unreadable, and nothing is written over it`, async (t) => {
    const { pair, start, call, status, server, domain, ask } = await paired(t);
    await pair();
    await start('other');
    const address = { kind: 'pairing', id: 'pairing' };
    const row = server.host.database.slices(address).find((each) => slice.test(each.slice));
    const at = (row?.data.length ?? 0) + offset;
    row?.data.writeUInt8(row.data.readUInt8(at) ^ 1, at);
    await server.restart(domain);
    t.true((await status()).storeUnreadable);
    t.is((await ask()).status, 503);
    for (const [method, path, body] of [
      ['GET', '/list'],
      ['POST', '/start', {}],
      ['POST', '/unpair', { subscriptionId: 'other' }],
    ] as const) {
      t.is((await call(method, path, body)).body.error.tag, 'pairing-store-unreadable');
    }
    // The attempt is over meanwhile.
    await server.advance(20 * 60_000);
    row?.data.writeUInt8(row.data.readUInt8(at) ^ 1, at);
    await server.restart(domain);
    t.true((await status()).paired);
  });
}

for (const [name, how] of [
  ['says nothing', undefined],
  ['begins an answer and never goes on', 'the head of an answer and nothing else'],
] as const) {
  test(`a provider that ${name} is given up after 15 seconds`, async (t) => {
    const { agree, call, identity, server } = await paired(t);
    const brought = Object.fromEntries(await agree());
    if (how === undefined) t.teardown(identity.hold());
    else identity.misbehave(how);
    const beganMs = server.clock.nowMs();
    const answer = await call('POST', '/complete', brought);
    const tookMs = server.clock.nowMs() - beganMs;
    t.deepEqual([answer.status, answer.body.error.tag], [502, 'pairing-exchange-failed']);
    t.true(tookMs >= 15_000 && tookMs < 20_000, `${tookMs} ms`);
  });
}

for (const name of misbehaviourNames) {
  test(`nothing of what a provider says with ${name} is logged`, async (t) => {
    const { agree, call, identity, server } = await paired(t);
    const brought = Object.fromEntries(await agree());
    identity.misbehave(name);
    await call('POST', '/complete', brought);
    const log = server.log.map((line) => JSON.stringify(line)).join('\n');
    t.true(log.length > 0);
    t.false(log.includes(providerWords));
  });
}
