/** Bodies that try to take the memory of the process, its time, or the capacity of others. */
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { type AnyRoute, route } from '../../gateway/http/route.ts';
import { registerStranger } from '../kit/account.ts';
import { FakeClock } from '../kit/clock.ts';
import {
  gauge,
  gaugeIs,
  goodCredentials,
  latch,
  metricIs,
  openRaw,
  startGateway,
  type TestGatewayOptions,
} from '../kit/gateway.ts';
import { startServer } from '../kit/server.ts';

const mebibyte = 1024 * 1024;
const heldBytes = 'scriptorium_http_unfinished_body_bytes';

const head = (bearer: string, length: number) =>
  `POST /v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${bearer}\r\nContent-Length: ${length}\r\n\r\n`;

async function post(t: ExecutionContext, port: number, bearer: string, body: string, localAddress?: string) {
  const connection = await openRaw(t, port, localAddress);
  connection.send(head(bearer, Buffer.byteLength(body)) + body);
  const reply = await connection.received('}}');
  connection.socket.destroy();
  return reply;
}

const dense = (piece: string, bytes: number) =>
  Array(Math.floor(bytes / (piece.length + 1)))
    .fill(piece)
    .join();

test('a body of nothing but values is refused before any is made, and unread members are never made', async (t) => {
  const server = await startServer(t);
  const { access } = await registerStranger(server);
  const many = `{"items":[${dense('{}', 4 * mebibyte)}]}`;
  t.regex(await post(t, server.port, access, many), /^HTTP\/1\.1 400 .*too many values/s);
  const inMembers = Array.from({ length: 20 }, (_, n) => `"k${n}":[${dense('[]', 250_000)}]`).join();
  t.regex(await post(t, server.port, access, `{${inMembers}}`), /^HTTP\/1\.1 400 .*too many values/s);
  const inOne = `{"items":[{"content":[${dense('[]', mebibyte)}]}]}`;
  t.regex(await post(t, server.port, access, inOne), /^HTTP\/1\.1 400 .*too complex/s);
  const unknown = `{"api":"20240226","x":[${dense('nonsense', mebibyte)}],"limit":1}`;
  t.regex(await post(t, server.port, access, unknown), /^HTTP\/1\.1 200 /);
  t.is(await gauge(server, heldBytes), 0);
});

test('a large body with the token of an ended session is not taken in', async (t) => {
  const server = await startServer(t);
  const { access, cookie } = await registerStranger(server);
  await server.call('POST', '/v1/logout', { bearer: access, cookie });
  const connection = await openRaw(t, server.port);
  connection.send(head(access, 40 * mebibyte));
  connection.send(Buffer.alloc(2 * mebibyte, ' '));
  t.regex(await connection.received('}}'), /^HTTP\/1\.1 401 /);
  t.is(await gauge(server, heldBytes), 0);
});

const other: Credentials = { ...goodCredentials, userUuid: '00000000-0000-4000-8000-000000000000' };
const verifyBearer = (authorization: string) => (authorization === 'Bearer other' ? other : goodCredentials);

function items(handle: AnyRoute['handle']): AnyRoute {
  return route({
    method: 'POST',
    path: '/v1/items',
    access: 'session',
    summary: '',
    tag: '',
    enveloped: false,
    bodyLimit: 'large',
    request: z.object({ items: z.array(z.unknown()).nullish() }),
    replies: {},
    handle,
  });
}

const serve = (t: ExecutionContext, handle: AnyRoute['handle'], options: TestGatewayOptions = {}) =>
  startGateway(t, [items(handle)], { verifyBearer, ...options });

const done: AnyRoute['handle'] = async () => ({ status: 200, body: { done: {} } });
const large = `{"items":["${'x'.repeat(1.5 * mebibyte)}"]}`;

test('a declared length that does not arrive takes no room', async (t) => {
  const server = await serve(t, done, { bodyMemoryBytes: 60 * mebibyte });
  for (let each = 0; each < 200; each++) {
    const connection = await openRaw(t, server.port);
    connection.send(`${head('good', 50 * mebibyte)}{`);
  }
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 200);
  t.true((await gauge(server, heldBytes)) <= mebibyte);
  t.regex(await post(t, server.port, 'good', large), /^HTTP\/1\.1 200 /);
});

