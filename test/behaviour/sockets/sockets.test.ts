/**
 * `/sockets` on one process: which events reach which socket, and which requests are refused
 * (docs/protocol/sockets.md).
 */
import test from 'ava';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { gatewaySettings } from '../../../gateway/settings.ts';
import { defaultsOf } from '../../../runtime/setting.ts';
import { bob } from '../../kit/account.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';
import { dial, parsed, type RefusedUpgrade } from '../../kit/socket-client.ts';
import { until } from '../../kit/until.ts';

const defaults = defaultsOf(gatewaySettings).sockets;
const hasClosedFor = async (server: Awaited<ReturnType<typeof startServer>>, reason: string) => {
  const closed = await server.registry.getSingleMetric('scriptorium_sockets_closed_total')?.get();
  return closed?.values.some(({ labels }) => labels['reason'] === reason) ?? false;
};
const statusOf = (dialled: object): number | 'opened' =>
  (dialled as Partial<RefusedUpgrade>).status ?? 'opened';

test('a save is announced to the other devices of the user, and to no one else', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await phone.another();
  const stranger = await server.device(bob.email);
  const [own, other, others] = [await phone.socket(t), await laptop.socket(t), await stranger.socket(t)];

  await phone.save();
  const [frame, pushed] = parsed(await other.received(2));
  t.is(frame.type, 'ITEMS_CHANGED_ON_SERVER');
  t.is(pushed.type, 'SYNC_ITEMS_PUSHED');
  t.is(new Date(frame.createdAt).toISOString(), frame.createdAt);
  const { userUuid } = phone.account;
  t.deepEqual(frame.meta, {
    correlation: { userIdentifier: userUuid, userIdentifierType: 'uuid' },
    origin: 'syncing-server',
  });
  t.is(frame.payload.userUuid, userUuid);
  t.is(frame.payload.sessionUuid, await phone.sessionUuid());
  t.true(Number.isSafeInteger(frame.payload.timestamp));

  await laptop.save();
  await own.received(2);
  t.deepEqual([own.texts.length, other.texts.length, others.texts.length], [2, 2, 0]);
});

test('a sync that saves nothing is announced to no one', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const socket = await (await phone.another()).socket(t);
  await phone.call('POST', '/v1/items');
  await phone.save({ uuid: 'not a uuid', content_type: 'Note' });
  await phone.save();
  await socket.received(2);
  t.is(socket.texts.length, 2);
});

test('an upgrade without a token that is right now is refused, and opens nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const good = await phone.socketToken();
  const dialled = (query: string) => dial(t, `${server.url}/sockets${query}`);
  t.is(statusOf(await dialled('')), 401);
  t.is(statusOf(await dialled('?authToken=')), 401);
  t.is(statusOf(await dialled(`?authToken=${good.slice(0, -1)}`)), 401);
  t.is(
    statusOf(await dialled(`?authToken=${good.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))}`)),
    401,
  );
  t.is(statusOf(await dialled(`?authToken=${phone.account.access}`)), 401);
  const refused = (await dialled('?authToken=x')) as RefusedUpgrade;
  t.is(JSON.parse(refused.body).error.tag, 'invalid-auth');
  t.is(statusOf(await dialled(`?authToken=${good}`)), 'opened');
  await server.clock.advance(80_000);
  t.is(statusOf(await dialled(`?authToken=${good}`)), 401);
});

test('a token of a session that has ended since, or of an account that is gone, opens nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await phone.another();
  const token = await laptop.socketToken();
  t.is((await laptop.call('POST', '/v1/logout')).status, 204);
  t.is(statusOf(await laptop.dial(t, { token })), 401);

  const last = await phone.socketToken();
  const password = phone.account.password;
  const path = `/v1/users/${phone.account.userUuid}`;
  t.is((await phone.call('DELETE', path, { headers: { 'x-server-password': password } })).status, 200);
  await server.clock.advance(5_000);
  t.is(statusOf(await phone.dial(t, { token: last })), 401);
});

test('while nobody serves the user an upgrade is asked to come back', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const token = await phone.socketToken();
  server.host.host.abandon();
  let refused: object | undefined;
  void phone.dial(t, { token }).then((dialled) => {
    refused = dialled;
  });
  await server.until(() => refused !== undefined, 8_000);
  t.is(statusOf(refused ?? {}), 503);
  t.truthy((refused as RefusedUpgrade).headers['retry-after']);
});

