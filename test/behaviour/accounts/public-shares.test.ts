import test from 'ava';
import { shareContentTable } from '../../../actors/share/share.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { PublicShares } from '../../../actors/user/public-shares/contract.ts';
import type { Device } from '../../kit/device.ts';
import type { Call } from '../../kit/http.ts';
import { shareIds, startServer, type TestServer } from '../../kit/server.ts';

const list = '/v1/shares';
const minuteMs = 60_000;
const dayMs = 86_400_000;
const payload = JSON.stringify({ v: 1, nonce: '00'.repeat(24), ciphertext: 'b3BhcXVl' });
const fields = { type: 'note', encryptedPayload: payload };

const make = (device: Device, more: object = {}) =>
  device.call('POST', list, { body: { ...fields, ...more } });
async function made(device: Device, more: object = {}): Promise<string> {
  const { status, text, body } = await make(device, more);
  if (status !== 200) throw new Error(text);
  return body.shareId;
}
const view = (server: TestServer, id: string, request: Call = {}, method = 'GET') =>
  server.call(method, `${list}/${id}`, request);
const statusOf = async (server: TestServer, id: string) => (await view(server, id)).status;
const listed = async (device: Device) => (await device.call('GET', list)).body.shares;
const iso = (ms: number) => new Date(ms).toISOString();

/** How many of these shares have ciphertext. */
async function stored({ host }: TestServer, ...ids: readonly string[]): Promise<number> {
  const request = ids.map((share_uuid) => ({ share_uuid }));
  const [read] = await host.store.read([{ read: 'keys', table: shareContentTable, keys: request }]);
  return read?.rows.length ?? 0;
}

test('a share is listed by its owner and opened by anyone with the link, as often as they like', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const answer = await make(alice, { nickname: '  for Bob ' });
  t.is(answer.status, 200);
  const { shareId, share } = answer.body;
  t.regex(shareId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const expected = {
    uuid: shareId,
    type: 'note',
    nickname: 'for Bob',
    createdAt: iso(server.clock.nowMs()),
    revoked: false,
    oneTimeView: false,
    viewExpiresMinutes: null,
    firstOpenedAt: null,
  };
  t.deepEqual(share, expected);
  const opened = { type: 'note', encryptedPayload: payload, oneTimeView: false, viewExpiresMinutes: null };
  for (const path of [shareId, `${shareId}/`, shareId.toUpperCase()]) {
    const { status, text, headers } = await view(server, path);
    t.is(status, 200);
    const { meta, data, ...flat } = JSON.parse(text);
    t.deepEqual(data, opened);
    t.deepEqual(flat, opened);
    t.deepEqual(meta.auth, {});
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.false(text.includes(alice.account.userUuid));
  }
  t.deepEqual(await listed(alice), [expected]);
});

test('shares are listed newest first, and nobody else’s', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const first = await made(alice);
  await server.advance(1_000);
  const second = await made(alice, { type: 'tag' });
  t.deepEqual(
    (await listed(alice)).map(({ uuid }: { uuid: string }) => uuid),
    [second, first],
  );
  t.deepEqual(await listed(bob), []);
  const foreign = await bob.call('DELETE', `${list}/${first}`);
  t.is(foreign.status, 404);
  t.is(foreign.body.error.tag, 'share-not-found');
  t.is(await statusOf(server, first), 200);
});

test('a revoked share is gone when its owner is answered, and so is its ciphertext', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice);
  t.is(await stored(server, id), 1);
  for (const path of [`${id}/`, id]) {
    const { status, body } = await alice.call('DELETE', `${list}/${path}`);
    t.is(status, 200);
    t.deepEqual(body, { message: 'Share revoked' });
    t.is(await stored(server, id), 0);
    t.is(await statusOf(server, id), 404);
  }
  t.like((await listed(alice))[0], { uuid: id, revoked: true, firstOpenedAt: null });
  await server.advance(90 * dayMs);
  t.deepEqual(await listed(await server.device()), []);
});

test('a one-time share is opened once, and its ciphertext goes', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice, { oneTimeView: true });
  t.is(await statusOf(server, id), 200);
  const openedAt = iso(server.clock.nowMs());
  t.is(await statusOf(server, id), 404);
  await server.advance(1_000);
  t.like((await listed(alice))[0], { revoked: true, firstOpenedAt: openedAt });
  await server.advance(2 * minuteMs);
  t.is(await stored(server, id), 0);
  t.is(await statusOf(server, id), 404);
});

