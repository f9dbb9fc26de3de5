/** The assistant on a subscription that an administrator has paired (docs/protocol/pairing.md), with a real identity provider. */
import test, { type ExecutionContext } from 'ava';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { OverloadedError } from '../../../runtime/errors.ts';
import { type Answer, call } from '../../kit/http.ts';
import { misbehaviourNames, providerWords } from '../../kit/identity-provider.ts';
import { adminEmails, base, paired } from '../../kit/pairing.ts';

const minuteMs = 60_000;

test('an administrator pairs a subscription in the browser, and the assistant answers on it', async (t) => {
  const { start, identity, callback, status, call, ask, model, trail, server } = await paired(t);
  const before = await status();
  t.deepEqual(before, {
    subscriptionId: 'default',
    available: true,
    paired: false,
    readable: true,
    storeUnreadable: false,
    accountLabel: null,
    accountId: null,
    expiresAt: null,
    repairReason: null,
    transientFailure: null,
    retryAt: null,
    pendingAttempt: false,
    backendProfiles: ['paid'],
  });
  t.is((await ask()).status, 503);

  const started = await start();
  const leftMs = (iso: string) => Date.parse(iso) - server.clock.nowMs();
  t.true(leftMs(started.expiresAt) > 9.9 * minuteMs && leftMs(started.expiresAt) <= 10 * minuteMs);
  t.regex(started.state, /^[\w-]{43}$/);
  const url = new URL(started.authorizationUrl);
  t.is(url.searchParams.get('state'), started.state);
  t.is(url.searchParams.get('code_challenge_method'), 'S256');
  t.is(url.searchParams.get('redirect_uri'), started.redirectUri);
  t.true((await status()).pendingAttempt);

  const brought = await identity.agree(started.authorizationUrl);
  const page = await callback(brought);
  t.is(page.status, 200, page.text);
  const after = await status();
  t.true(after.paired && !after.pendingAttempt && after.repairReason === null);
  t.true(leftMs(after.expiresAt) > 59 * minuteMs && leftMs(after.expiresAt) <= 60 * minuteMs);
  t.deepEqual([after.accountLabel, after.accountId], ['alice@provider.test', 'org-7']);
  t.deepEqual((await call('GET', '/list')).body, { subscriptions: [after] });
  const { events } = await ask();
  t.is(events[0]?.kind, 'text-delta');
  t.is(model.received[0]?.body.model, 'large');
  await server.advance(1_000);
  const { since, updatedAt, ...usage } = (await call('GET', '/usage')).body;
  t.deepEqual(usage, {
    subscriptionId: 'default',
    requests: 1,
    promptTokens: 7,
    completionTokens: 3,
    totalTokens: 10,
  });
  t.is(since, updatedAt);
  t.deepEqual((await trail()).slice(0, 2), ['assistant-paired', 'assistant-pairing-started']);
});

const inertHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-store, max-age=0',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
};

function expectInert(t: ExecutionContext, { status, headers, text }: Answer): void {
  for (const [name, value] of Object.entries(inertHeaders))
    t.is(headers.get(name), value, `${status} ${name}`);
  t.false(/script|href|x{43}/i.test(text));
}

test('the callback is an inert page that nobody keeps', async (t) => {
  const { agree, callback } = await paired(t);
  for (const query of [await agree(), 'state=<script>&code=x', `state=${'x'.repeat(43)}&code=y`]) {
    expectInert(t, await callback(query));
  }
});

test('a pairing is completed by hand by the administrator who started it, and by nobody else', async (t) => {
  const { agree, as, call, server, status } = await paired(t);
  const other = await server.device(adminEmails[1]);
  const brought = Object.fromEntries(await agree('team.one'));
  const refused = await as(other, 'POST', '/complete', brought);
  t.is(refused.status, 403);
  t.is(refused.body.error.tag, 'pairing-admin-mismatch');
  const wrongId = await call('POST', '/complete', { ...brought, subscriptionId: 'team.two' });
  t.is(wrongId.body.error.tag, 'invalid-pairing-state');
  const done = await call('POST', '/complete', { ...brought, subscriptionId: 'team.one' });
  t.is(done.status, 200, done.text);
  t.deepEqual(done.body.subscription, await status('team.one'));
  t.true(done.body.subscription.paired);
});