test('the sockets of a session close when it ends, and those of others stay', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const [laptop, tablet] = [await phone.another(), await phone.another()];
  const own = await phone.socket(t);
  const signedOut = await laptop.socket(t);
  const revoked = [await tablet.socket(t), await tablet.socket(t)];

  t.timeout(20_000, 'a socket stays open');
  await laptop.call('POST', '/v1/logout');
  t.is(await signedOut.closed, 1008);
  await phone.call('DELETE', `/v1/sessions/${await tablet.sessionUuid()}`);
  t.deepEqual(await Promise.all(revoked.map(({ closed }) => closed)), [1008, 1008]);
  t.false(own.isClosed);
  t.deepEqual([...own.texts, ...signedOut.texts], []);
});

test('all devices of an account are told of its roles when an operator has changed them', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const sockets = [await phone.socket(t), await (await phone.another()).socket(t)];
  const { userUuid, email } = phone.account;
  const { ask } = server.host.actors.get(UserAdministration, userUuid);
  const user = ['CORE_USER', 'PRO_USER'];
  for (const administrator of [true, true, false]) {
    await server.answered(ask.operatorSetAdministrator({ administrator }));
  }
  for (const socket of sockets) {
    const [promoted, demoted] = parsed(await socket.received(2));
    t.is(promoted.type, 'USER_ROLES_CHANGED');
    t.is(promoted.meta.origin, 'auth');
    const { timestamp, ...rest } = promoted.payload;
    t.true(Number.isSafeInteger(timestamp));
    t.deepEqual(rest, { userUuid, email, currentRoles: [...user, 'INTERNAL_TEAM_USER'] });
    t.deepEqual(demoted.payload.currentRoles, user);
    t.is(socket.texts.length, 2);
  }
});

test('a ping text is answered by a frame that no client knows, and other texts by nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const socket = await (await phone.another()).socket(t);
  socket.send('pong');
  socket.send('ping');
  await socket.received(1);
  await phone.save();
  await socket.received(2);
  t.deepEqual(
    parsed(socket.texts)
      .slice(0, 2)
      .map(({ type }) => type),
    ['PONG', 'ITEMS_CHANGED_ON_SERVER'],
  );
});

test('where nobody can answer for a moment, a token is not refused for good', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await server.host.host.abandon();
  const answer = await server.answered(phone.call('POST', '/v1/sockets/tokens'), 30_000);
  t.is(answer.status, 504);
  t.truthy(answer.headers.get('retry-after'));
});

test('only the exact path is a socket', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const query = `?authToken=${await phone.socketToken()}`;
  for (const path of ['/sockets/', '/sockets/sync', '/sockets/sync/', '/v1/sockets', '/Sockets', '/']) {
    t.not(statusOf(await dial(t, `${server.url}${path}${query}`)), 'opened', path);
  }
  t.is((await fetch(`${server.url}/sockets${query}`)).status, 404);
});

test('a frame that is larger than anything a client has to say ends the socket', async (t) => {
  const server = await startServer(t);
  const socket = await (await server.device()).socket(t);
  socket.send('x'.repeat(2_000));
  await socket.closed;
  t.true(await hasClosedFor(server, 'invalid'));
});

test('a silent socket is pinged before proxies give it up after a minute, and seldom', (t) => {
  const pingedAfter = defaults.idleSeconds - 16;
  t.true(pingedAfter < 60 && pingedAfter > 45, `${pingedAfter} s`);
});

test('a socket that misses a ping is dropped, one that answers stays', async (t) => {
  const server = await startServer(t, {
    gateway: { sockets: { ...defaults, socketsMax: 10, socketsPerUserMax: 10, idleSeconds: 8 } },
  });
  const phone = await server.device();
  const alive = await phone.socket(t);
  const dead = await phone.socket(t, { answersPings: false });
  await dead.closed;
  t.true(dead.pings > 0);
  t.false(alive.isClosed);
  t.true(await hasClosedFor(server, 'silent'));
  alive.end();
  await until(() => hasClosedFor(server, 'client'));
});

test('a socket whose client does not read is dropped, and others miss nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const reading = await (await phone.another()).socket(t);
  await (await phone.another()).socket(t, { reads: false });
  const droppedForThat = () => hasClosedFor(server, 'slow');
  let saves = 0;
  // The system buffers a few megabytes of a connection.
  for (; !(await droppedForThat()) && saves < 2_000; saves += 1) {
    await phone.sync({ items: [note({ uuid: uuidNumber(saves + 1), content: 'x'.repeat(15_000) })] });
  }
  t.log(`${saves} saves`);
  t.true(await droppedForThat());
  t.is((await reading.received(2 * saves)).length, 2 * saves);
  t.false(reading.isClosed);
});