test('a share is given again to its opener when the reply was lost on its way', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice, { oneTimeView: true });
  const ask = server.transport.ask.bind(server.transport);
  let lost = 0;
  server.transport.ask = async (call) => {
    const reply = await ask(call);
    if (call.command !== 'view' || lost > 0) return reply;
    lost += 1;
    return ask(call);
  };
  const { status, body } = await view(server, id);
  t.is(lost, 1);
  t.is(status, 200);
  t.is(body.encryptedPayload, payload);
  t.is(await statusOf(server, id), 404);
});

for (const oneTimeView of [false, true]) {
  test(`minutes run from the first opening${oneTimeView ? ', and win over a one-time view' : ''}`, async (t) => {
    const server = await startServer(t);
    const alice = await server.device();
    const id = await made(alice, { oneTimeView, viewExpiresMinutes: 10 });
    await server.advance(30 * dayMs);
    t.is(await statusOf(server, id), 200);
    const openedAt = iso(server.clock.nowMs());
    await server.advance(10 * minuteMs - 1);
    t.is(await statusOf(server, id), 200);
    const [open] = await listed(await server.device());
    t.like(open, { revoked: false, firstOpenedAt: openedAt });
    await server.advance(1);
    t.is(await statusOf(server, id), 404);
    await server.advance(30_000);
    t.is(await stored(server, id), 0);
    t.like((await listed(await server.device()))[0], { revoked: true, firstOpenedAt: openedAt });
  });
}

test('a share is for one view by a literal true, and what is no boolean makes no share', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  for (const oneTimeView of ['true', 1, {}]) {
    const { status, body } = await make(alice, { oneTimeView });
    t.deepEqual([status, body.error?.tag], [400, 'invalid-share'], String(oneTimeView));
  }
  t.deepEqual(await listed(alice), []);
  for (const oneTimeView of [true, false, null]) {
    const { body } = await make(alice, { oneTimeView });
    t.is(body.share.oneTimeView, oneTimeView === true);
  }
});

test('HEAD and browsers that look ahead use nothing up', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice, { oneTimeView: true });
  t.is((await view(server, id, {}, 'HEAD')).status, 405);
  for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip']) {
    t.is((await view(server, id, { headers: { 'sec-purpose': purpose } })).status, 403);
  }
  t.is((await view(server, id, { headers: { purpose: 'prefetch' } })).status, 403);
  t.is(await statusOf(server, id), 200);
});

test('each defect of a share is refused with a tag', async (t) => {
  const server = await startServer(t, { accounts: { shareBytesMax: 6_000_000 } });
  const alice = await server.device();
  const wrong = [
    ...[{ type: 'file' }, { type: null }, { type: undefined }],
    ...[{ encryptedPayload: '' }, { encryptedPayload: {} }, { encryptedPayload: undefined }],
    ...[{ encryptedPayload: 'a\u0000b' }, { nickname: 7 }, { nickname: 'n'.repeat(256) }],
    ...[0, -1, 1.5, '5', 525_601].map((viewExpiresMinutes) => ({ viewExpiresMinutes })),
  ];
  for (const each of wrong) {
    const { status, body } = await make(alice, each);
    t.is(status, 400, JSON.stringify(each));
    t.is(body.error.tag, 'invalid-share');
  }
  const mebibyte = 1_048_576;
  const large = await make(alice, { encryptedPayload: 'é'.repeat((5 * mebibyte) / 2) });
  t.is(large.status, 200);
  const opened = await view(server, large.body.shareId);
  t.true(opened.body.encryptedPayload === 'é'.repeat((5 * mebibyte) / 2));
  const tooLarge = await make(alice, { encryptedPayload: 'a'.repeat(5 * mebibyte + 1) });
  t.is(tooLarge.status, 413);
  t.is(tooLarge.body.error.tag, 'payload-too-large');
});

test('the quota counts what can still be opened', async (t) => {
  const server = await startServer(t, { accounts: { shareBytesMax: 2 * payload.length } });
  const alice = await server.device();
  const [first] = [await made(alice), await made(alice)];
  const refused = await make(alice);
  t.is(refused.status, 409);
  t.is(refused.body.error.tag, 'share-limit');
  t.is((await alice.call('DELETE', `${list}/${first}`)).status, 200);
  t.is((await make(alice)).status, 200);
});