test('the callback is an inert page whatever refuses it', async (t) => {
  const { server } = await paired(t, {
    gateway: { rateLimits: { publicPerMinute: 1_000, sessionPerMinute: 1_000 } },
  });
  const path = `${base}/callback?state=x&code=y`;
  const expectPage = (expected: number, answer: Answer) => {
    t.is(answer.status, expected);
    expectInert(t, answer);
    t.regex(answer.text, /^<!doctype html>.*<h1>Not paired<\/h1>/, `${expected}`);
  };
  const closed = await server.another({ accessKey: { key: 'k', mode: 'all', exempt: [] } });
  expectPage(401, await call(closed.url, 'GET', path));
  const ask = server.transport.ask.bind(server.transport);
  server.transport.ask = () => Promise.reject(new Error('a defect'));
  expectPage(500, await server.call('GET', path));
  server.transport.ask = () => Promise.reject(new OverloadedError('no room', 1_000));
  expectPage(503, await server.call('GET', path));
  server.transport.ask = ask;
  for (let index = 0; index < 8; index += 1) expectPage(400, await server.call('GET', path));
  expectPage(429, await server.call('GET', path));
});

test('one of two simultaneous callbacks pairs, and the code is sent once', async (t) => {
  const { agree, callback, identity } = await paired(t);
  const brought = await agree();
  const answers = await Promise.all([callback(brought), callback(brought), callback(brought)]);
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400, 400]);
  t.is(identity.requests.length, 1);
  t.is((await callback(brought)).status, 400);
  t.is(identity.requests.length, 1);
});

test('an impossible value is refused before the provider is asked', async (t) => {
  const { call, agree, callback, identity, server } = await paired(t);
  const { state = '', code = '' } = Object.fromEntries(await agree());
  const wrong: readonly (readonly [object, string])[] = [
    [{ state: 'short', code }, 'invalid-pairing-state'],
    [{ state: `${state}x`, code }, 'invalid-pairing-state'],
    [{ state: [state], code }, 'invalid-pairing-state'],
    [{ code }, 'invalid-pairing-state'],
    [{ state: 'A'.repeat(43), code }, 'invalid-pairing-state'],
    [{ state, code: '' }, 'invalid-pairing-code'],
    [{ state, code: 'a b' }, 'invalid-pairing-code'],
    [{ state, code: 'x'.repeat(4_097) }, 'invalid-pairing-code'],
    [{ state }, 'invalid-pairing-code'],
    [{ state, code, subscriptionId: '-x' }, 'invalid-subscription-id'],
  ];
  for (const [body, tag] of wrong) {
    const answer = await call('POST', '/complete', body);
    t.deepEqual([answer.status, answer.body.error.tag], [400, tag], JSON.stringify(body));
  }
  await server.advance(10 * minuteMs);
  t.is((await callback(new URLSearchParams({ state, code }))).status, 400, 'too old');
  t.is(identity.requests.length, 0);
});

for (const name of misbehaviourNames.filter((each) => each !== 'no refresh token')) {
  test(`a provider that answers with ${name} does not complete a pairing, and nobody hears its words`, async (t) => {
    const { agree, call, identity, status } = await paired(t);
    const brought = Object.fromEntries(await agree());
    identity.misbehave(name);
    const answer = await call('POST', '/complete', brought);
    t.deepEqual([answer.status, answer.body.error.tag], [502, 'pairing-exchange-failed']);
    t.false(answer.text.includes(providerWords));
    t.is(identity.elsewhere, 0);
    identity.misbehave(undefined);
    const again = await call('POST', '/complete', brought);
    t.is(again.body.error.tag, 'invalid-pairing-state', 'an attempt is used up by its failure');
    const { paired: isPaired, pendingAttempt } = await status();
    t.deepEqual([isPaired, pendingAttempt], [false, false]);
  });
}

test('a provider whose user says no ends the attempt, whatever it says of that', async (t) => {
  const { start, callback, status, identity } = await paired(t);
  const { state } = await start();
  const page = await callback(new URLSearchParams({ state, error: 'access_denied', error_description: 'w' }));
  t.is(page.status, 502);
  t.false((await status()).pendingAttempt);
  t.is(identity.requests.length, 0);
});

for (const [name, replace] of [
  ['a newer start', { method: 'POST', path: '/start', body: {} }],
  [
    'unpairing it',
    { method: 'POST', path: '/unpair', body: { subscriptionId: 'default', confirmReferences: true } },
  ],
  [
    'unpairing all',
    { method: 'POST', path: '/unpair-all', body: { confirmation: 'UNPAIR ALL SUBSCRIPTIONS' } },
  ],
] as const) {
  test(`${name} lets an exchange under way come to nothing`, async (t) => {
    const { agree, call, identity, status, server } = await paired(t);
    const brought = Object.fromEntries(await agree());
    const release = identity.hold();
    const completing = call('POST', '/complete', brought);
    await server.until(() => identity.requests.length === 1, 10_000);
    t.is((await call(replace.method, replace.path, replace.body)).status, 200);
    release();
    const answer = await completing;
    t.deepEqual([answer.status, answer.body.error.tag], [409, 'pairing-superseded']);
    t.false((await status()).paired);
  });
}

