/** The sync lane over a started server (docs/protocol/sockets.md, "The sync lane"). */
import test, { type ExecutionContext } from 'ava';
import { gatewaySettings } from '../../../gateway/settings.ts';
import { defaultsOf } from '../../../runtime/setting.ts';
import type { Device } from '../../kit/device.ts';
import { openRaw } from '../../kit/gateway.ts';
import { note } from '../../kit/items.ts';
import {
  ask,
  askTicket,
  deviceId,
  dialLane,
  ended,
  enterLane,
  laneThatIsOff,
  openLane,
  run,
  ticketOf,
} from '../../kit/lane.ts';
import { digestOf } from '../../kit/lane-client.ts';
import { startServer } from '../../kit/server.ts';
import { isRefused, parsed } from '../../kit/socket-client.ts';
import { join, makeVault } from '../../kit/vaults.ts';

const api = '20240226';
const newNote = (content = 'first') => note({ uuid: crypto.randomUUID(), content });

const sessionOf = async (device: Device) =>
  (await device.call('GET', '/v1/sessions')).body.find(({ current }: { current: boolean }) => current).uuid;

const capabilities = async (server: { call: (...args: never[]) => Promise<unknown> }, headers = {}) => {
  const call = server.call as unknown as (
    method: string,
    path: string,
    more: object,
  ) => Promise<{ body: unknown }>;
  return (await call('GET', '/v1/sockets/sync/capabilities', { headers })).body;
};

test('the lane is told of to everybody, without an envelope', async (t) => {
  const server = await startServer(t);
  const offered = { capabilities: [{ id: 'ws-sync', version: 1, endpoint: '/sockets/sync' }] };
  t.deepEqual(await capabilities(server), offered);
  t.deepEqual(await capabilities(server, { origin: server.url }), offered);
  t.deepEqual(await capabilities(server, { origin: 'https://elsewhere.example' }), { capabilities: [] });
});

test('a ticket says what clients read, and another device id is refused', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { status, body } = await askTicket(phone);
  t.is(status, 200);
  t.deepEqual(body, {
    ticket: body.ticket,
    issuedAt: server.clock.nowMs(),
    expiresAt: server.clock.nowMs() + 30_000,
    endpoint: '/sockets/sync',
    capability: 'ws-sync',
    version: 1,
  });
  t.true(body.ticket.length >= 32 && body.ticket.length <= 256);
  for (const wrong of [{}, { deviceId: 1 }, { deviceId: '-a' }, { deviceId: `a${'b'.repeat(128)}` }]) {
    const refused = await askTicket(phone, wrong);
    t.is(refused.status, 400);
    t.is(refused.body.error.code, 'INVALID_DEVICE');
  }
  t.is((await server.call('POST', '/v1/sockets/sync/ticket', { body: { deviceId } })).status, 401);
});

test('a lane that is switched off says so for good, one that is not ready says that it passes', async (t) => {
  const server = await startServer(t, { gateway: { syncLane: laneThatIsOff } });
  const phone = await server.device();
  t.deepEqual(await capabilities(server), { capabilities: [] });
  const refused = await askTicket(phone);
  t.is(refused.status, 503);
  t.is(refused.body.error.code, 'SYNC_DISABLED');
  t.false('transient' in refused.body.error);
  const dialled = await dialLane(t, server);
  t.true(isRefused(dialled) && dialled.status === 404);

  const other = await startServer(t);
  const laptop = await other.device();
  other.readiness.startDraining();
  const later = await askTicket(laptop);
  t.is(later.status, 503);
  t.true(later.body.error.transient);
  t.is(later.headers.get('retry-after'), '5');
  t.deepEqual(await capabilities(other), { capabilities: [] });
});

test('a ticket lets its device in once', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const ticket = await ticketOf(phone);
  const first = await openLane(t, server);
  const pending = first.lane.send('AUTH', { ticket, deviceId, resumeSequence: 7 });
  const answer = await first.lane.answer(pending, 'AUTHENTICATED');
  t.is(answer.commandId, pending.commandId);
  t.deepEqual(answer.payload, {
    capability: 'ws-sync',
    protocolVersion: 1,
    nextClientSequence: 1,
    operations: ['SYNC_ITEMS'],
  });
  const second = await openLane(t, server);
  second.lane.send('AUTH', { ticket, deviceId });
  t.deepEqual(await ended(second), ['AUTH_REJECTED', 1008]);
  t.false(first.socket.isClosed);
});

