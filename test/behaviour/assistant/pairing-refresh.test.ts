/** Access tokens of pairings: refreshed before they end, once for all callers, and the result if that fails. */
import test from 'ava';
import { openStream, streamed } from '../../kit/assisted.ts';
import { paired } from '../../kit/pairing.ts';

const minuteMs = 60_000;
/** The provider gives an hour. */
const expiryMs = 60 * minuteMs;
const refreshes = (requests: readonly URLSearchParams[]): number =>
  requests.filter((each) => each.get('grant_type') === 'refresh_token').length;

test('fifty simultaneous requests for a pairing that expires make one refresh', async (t) => {
  t.timeout(60_000);
  const { pair, server, identity, status } = await paired(t);
  await pair();
  await server.advance(expiryMs - minuteMs);
  const users = [];
  for (let index = 0; index < 13; index += 1) users.push(await server.device(`user-${index}@example.org`));
  const release = identity.hold();
  const pending = users.flatMap((user) =>
    Array.from({ length: 4 }, () => streamed(openStream(server.url, user, {}))),
  );
  await server.until(() => identity.requests.length === 2, 10_000);
  release();
  const answers = await server.answered(Promise.all(pending), 60_000);
  t.is(answers.length, 52);
  t.true(answers.every(({ events }) => events.at(-1)?.kind === 'finish'));
  t.is(answers.filter(({ events }) => events.some(({ kind }) => kind === 'error')).length, 0);
  t.is(refreshes(identity.requests), 1);
  t.is(Date.parse((await status()).expiresAt) > server.clock.nowMs() + 50 * minuteMs, true);
});

test('a refresh token that the provider rotates is the next one', async (t) => {
  const { pair, server, identity, ask } = await paired(t);
  await pair();
  for (let round = 1; round <= 3; round += 1) {
    await server.advance(expiryMs);
    t.is((await ask()).events[0]?.kind, 'text-delta');
    t.is((await ask()).events[0]?.kind, 'text-delta');
    t.is(refreshes(identity.requests), round);
    t.is(identity.requests.at(-1)?.get('refresh_token'), identity.issued.at(-2)?.refresh_token);
  }
});

test('a pairing that its user has revoked needs repair, and pairing again is that', async (t) => {
  const { pair, server, identity, ask, status } = await paired(t);
  await pair();
  await identity.revoke();
  await server.advance(expiryMs);
  t.is((await ask()).status, 503);
  t.is((await status()).repairReason, 'invalid-grant');
  t.is((await ask()).status, 503);
  t.is(refreshes(identity.requests), 1, 'a broken pairing is not tried again');
  await pair();
  t.is((await status()).repairReason, null);
  t.is((await ask()).events[0]?.kind, 'text-delta');
});

for (const [how, failure] of [
  ['internal error', 'provider-unavailable'],
  ['rate limit', 'rate-limited'],
  ['cut', 'network'],
  ['redirect', 'provider-unavailable'],
  ['gzip bomb', 'network'],
  ['no JSON', 'provider-unavailable'],
] as const) {
  test(`a refresh that fails by ${how} is tried again later, and meanwhile nobody uses the old token`, async (t) => {
    const { pair, server, identity, ask, status, model } = await paired(t);
    await pair();
    await server.advance(expiryMs - minuteMs / 2);
    identity.misbehave(how);
    const { status: answered, events } = await ask();
    t.is(answered, 200);
    t.deepEqual(
      events.map(({ kind }) => kind),
      ['error', 'finish'],
    );
    const seen = await status();
    t.deepEqual([seen.paired, seen.repairReason, seen.transientFailure], [true, null, failure]);
    const waitMs = Date.parse(seen.retryAt) - server.clock.nowMs();
    if (how === 'rate limit') t.true(waitMs > 90_000, `${waitMs}`);
    else t.true(waitMs > 0 && waitMs <= 6_000, `${waitMs}`);
    t.is((await ask()).events[0]?.kind, 'error');
    t.is(refreshes(identity.requests), 1, 'not before its time');
    t.is(model.received.length, 0);
    t.is(identity.elsewhere, 0);

    identity.misbehave(undefined);
    await server.advance(2 * minuteMs);
    t.is((await ask()).events[0]?.kind, 'text-delta');
    t.deepEqual([(await status()).transientFailure, refreshes(identity.requests)], [null, 2]);
  });
}