test('a claim whose process died completes nothing, and holds its place for two minutes alone', async (t) => {
  const { agree, call, callback, identity, server, domain, status } = await paired(t);
  const brought = await agree();
  const release = identity.hold();
  const cut = callback(brought);
  await server.until(() => identity.requests.length === 1, 10_000);
  await server.restart(domain);
  release();
  t.not((await cut).status, 200);
  t.is((await callback(brought)).status, 400, 'it was claimed');
  t.false((await status()).paired);
  const start = async (subscriptionId: string) => (await call('POST', '/start', { subscriptionId })).status;
  for (let count = 1; count < 16; count += 1) t.is(await start(`pending-${count}`), 200);
  t.is(await start('one-more'), 429);
  await server.advance(2 * minuteMs);
  t.is(await start('one-more'), 200);
});

test('an attempt outlives the process that began it', async (t) => {
  const { agree, callback, server, domain, status } = await paired(t);
  const brought = await agree();
  await server.restart(domain);
  t.true((await status()).pendingAttempt);
  t.is((await callback(brought)).status, 200);
  t.true((await status()).paired);
});

test('a user who is no administrator any more pairs nothing', async (t) => {
  const { agree, callback, admin, server, status, identity } = await paired(t);
  const brought = await agree();
  const operated = server.host.actors.get(UserAdministration, admin.account.userUuid).ask;
  await operated.operatorSetAdministrator({ administrator: false });
  t.is((await callback(brought)).status, 403);
  t.is(identity.requests.length, 0);
  await operated.operatorSetAdministrator({ administrator: true });
  t.is((await callback(brought)).status, 400, 'the attempt is used up');
  t.false((await status()).paired);
});

test('an administrator has 16 attempts at once, and the server 256 subscriptions', async (t) => {
  t.timeout(120_000);
  const emails = Array.from({ length: 17 }, (_, index) => `admin-${index}@example.org`);
  const { server, as, call } = await paired(t, {
    accounts: { adminEmails: new Set([...emails, adminEmails[0]]) },
  });
  let started = 0;
  const startBy = async (email: string, subscriptionId: string) => {
    const answer = await as(await server.device(email), 'POST', '/start', { subscriptionId });
    started += answer.status === 200 ? 1 : 0;
    return answer;
  };
  const [first = '', last = ''] = [emails[0], emails[16]];
  for (const email of emails.slice(0, 16)) {
    if (started === 16) t.is((await startBy(first, 'one-more')).body.error.tag, 'pairing-capacity');
    for (let index = 0; index < 16; index += 1) await startBy(email, `${email.split('@')[0]}.${index}`);
  }
  t.is(started, 256);
  for (const answer of [await startBy(first, 'one-more'), await startBy(last, 'of-another')]) {
    t.deepEqual([answer.status, answer.body.error.tag], [429, 'pairing-capacity']);
  }
  t.is((await startBy(first, 'admin-0.3')).status, 200, 'a newer one takes the place of the older');
  await server.advance(11 * minuteMs);
  t.is(
    (await call('POST', '/start', { subscriptionId: 'later' })).status,
    200,
    'a pairing that is over no longer counts',
  );
});

test('a pairing that profiles use is removed when that is confirmed, and they answer nobody then', async (t) => {
  const { pair, call, status, ask, trail } = await paired(t);
  await pair();
  await pair('other');
  for (const body of [{}, { subscriptionId: '' }, { subscriptionId: null, confirmReferences: true }]) {
    t.is((await call('POST', '/unpair', body)).body.error.tag, 'subscription-id-required');
  }
  for (const confirmReferences of [undefined, 'true', 1]) {
    const refused = await call('POST', '/unpair', { subscriptionId: 'default', confirmReferences });
    t.is(refused.status, 409);
    t.is(refused.body.error.tag, 'confirmation-required');
    t.deepEqual(refused.body.error.references, [{ kind: 'assistant', profileId: 'paid' }]);
  }
  t.is((await ask()).status, 200);
  const done = await call('POST', '/unpair', { subscriptionId: 'default', confirmReferences: true });
  t.deepEqual(done.body, { unpaired: true, subscriptionId: 'default', referencesAffected: 1 });
  t.is((await ask()).status, 503);
  t.true((await status('other')).paired);
  const again = await call('POST', '/unpair', { subscriptionId: 'default' });
  t.deepEqual(again.body, { unpaired: false, subscriptionId: 'default', referencesAffected: 0 });
  t.is((await call('GET', '/usage')).body.requests, 0);
  t.is((await trail())[0], 'assistant-unpaired');
});