test('two sockets that show one ticket at once do not both get in, on two gateways either', async (t) => {
  const server = await startServer(t);
  const other = await server.another({});
  const phone = await server.device();
  const ticket = await ticketOf(phone);
  const sockets = [await openLane(t, server), await openLane(t, other)];
  for (const { lane } of sockets) lane.send('AUTH', { ticket, deviceId });
  const types = await Promise.all(sockets.map(({ lane }) => lane.next(() => true)));
  t.deepEqual(types.map(({ type }) => type).sort(), ['AUTHENTICATED', 'ERROR']);
});

test('a ticket that has expired, that is another device’s or altered, or that a restart has outlived lets nobody in', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const attempts: (readonly [string, string])[] = [
    [await ticketOf(phone), 'other'],
    [`${(await ticketOf(phone)).slice(0, -1)}!`, deviceId],
    ['a'.repeat(43), deviceId],
  ];
  const ticket = await ticketOf(phone);
  attempts.push([ticket.replace(/^./, ticket.startsWith('a') ? 'b' : 'a'), deviceId]);
  for (const [ticket, id] of attempts) {
    const socket = await openLane(t, server);
    socket.lane.send('AUTH', { ticket: ticket, deviceId: id });
    t.deepEqual(await ended(socket), ['AUTH_REJECTED', 1008]);
  }
  const old = await ticketOf(phone);
  const moved = await ticketOf(phone);
  await server.advance(30_000);
  const late = await openLane(t, server);
  late.lane.send('AUTH', { ticket: old, deviceId });
  t.deepEqual(await ended(late), ['AUTH_REJECTED', 1008]);
  await server.restart();
  const after = await openLane(t, server);
  after.lane.send('AUTH', { ticket: moved, deviceId });
  t.deepEqual(await ended(after), ['AUTH_REJECTED', 1008]);
});

test('a restart within the life of a ticket lets nobody in by it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const ticket = await ticketOf(phone);
  await server.restart();
  const socket = await openLane(t, server);
  socket.lane.send('AUTH', { ticket, deviceId });
  t.deepEqual(await ended(socket), ['AUTH_REJECTED', 1008]);
  await enterLane(t, phone);
});

for (const [what, path, headers, status, reason] of [
  ['no origin', '/sockets/sync', {}, 403, 'origin'],
  ['a foreign origin', '/sockets/sync', { origin: 'https://elsewhere.example' }, 403, 'origin'],
  ['the origin null', '/sockets/sync', { origin: 'null' }, 403, 'origin'],
  ['a query', '/sockets/sync?ticket=a', undefined, 400, 'query'],
  ['a trailing slash', '/sockets/sync/', undefined, 404, undefined],
] as const) {
  test(`an upgrade with ${what} is refused`, async (t) => {
    const server = await startServer(t);
    const dialled = await dialLane(t, server, { path, ...(headers !== undefined && { headers }) });
    t.true(isRefused(dialled));
    t.is(isRefused(dialled) ? dialled.status : 101, status);
    const metrics = await server.registry.metrics();
    const counted = /^scriptorium_sync_lane_refused_total\{reason="(.+)"\} 1$/m.exec(metrics)?.[1];
    t.is(counted, reason);
  });
}