test('the pause between refreshes doubles and has an end', async (t) => {
  const { pair, server, identity, ask, status } = await paired(t);
  await pair();
  await server.advance(expiryMs);
  identity.misbehave('internal error');
  const pausesMs: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    await ask();
    const { retryAt } = await status();
    pausesMs.push(Date.parse(retryAt) - server.clock.nowMs());
    await server.advance(20 * minuteMs);
  }
  for (const [index, pauseMs] of pausesMs.entries()) {
    const wholeMs = Math.min(5_000 * 2 ** index, 15 * minuteMs);
    t.true(pauseMs > wholeMs * 0.8 - 1_500 && pauseMs <= wholeMs * 1.2, `${index}: ${pauseMs}`);
  }
});

test('a provider that does not accept this server any more, or gives no refresh token, needs repair', async (t) => {
  const forbidden = await paired(t);
  await forbidden.pair();
  await forbidden.server.advance(expiryMs);
  forbidden.identity.misbehave('forbidden');
  t.is((await forbidden.ask()).status, 503);
  t.is((await forbidden.status()).repairReason, 'credential-rejected');

  const alone = await paired(t);
  alone.identity.misbehave('no refresh token');
  await alone.pair();
  await alone.server.advance(expiryMs);
  t.is((await alone.ask()).status, 503);
  t.is((await alone.status()).repairReason, 'missing-refresh-token');
});

test('a token that the model rejects is no 401 of the client, and is refreshed once before the pairing needs repair', async (t) => {
  const { pair, server, identity, ask, status, acceptTokens, model } = await paired(t);
  acceptTokens(false);
  await pair();
  // Three callers at once cause one refresh.
  for (const { status: answered, events } of await Promise.all([ask(), ask(), ask()])) {
    t.is(answered, 200);
    t.is(events[0]?.kind, 'error');
  }
  await server.advance(1_000);
  t.is((await status()).repairReason, null);
  acceptTokens(true);
  t.is((await ask()).events[0]?.kind, 'text-delta');
  await server.advance(1_000);
  t.is(refreshes(identity.requests), 1);

  acceptTokens(false);
  model.state.tokens.clear();
  for (const reason of [null, 'credential-rejected']) {
    t.is((await ask()).status, 200);
    await server.advance(1_000);
    t.is((await status()).repairReason, reason);
  }
  t.is(refreshes(identity.requests), 2);
  t.is((await ask()).status, 503);
});

test('a pairing that is replaced while it is refreshed stays what it has become', async (t) => {
  const { pair, server, identity, ask, status, model } = await paired(t);
  await pair();
  await server.advance(expiryMs);
  const release = identity.hold('refresh_token');
  const asking = ask();
  await server.until(() => refreshes(identity.requests) === 1, 10_000);
  await pair();
  release();
  await asking;
  await server.until(() => identity.issued.length === 3, 10_000);
  await server.advance(1_000);
  t.true((await status()).paired);
  t.is((await ask()).events[0]?.kind, 'text-delta');
  t.is(model.received.at(-1)?.headers.authorization, `Bearer ${identity.issued[1]?.access_token}`);
  t.is(refreshes(identity.requests), 1);
});

test('a token that lives for less than a minute is used right after its refresh, and refreshed once for all callers', async (t) => {
  const { identity, server, pair, ask } = await paired(t);
  identity.lifetimeSeconds(30);
  await pair();
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask()));
  t.true(answers.every(({ events }) => events[0]?.kind === 'text-delta'));
  t.is(refreshes(identity.requests), 1);
  await server.advance(1_000);
  t.is((await ask()).events[0]?.kind, 'text-delta');
  t.is(refreshes(identity.requests), 2);
});