test('all pairings go by exactly one sentence', async (t) => {
  const { pair, call, trail, start, status } = await paired(t);
  await pair();
  await pair('other');
  await pair('Other');
  await start('third');
  const listed: readonly { subscriptionId: string }[] = (await call('GET', '/list')).body.subscriptions;
  t.deepEqual(
    listed.map(({ subscriptionId }) => subscriptionId),
    ['Other', 'default', 'other'],
  );
  for (const confirmation of [undefined, 'unpair all subscriptions', 'UNPAIR ALL SUBSCRIPTIONS ', true]) {
    const answer = await call('POST', '/unpair-all', { confirmation });
    t.deepEqual([answer.status, answer.body.error.tag], [400, 'confirmation-mismatch']);
  }
  const done = await call('POST', '/unpair-all', { confirmation: 'UNPAIR ALL SUBSCRIPTIONS' });
  t.deepEqual(done.body, { unpaired: true, count: 3 });
  t.deepEqual((await call('GET', '/list')).body, { subscriptions: [] });
  t.false((await status('third')).pendingAttempt);
  t.is((await trail())[0], 'assistant-all-unpaired');
});

test('under another key nothing is read or changed, and under its own all is there again', async (t) => {
  const { pair, call, status, server, domain, toolsWith, ask, start } = await paired(t);
  await pair();
  await start('pending');
  await server.restart({ ...domain, pairing: toolsWith(Buffer.alloc(32, 1)) });
  const seen = await status();
  t.deepEqual([seen.storeUnreadable, seen.readable, seen.paired, seen.available], [true, false, false, true]);
  for (const [method, path, body] of [
    ['GET', '/list'],
    ['GET', '/usage'],
    ['POST', '/start', {}],
    ['POST', '/complete', { code: 'x', state: 'A'.repeat(43) }],
    ['POST', '/unpair', { subscriptionId: 'default', confirmReferences: true }],
  ] as const) {
    const answer = await call(method, path, body);
    t.deepEqual([answer.status, answer.body.error.tag], [503, 'pairing-store-unreadable'], path);
  }
  t.is((await ask()).status, 503);
  // Attempts are over meanwhile: an unreadable one is not removed either.
  await server.advance(30 * minuteMs);
  await server.restart(domain);
  t.true((await status()).paired);
  t.is((await ask()).status, 200);

  await server.restart({ ...domain, pairing: toolsWith(Buffer.alloc(32, 1)) });
  const cleared = await call('POST', '/unpair-all', { confirmation: 'UNPAIR ALL SUBSCRIPTIONS' });
  t.deepEqual(cleared.body, { unpaired: true, count: 1 });
  t.false((await status()).storeUnreadable);
  await server.restart(domain);
  t.deepEqual((await call('GET', '/list')).body, { subscriptions: [] });
});

test('without a key there is no pairing, and the status says so', async (t) => {
  const { call, status } = await paired(t, { pairing: { seal: undefined, provider: undefined } });
  const seen = await status();
  t.deepEqual([seen.available, seen.paired, seen.storeUnreadable], [false, false, false]);
  for (const [method, path, body] of [
    ['GET', '/list'],
    ['GET', '/usage'],
    ['POST', '/start', {}],
    ['POST', '/complete', { code: 'x', state: 'A'.repeat(43) }],
    ['POST', '/unpair', { subscriptionId: 'default' }],
    ['POST', '/unpair-all', { confirmation: 'UNPAIR ALL SUBSCRIPTIONS' }],
  ] as const) {
    const answer = await call(method, path, body);
    t.deepEqual([answer.status, answer.body.error.tag], [503, 'pairing-unavailable'], path);
  }
});

test('every answer below the path says that nobody may keep it, refusals of the gateway too', async (t) => {
  const { server, admin } = await paired(t);
  const user = await server.device();
  const answers = [
    await server.call('GET', `${base}/status`),
    await user.call('GET', `${base}/status`),
    await admin.call('GET', `${base}/status`),
    await admin.call('GET', `${base}/nothing`),
    await admin.call('DELETE', `${base}/status`),
    await admin.call('POST', `${base}/start`, { body: { subscriptionId: 'x'.repeat(70_000) } }),
    await admin.call('GET', `${base}//status`),
    await server.call('OPTIONS', `${base}/status`, { headers: { origin: 'https://app.test' } }),
  ];
  t.deepEqual(
    answers.map(({ status }) => status),
    [401, 403, 200, 404, 405, 413, 400, 204],
  );
  for (const { status, headers } of answers) {
    t.is(headers.get('cache-control'), 'private, no-store, max-age=0', `${status}`);
    t.is(headers.get('pragma'), 'no-cache', `${status}`);
  }
});

test('a client that may not come back too often is told when to', async (t) => {
  const { server } = await paired(t, {
    gateway: { rateLimits: { publicPerMinute: 1_000, sessionPerMinute: 1_000 } },
  });
  const statuses: number[] = [];
  for (let index = 0; index < 12; index += 1) {
    statuses.push((await server.call('GET', `${base}/callback?state=x&code=y`)).status);
  }
  t.deepEqual(statuses, [...Array.from({ length: 10 }, () => 400), 429, 429]);
});