test('an id that is not of ours asks nobody', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice);
  const requests: string[] = [];
  const ask = server.transport.ask.bind(server.transport);
  server.transport.ask = (call) => {
    requests.push(call.command);
    return ask(call);
  };
  const last = id.endsWith('0') ? '1' : '0';
  for (const guess of [crypto.randomUUID(), `${id.slice(0, -1)}${last}`, 'x', `${id}0`]) {
    t.is(await statusOf(server, guess), 404);
  }
  t.deepEqual(requests, []);
  const unused = shareIds.idOf({ userUuid: alice.account.userUuid, callId: 'another' });
  const bodies = [unused, crypto.randomUUID()].map(async (each) => (await view(server, each)).text);
  t.is(new Set(await Promise.all(bodies)).size, 1);
});

test('a banned account shares nothing until it is banned no more', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice);
  const { ask } = server.host.actors.get(UserAdministration, alice.account.userUuid);
  await ask.operatorSetBan({ by: 'operator', banned: true, reason: null });
  t.is(await statusOf(server, id), 404);
  await ask.operatorSetBan({ by: 'operator', banned: false, reason: null });
  t.is(await statusOf(server, id), 200);
});

test('with its account a share is gone at once, and its ciphertext soon', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const ids = [await made(alice), await made(alice, { oneTimeView: true })];
  const { userUuid, password } = alice.account;
  const headers = { 'x-server-password': password };
  t.is((await alice.call('DELETE', `/v1/users/${userUuid}`, { headers })).status, 200);
  for (const id of ids) t.is(await statusOf(server, id), 404);
  t.is(await stored(server, ...ids), 2);
  await server.advance(10_000);
  t.is(await stored(server, ...ids), 0);
});

test('a session that may only read makes and revokes no share', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice);
  await server.restart({ accounts: { readonlyUsers: new Set([alice.account.email]) } });
  for (const refused of [await make(alice), await alice.call('DELETE', `${list}/${id}`)]) {
    t.is(refused.status, 403);
    t.is(refused.body.error.tag, 'read-only-access');
  }
  t.is((await listed(alice)).length, 1);
});

test('where an access key is asked for, shares can be exempt: opening them, nothing else', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const id = await made(alice);
  const key = { key: 'key', mode: 'all' } as const;
  const closed = await server.another({ accessKey: { ...key, exempt: [] } });
  const exempt = await server.another({ accessKey: { ...key, exempt: ['shares'] } });
  t.is((await fetch(`${closed.url}${list}/${id}`)).status, 401);
  t.is((await fetch(`${exempt.url}${list}/${id}`)).status, 200);
  t.is((await fetch(`${exempt.url}${list}/${id}`, { method: 'DELETE' })).status, 401);
  const headers = { authorization: `Bearer ${alice.account.access}` };
  t.is((await fetch(`${exempt.url}${list}`, { headers })).status, 401);
  for (const method of ['GET', 'HEAD']) {
    t.is((await fetch(`${closed.url}/?shared=${id}`, { method })).status, 401);
    t.is((await fetch(`${exempt.url}/?shared=${id}`, { method })).status, 200);
  }
  t.is((await fetch(`${exempt.url}/v1/meta`)).status, 401);
});

test('the page that opens a share opens nothing by itself', async (t) => {
  const server = await startServer(t);
  const id = await made(await server.device(), { oneTimeView: true });
  for (const method of ['GET', 'HEAD', 'GET']) {
    t.is((await fetch(`${server.url}/?shared=${id}`, { method })).status, 200);
  }
  t.is(await statusOf(server, id), 200);
  t.is(await statusOf(server, id), 404);
});

test('an account answers its shares only for those it has', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const shareUuid = await made(alice);
  const { ask } = server.host.actors.get(PublicShares, alice.account.userUuid);
  t.deepEqual(await ask.showsShare({ shareUuid }), { lists: true, shows: true, bytes: payload.length });
  t.deepEqual(await ask.showsShare({ shareUuid: crypto.randomUUID() }), {
    lists: false,
    shows: false,
    bytes: 0,
  });
});