test('sockets are bounded for the process and for each user, and the room of a closed one is free', async (t) => {
  const server = await startServer(t, {
    gateway: { sockets: { ...defaults, socketsMax: 3, socketsPerUserMax: 2 } },
  });
  const phone = await server.device();
  const first = await phone.socket(t);
  await phone.socket(t);
  t.is(statusOf(await phone.dial(t)), 429);
  const another = await server.device(bob.email);
  await another.socket(t);
  t.is(statusOf(await another.dial(t)), 503);
  first.end();
  await t.notThrowsAsync(opens(() => another.dial(t)));
});

async function opens(dialling: () => Promise<object>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (statusOf(await dialling()) === 'opened') return;
  }
  throw new Error('never opened');
}

test('tokens cannot be guessed faster than the public rate allows', async (t) => {
  const server = await startServer(t);
  const { url } = await server.another({ rateLimits: { publicPerMinute: 2, sessionPerMinute: 0 } });
  const statuses: unknown[] = [];
  for (let guess = 0; guess < 3; guess += 1) {
    statuses.push(statusOf(await dial(t, `${url}/sockets?authToken=${guess}`)));
  }
  t.deepEqual(statuses, [401, 401, 429]);
});

test('where origins are restricted, pages of others may not connect', async (t) => {
  const cors = { strict: true, allowedOrigins: ['https://notes.example'] };
  const server = await startServer(t, { gateway: { cors } });
  const phone = await server.device();
  const from = async (origin: string) => statusOf(await phone.dial(t, { headers: { origin } }));
  t.is(await from('https://evil.example'), 403);
  t.is(await from('https://notes.example'), 'opened');
  t.is(await from('file://'), 'opened');
  t.is(statusOf(await phone.dial(t)), 'opened');
});

test('an access key is asked for at the upgrade too, unless sockets are exempt', async (t) => {
  const accessKey = { key: 'k', mode: 'all' } as const;
  const server = await startServer(t);
  const phone = await server.device();
  const token = await phone.socketToken();
  const withKey = { 'x-shared-server-key': 'k' };
  for (const [exempt, headers, expected] of [
    [[], {}, 401],
    [[], withKey, 'opened'],
    [['sockets'], {}, 'opened'],
  ] as const) {
    const { url } = await server.another({ accessKey: { ...accessKey, exempt } });
    t.is(statusOf(await dial(t, `${url}/sockets?authToken=${token}`, { headers })), expected);
  }
});

test('when the process ends its sockets close one after another, to dial again', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const sockets = await Promise.all(Array.from({ length: 60 }, () => phone.socket(t)));
  let drained = false;
  void server.gateway.drain().then(() => {
    drained = true;
  });
  await server.until(() => drained, 10_000);
  t.deepEqual(new Set(await Promise.all(sockets.map(({ closed }) => closed))), new Set([1012]));
});

test('events at sockets are counted, without names', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const socket = await (await phone.another()).socket(t);
  await phone.dial(t, { token: 'wrong' });
  await phone.save();
  await socket.received(2);
  const metrics = await server.registry.metrics();
  t.regex(metrics, /^scriptorium_sockets_open 1$/m);
  t.regex(metrics, /^scriptorium_socket_upgrades_total{outcome="opened"} 1$/m);
  t.regex(metrics, /^scriptorium_socket_upgrades_total{outcome="refused"} 1$/m);
  t.regex(metrics, /^scriptorium_socket_events_received_total 2$/m);
  t.regex(metrics, /^scriptorium_socket_frames_sent_total 2$/m);
  t.false(metrics.includes(phone.account.userUuid));
});

test('a front of its own tells of a connection by its token, and of its end without one', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const authorization = await phone.socketToken();
  const call = (method: string, headers: Record<string, string>) =>
    phone.call(method, '/v1/sockets/connections', { headers });
  for (const method of ['POST', 'DELETE']) {
    const missing = await call(method, { authorization });
    t.is(missing.status, 400);
    t.regex(missing.headers.get('content-type') ?? '', /^text\/plain/);
    const noted = await call(method, { connectionid: '1', authorization });
    t.is(noted.status, 200);
  }
  const alone = { headers: { connectionid: '1' } };
  t.is((await server.call('POST', '/v1/sockets/connections', alone)).status, 400);
  t.is((await server.call('DELETE', '/v1/sockets/connections', alone)).status, 200);
});

test('tokens and tickets are for sessions alone', async (t) => {
  const server = await startServer(t);
  for (const path of ['/v1/sockets/sync/ticket', '/v1/sockets/tokens']) {
    t.is((await server.call('POST', path)).status, 401, path);
  }
});