test('bodies that a user leaves unfinished take no room from others', async (t) => {
  const server = await serve(t, done, { bodyMemoryBytes: 20 * mebibyte, largeBodyBytes: 2 * mebibyte });
  for (let each = 0; each < 24; each++) {
    const connection = await openRaw(t, server.port);
    connection.send(head('good', mebibyte));
    connection.send(Buffer.alloc(mebibyte - 1, ' '));
  }
  await metricIs(server, /http_request_duration_seconds_count\{.*5xx.*\} 14/);
  t.true((await gauge(server, heldBytes)) <= 10 * mebibyte);
  t.regex(await post(t, server.port, 'other', large), /^HTTP\/1\.1 200 /);
});

test('bodies that several users of one network leave unfinished take no room from other networks', async (t) => {
  const server = await serve(t, done, {
    bodyMemoryBytes: 40 * mebibyte,
    largeBodyBytes: 2 * mebibyte,
    trustProxy: 'false',
    verifyBearer: (authorization) => ({ ...goodCredentials, userUuid: authorization }),
  });
  for (const user of ['a', 'b']) {
    for (let each = 0; each < 5; each++) {
      const connection = await openRaw(t, server.port, '127.0.0.2');
      connection.send(head(user, 2 * mebibyte));
      connection.send(Buffer.alloc(2 * mebibyte - 1, ' '));
    }
  }
  await gaugeIs(server, heldBytes, (bytes) => bytes === 20 * mebibyte);
  t.regex(await post(t, server.port, 'c', large, '127.0.0.2'), /^HTTP\/1\.1 503 .*Retry-After: 2/s);
  t.regex(
    await post(t, server.port, 'a', large, '127.0.0.3'),
    /^HTTP\/1\.1 503 .*Retry-After: 2/s,
    'it has its share',
  );
  t.regex(await post(t, server.port, 'e', large, '127.0.0.3'), /^HTTP\/1\.1 200 /);
});

test('one large body of a user is handled at a time, and the next waits, but not forever', async (t) => {
  const clock = new FakeClock();
  const first = latch();
  let handled = 0;
  const handle: AnyRoute['handle'] = async (context, request) => {
    handled += 1;
    if (handled === 1) await first.promise;
    return done(context, request);
  };
  const server = await serve(t, handle, { clock });
  const bodies = [];
  for (let each = 1; each <= 6; each++) {
    bodies.push(post(t, server.port, 'good', large));
    // Each arrives before the next is sent, so that the test knows which is one too many.
    await gaugeIs(server, heldBytes, (bytes) => bytes >= Math.min(each, 5) * 1.5 * mebibyte);
  }
  t.regex((await bodies[5]) ?? '', /^HTTP\/1\.1 429 .*Retry-After: 5/s);
  t.is(handled, 1);
  t.regex(await post(t, server.port, 'other', large), /^HTTP\/1\.1 200 /);
  t.is(handled, 2);
  await clock.advance(6_000);
  for (const waiting of bodies.slice(1, 5)) t.regex(await waiting, /^HTTP\/1\.1 429 .*Retry-After: 5/s);
  first.open();
  t.regex((await bodies[0]) ?? '', /^HTTP\/1\.1 200 /);
  t.regex(await post(t, server.port, 'good', large), /^HTTP\/1\.1 200 /);
  t.is(await gauge(server, heldBytes), 0);
});

test('a client that leaves keeps the turn of its user until its body is through', async (t) => {
  const first = latch();
  let handled = 0;
  const server = await serve(t, async (context, request) => {
    handled += 1;
    if (handled === 1) await first.promise;
    return done(context, request);
  });
  const leaving = await openRaw(t, server.port);
  leaving.send(head('good', large.length) + large);
  await gaugeIs(server, heldBytes, () => handled > 0);
  leaving.socket.destroy();
  await metricIs(server, /http_requests_aborted 1/);
  t.true((await gauge(server, heldBytes)) >= large.length);
  const next = post(t, server.port, 'good', large);
  await gaugeIs(server, heldBytes, (bytes) => bytes >= 2 * large.length);
  t.is(handled, 1);
  first.open();
  t.regex(await next, /^HTTP\/1\.1 200 /);
  t.is(await gauge(server, heldBytes), 0);
});