/** The first line of the answer to an upgrade, as it is typed here. */
async function upgradeAnswer(t: ExecutionContext, path: string, connection: string): Promise<string> {
  const server = await startServer(t);
  const raw = await openRaw(t, server.port);
  const head = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${server.port}`,
    `Origin: ${server.url}`,
    `Connection: ${connection}`,
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  raw.send(`${head.join('\r\n')}\r\n\r\n`);
  return raw.received('\r\n');
}

test('an upgrade with a query is refused although the query is empty', async (t) => {
  t.regex(await upgradeAnswer(t, '/sockets/sync?', 'Upgrade'), /^HTTP\/1\.1 400/);
});

test('an upgrade that ends its connection is refused, and opens no socket that would be closed at once', async (t) => {
  t.regex(await upgradeAnswer(t, '/sockets/sync', 'close'), /^HTTP\/1\.1 400/);
  t.regex(await upgradeAnswer(t, '/sockets/sync', 'Upgrade'), /^HTTP\/1\.1 101/);
});

test('pages of listed origins, and the server’s own behind a proxy that ends https, may open the lane', async (t) => {
  const syncLane = {
    isEnabled: true,
    origins: ['https://app.example.org'],
    sameOrigin: true,
    socketsPerUserMax: 16,
    memoryBytes: 1e8,
    idleSeconds: 120,
  };
  const server = await startServer(t, { gateway: { syncLane } });
  const isOpen = async (headers: Record<string, string>) =>
    !isRefused(await dialLane(t, server, { headers }));
  t.true(await isOpen({ origin: 'https://app.example.org' }));
  t.false(await isOpen({ origin: 'https://app.example.org:8443' }));
  t.true(await isOpen({ origin: 'https://notes.test', host: 'notes.test', 'x-forwarded-proto': 'https' }));
  t.false(await isOpen({ origin: 'https://notes.test', host: 'notes.test' }));
  t.false(
    await isOpen({ origin: 'https://notes.test', host: 'notes.test', 'x-forwarded-proto': 'https, http' }),
  );
});

test('a client that does not identify itself, or says something else first, is disconnected', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const silent = await openLane(t, server);
  await server.advance(5_000);
  t.deepEqual(await ended(silent), ['AUTH_TIMEOUT', 1008]);

  const first = await openLane(t, server);
  first.lane.send('PING', {});
  t.deepEqual(await ended(first), ['AUTH_REQUIRED', 1008]);

  const numbered = await openLane(t, server);
  numbered.lane.send('AUTH', { ticket: await ticketOf(phone), deviceId }, { sequence: 1 });
  t.deepEqual(await ended(numbered), ['OUT_OF_ORDER', 1008]);

  const more = await openLane(t, server);
  more.lane.send('AUTH', { ticket: await ticketOf(phone), deviceId, extra: 1 });
  t.deepEqual(await ended(more), ['INVALID_ENVELOPE', 1008]);

  const twice = await enterLane(t, phone);
  twice.lane.send('AUTH', { ticket: await ticketOf(phone), deviceId });
  t.deepEqual(await ended(twice), ['ALREADY_AUTHENTICATED', 1008]);
});

test('one socket more than an account may have is refused, and the older ones of the same device stay', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const sockets = [];
  for (let count = 0; count < 16; count += 1) sockets.push(await enterLane(t, phone));
  const more = await openLane(t, server);
  more.lane.send('AUTH', { ticket: await ticketOf(phone), deviceId });
  t.deepEqual(await ended(more), ['SOCKET_LIMIT', 1013]);
  t.false(sockets.some(({ socket }) => socket.isClosed));
  sockets[0]?.socket.end();
  await server.until(() => true, 1_000);
  await enterLane(t, phone);
});

test('a frame out of order, or one that breaks the rules, ends its socket', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const skipped = await enterLane(t, phone);
  skipped.lane.send('PING', {}, { sequence: 2 });
  t.deepEqual(await ended(skipped), ['OUT_OF_ORDER', 1008]);

  const repeated = await enterLane(t, phone);
  await repeated.lane.answer(repeated.lane.send('PING', {}), 'PONG');
  repeated.lane.send('PING', {}, { sequence: 1 });
  t.deepEqual(await ended(repeated), ['OUT_OF_ORDER', 1008]);

  const torn = await enterLane(t, phone);
  torn.socket.send('{"version":1,');
  t.deepEqual(await ended(torn), ['MALFORMED_JSON', 1008]);

  const counted = await enterLane(t, phone);
  counted.lane.send('PING', {}, { payloadLength: 3 });
  t.deepEqual(await ended(counted), ['INVALID_PAYLOAD_LENGTH', 1008]);

  const forged = await enterLane(t, phone);
  forged.lane.send('COMMAND', { command: 'SYNC_ITEMS', body: {} }, { digest: await digestOf({ a: 1 }) });
  t.deepEqual(await ended(forged), ['INVALID_DIGEST', 1008]);

  const binary = await enterLane(t, phone);
  binary.socket.sendBinary(Buffer.from('SRNF'));
  t.deepEqual(await ended(binary), ['INVALID_ENVELOPE', 1008]);
});

test('a frame of the largest size is taken, and one byte more ends the socket', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const filled = async (bytes: number) => {
    const socket = await enterLane(t, phone);
    const body = { api, filler: '' };
    const probe = { command: 'SYNC_ITEMS', body };
    const frame = {
      version: 1,
      channel: 'sync',
      type: 'COMMAND',
      requestId: 'r',
      commandId: 'c',
      sequence: 1,
    };
    const sizeOf = (filler: string) => {
      const payload = { ...probe, body: { ...body, filler } };
      const length = Buffer.byteLength(JSON.stringify(payload));
      return {
        payload,
        text: JSON.stringify({ ...frame, payloadLength: length, payload, digest: 'd'.repeat(64) }),
      };
    };
    const missing = bytes - Buffer.byteLength(sizeOf('').text);
    const exact = sizeOf('x'.repeat(missing - 5));
    const filler = 'x'.repeat(missing - 5 + (bytes - Buffer.byteLength(exact.text)));
    const { payload, text } = sizeOf(filler);
    const whole = text.replace('d'.repeat(64), await digestOf(payload.body));
    t.is(Buffer.byteLength(whole), bytes);
    socket.socket.send(whole);
    return socket;
  };
  const largest = await filled(524_288);
  await largest.lane.next(({ type }) => type === 'COMMITTED');
  const larger = await filled(524_289);
  t.is(await larger.socket.closed, 1009);
});

test('PING is answered, and what is not offered is refused without an end', async (t) => {
  const server = await startServer(t);
  const socket = await enterLane(t, await server.device());
  const pong = await socket.lane.answer(socket.lane.send('PING', {}), 'PONG');
  t.deepEqual(pong.payload, {});
  const refused = await socket.lane.answer(socket.lane.send('RPC_REQUEST', {}), 'ERROR');
  t.deepEqual(refused.payload, { code: 'OPERATION_UNAVAILABLE', retryable: true });
  t.false(socket.socket.isClosed);
});

test('a save over the lane is accepted, committed, and there once, over whichever way it is asked for', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const body = { api, items: [newNote()], sync_token: null };
  const sent = await lane.lane.command('command-1', body);
  const accepted = await lane.lane.answer(sent, 'ACCEPTED');
  t.deepEqual(accepted.payload, { status: 'ACCEPTED' });
  t.is(accepted.digest, sent.digest);
  const committed = await lane.lane.answer(sent, 'COMMITTED');
  t.is(committed.digest, sent.digest);
  t.is(committed.commandId, 'command-1');
  const { result } = committed.payload;
  t.is(result.saved_items.length, 1);
  t.deepEqual(result.command, { id: 'command-1', digest: sent.digest, status: 'committed' });

  t.deepEqual((await run(lane, 'command-1', body)).payload, committed.payload);
  t.deepEqual((await ask(lane, 'command-1', body)).payload, { status: 'COMMITTED', result });
  const over = await phone.call('POST', '/v1/items', {
    body,
    headers: { 'x-sync-command-id': 'command-1', 'x-sync-command-digest': sent.digest ?? '' },
  });
  t.is(over.headers.get('x-sync-command-replayed'), 'true');
  t.deepEqual(over.body, result);
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 1);
});

test('STATUS finds a command that was saved over HTTP, and does not know one that never came', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const body = { api, items: [newNote()] };
  t.deepEqual((await ask(lane, 'command-1', body)).payload, { status: 'UNKNOWN' });
  await phone.call('POST', '/v1/items', {
    body,
    headers: { 'x-sync-command-id': 'command-1', 'x-sync-command-digest': await digestOf(body) },
  });
  t.is((await ask(lane, 'command-1', body)).payload.status, 'COMMITTED');
  const conflict = { code: 'COMMAND_ID_CONFLICT', retryable: false };
  t.deepEqual((await ask(lane, 'command-1', { api })).payload, conflict);
  t.deepEqual((await run(lane, 'command-1', { api })).payload, conflict);
  const laptop = await enterLane(t, await server.device());
  t.deepEqual((await ask(laptop, 'command-1', body)).payload, { status: 'UNKNOWN' });
});

test('conflicts and faults of the request are answers, as over HTTP', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const item = newNote();
  await phone.save(item);
  const stale = { api, items: [{ ...item, content: 'other', updated_at_timestamp: 1 }] };
  const [conflict] = (await run(lane, 'command-1', stale)).payload.result.conflicts;
  t.is(conflict.type, 'sync_conflict');
  const wrong = (await run(lane, 'command-2', { api, items: 'none' })).payload;
  t.is(wrong.status, 'COMMITTED');
  t.is(wrong.result.status, 400);
  t.is(wrong.result.data.error.message, 'items is not valid.');
  const legacy = (await run(lane, 'command-3', { items: [newNote()] })).payload.result;
  t.is(legacy.data.error.tag, 'sync_command_rejected');
  t.is((await ask(lane, 'command-3', { items: [] })).payload.status, 'UNKNOWN');
});

test('vaults of others, and items of sessions that may only read, are refused before anything is done', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const foreign = { api, shared_vault_uuids: [crypto.randomUUID()] };
  t.deepEqual((await run(lane, 'command-1', foreign)).payload, { code: 'NOT_AUTHORIZED', retryable: false });
  await server.restart({ accounts: { readonlyUsers: new Set([phone.account.email]) } });
  const reading = await enterLane(t, phone);
  const body = { api, items: [newNote()] };
  const readOnly = (await run(reading, 'command-1', body)).payload;
  t.deepEqual(readOnly, { code: 'READ_ONLY', retryable: false });
  t.is((await run(reading, 'command-2', { api })).payload.status, 'COMMITTED');
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 0);
});

test('an item of a vault is saved once over the lane, and its members hear of it and pull it there', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(phone);
  await join(phone, vault, bob);
  const ears = await bob.socket(t);
  const lane = await enterLane(t, phone);
  const item = { ...newNote(), shared_vault_uuid: vault, key_system_identifier: 'system' };
  const body = { api, items: [item], sync_token: null, shared_vault_uuids: [vault] };
  const first = (await run(lane, 'command-1', body)).payload;
  t.is(first.result.saved_items[0].shared_vault_uuid, vault);
  await server.until(() => parsed(ears.texts).some(({ type }) => type === 'ITEMS_CHANGED_ON_SERVER'), 5_000);
  const saved = (payload: typeof first) => payload.result.saved_items;
  t.deepEqual(saved((await run(lane, 'command-1', body)).payload), saved(first));
  t.deepEqual(saved((await ask(lane, 'command-1', body)).payload), saved(first));
  const pulling = { api, sync_token: null, shared_vault_uuids: [vault] };
  const pulled = (await run(await enterLane(t, bob), 'command-1', pulling)).payload.result;
  t.deepEqual(
    pulled.retrieved_items.map(({ uuid }: { uuid: string }) => uuid),
    [item.uuid],
  );
  const stale = { ...item, content: 'other', updated_at_timestamp: 1 };
  const conflicting = (await run(lane, 'command-2', { ...body, items: [stale] })).payload.result;
  t.is(conflicting.conflicts[0].type, 'sync_conflict');
});

test('a client of the lane that does not answer pings is dropped, and one that does stays', async (t) => {
  const server = await startServer(t, {
    gateway: { syncLane: { ...defaultsOf(gatewaySettings).syncLane, idleSeconds: 8 } },
  });
  const phone = await server.device();
  const alive = await enterLane(t, phone);
  const dead = await enterLane(t, phone, server, { answersPings: false });
  await dead.socket.closed;
  t.true(dead.socket.pings > 0);
  t.false(alive.socket.isClosed);
});

test('an answer too large for a frame is fetched over HTTP, by the same name', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  for (let count = 0; count < 24; count += 1) await laptop.save(newNote('x'.repeat(32 * 1_024)));
  const lane = await enterLane(t, phone);
  const body = { api, items: [newNote()], sync_token: null };
  const answer = await run(lane, 'command-1', body);
  t.is(answer.type, 'STATUS');
  t.deepEqual(answer.payload, { status: 'COMMITTED', code: 'RESULT_TOO_LARGE' });
  t.is(answer.digest, await digestOf(body));
  t.deepEqual((await ask(lane, 'command-1', body)).payload, answer.payload);
  t.false(lane.socket.isClosed);
  for (let times = 0; times < 2; times += 1) {
    const over = await phone.call('POST', '/v1/items', {
      body,
      headers: { 'x-sync-command-id': 'command-1', 'x-sync-command-digest': await digestOf(body) },
    });
    t.is(over.body.retrieved_items.length, 24);
    t.is(over.body.saved_items.length, 1);
  }
});

test('a save over the lane is told to the other sessions of the user, and not to its own', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const own = await phone.socket(t);
  const others = await laptop.socket(t);
  const lane = await enterLane(t, phone);
  for (let count = 1; count <= 20; count += 1) {
    await run(lane, `command-${count}`, { api, items: [newNote()] });
  }
  const changed = () => parsed(others.texts).filter(({ type }) => type === 'ITEMS_CHANGED_ON_SERVER');
  await server.until(() => changed().length === 20, 1_000);
  t.is(changed()[0].payload.sessionUuid, await sessionOf(phone));
  t.is(own.texts.length, 0);
});
