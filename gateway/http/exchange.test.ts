import { randomBytes } from 'node:crypto';
import test from 'ava';
import { z } from 'zod';
import {
  ForbiddenError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../../runtime/errors.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { goodBearer, latch, metricIs, openRaw, startGateway } from '../../test/kit/gateway.ts';
import { type AnyRoute, type RequestContext, type RouteReply, route } from './route.ts';

type Handle = (context: RequestContext<'public'>) => Promise<RouteReply>;

const post = (handle: Handle): AnyRoute =>
  route({
    method: 'POST',
    path: '/v1/x',
    access: 'public',
    summary: '',
    tag: '',
    request: z.object({}),
    replies: {},
    handle,
  });

const done: Handle = async () => ({ status: 200, body: { done: true } });
const head = (length: number) => `POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

test('a client that leaves at any point costs one request and nothing more', async (t) => {
  const started = latch();
  const release = latch();
  const server = await startGateway(t, [
    post(async () => {
      started.open();
      await release.promise;
      return { status: 200, body: {} };
    }),
  ]);
  const points = [
    '',
    'POST /v1/x HT',
    'POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-',
    head(10),
    `${head(10)}{"a"`,
  ];
  for (const point of points) {
    const connection = await openRaw(t, server.port);
    connection.send(point);
    connection.socket.end();
    await connection.ended;
  }
  const waiting = await openRaw(t, server.port);
  waiting.send(`${head(2)}{}`);
  await started.promise;
  waiting.socket.destroy();
  // Two clients left within their body and one before its answer. The others never sent a whole head.
  await metricIs(server, /^scriptorium_http_requests_aborted 3$/m);
  release.open();
  const response = await fetch(`${server.url}/v1/x`, { method: 'POST' });
  t.is(response.status, 200);
  t.regex(await server.registry.metrics(), /^scriptorium_http_requests_in_flight 0$/m);
  t.false(server.log.some((line) => line['level'] === 50));
});

test('a body that does not come is a 408 that ends the connection', async (t) => {
  const clock = new FakeClock();
  const server = await startGateway(t, [post(done)], { clock, bodyTimeoutMs: 5_000 });
  const connection = await openRaw(t, server.port);
  connection.send(`${head(100)}{`);
  await metricIs(server, /^scriptorium_http_unfinished_body_bytes 100$/m);
  await clock.advance(4_000);
  t.regex(await server.registry.metrics(), /^scriptorium_http_requests_in_flight 1$/m);
  await clock.advance(1_000);
  const reply = await connection.ended;
  t.true(reply.startsWith('HTTP/1.1 408 '));
  t.regex(await server.registry.metrics(), /^scriptorium_http_unfinished_body_bytes 0$/m);
});

test('a handler that never answers is answered for', async (t) => {
  const clock = new FakeClock();
  const started = latch();
  const server = await startGateway(
    t,
    [
      post(() => {
        started.open();
        return new Promise(() => {});
      }),
    ],
    { clock, requestDeadlineMs: 10_000 },
  );
  const answer = fetch(`${server.url}/v1/x`, { method: 'POST' });
  await started.promise;
  await clock.advance(12_000);
  const response = await answer;
  t.is(response.status, 503);
  t.is(response.headers.get('retry-after'), '1');
});

test('each of hundreds of requests that nobody answers is answered for', async (t) => {
  const clock = new FakeClock();
  const allAsked = latch();
  const requests = 300;
  let asked = 0;
  const never = post(() => {
    asked += 1;
    if (asked === requests) allAsked.open();
    return new Promise(() => {});
  });
  const { url } = await startGateway(t, [never], { clock, requestDeadlineMs: 10_000 });
  const replies = Array.from({ length: requests }, () => fetch(`${url}/v1/x`, { method: 'POST' }));
  await allAsked.promise;
  await clock.advance(12_500);
  const statuses = await Promise.all(replies.map(async (reply) => (await reply).status));
  t.deepEqual(new Set(statuses), new Set([503]));
});

test('a slow reader gets the whole of a large reply, and holds nobody else up', async (t) => {
  const large = randomBytes(6 * 1024 * 1024).toString('base64');
  const { port, url } = await startGateway(t, [
    post(async () => ({ status: 200, body: { large, end: 'here' } })),
    { ...post(done), path: '/v1/small' },
  ]);
  const connection = await openRaw(t, port);
  connection.socket.pause();
  connection.send(`${head(2)}{}`);
  for (let i = 0; i < 20; i++) {
    t.is((await fetch(`${url}/v1/small`, { method: 'POST' })).status, 200);
  }
  connection.socket.resume();
  const reply = await connection.received('"end":"here"}}');
  const length = Number(/Content-Length: (\d+)/.exec(reply)?.[1]);
  t.is(reply.length - reply.indexOf('\r\n\r\n') - 4, length);
  t.true(reply.endsWith(`"data":{"large":"${large}","end":"here"}}`));
});

test('a reader that leaves in the middle of a large reply is forgotten', async (t) => {
  const large = 'x'.repeat(32 * 1024 * 1024);
  const server = await startGateway(t, [post(async () => ({ status: 200, body: { large } }))]);
  const connection = await openRaw(t, server.port);
  connection.send(`${head(2)}{}`);
  await connection.received('xxxx');
  connection.socket.destroy();
  await metricIs(server, /^scriptorium_http_requests_in_flight 0$/m);
  t.regex(await server.registry.metrics(), /^scriptorium_http_requests_aborted 1$/m);
});

test('two requests have two call ids', async (t) => {
  const callIds = new Set<unknown>();
  const { url } = await startGateway(t, [
    post(async ({ ask }) => {
      callIds.add(ask.callId);
      return { status: 204 };
    }),
  ]);
  await fetch(`${url}/v1/x`, { method: 'POST' });
  await fetch(`${url}/v1/x`, { method: 'POST' });
  t.is(callIds.size, 2);
});

test('each class of error has one answer', async (t) => {
  const cases: readonly [Error, number, string | null][] = [
    [new OverloadedError('full', 1_500), 503, '2'],
    [new UnavailableError('no database', 4_000), 503, '4'],
    [new RetryableError('lost', { outcome: 'unknown', retryAfterMs: 3_000 }), 503, '3'],
    [new NotFoundError('no such actor'), 404, null],
    [new ForbiddenError('not yours'), 403, null],
    [new TerminalError('defect'), 500, null],
    [new TypeError('defect'), 500, null],
  ];
  for (const [error, status, retryAfter] of cases) {
    const { url } = await startGateway(
      t,
      [
        post(async () => {
          throw error;
        }),
      ],
      { requestDeadlineMs: 2_000 },
    );
    const response = await fetch(`${url}/v1/x`, { method: 'POST' });
    t.is(response.status, status, error.name);
    t.is(response.headers.get('retry-after'), retryAfter, error.name);
    const text = await response.text();
    t.regex(text, /"error":\{"message":"[^"]+"\}/);
    t.false(text.includes(error.message), error.name);
  }
});

test('too many requests from one address are a 429 that says when to come back', async (t) => {
  const { url } = await startGateway(t, [post(done)], {
    rateLimits: { publicPerMinute: 2, sessionPerMinute: 0 },
  });
  const statuses = [];
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    const response = await fetch(`${url}/v1/x`, { method: 'POST', headers: { 'x-forwarded-for': address } });
    statuses.push(response.status);
    if (response.status === 429) t.true(Number(response.headers.get('retry-after')) > 0);
  }
  t.deepEqual(statuses, [200, 200, 429, 200]);
});

test('a bearer of ours is counted by its user, a wrong one by its address', async (t) => {
  const signedIn = { ...post(done), access: 'session' as const };
  const { url } = await startGateway(t, [signedIn], {
    rateLimits: { publicPerMinute: 1, sessionPerMinute: 2 },
  });
  const status = async (authorization: string, address: string) => {
    const headers = { authorization, 'x-forwarded-for': address };
    return (await fetch(`${url}/v1/x`, { method: 'POST', headers })).status;
  };
  t.is(await status('Bearer wrong', '192.0.2.1'), 401);
  t.is(await status('Bearer wrong', '192.0.2.1'), 429);
  t.is(await status(goodBearer, '192.0.2.1'), 200);
  t.is(await status(goodBearer, '192.0.2.2'), 200);
  t.is(await status(goodBearer, '192.0.2.3'), 429);
});

test('a preflight is answered for any path, and replies are readable across origins', async (t) => {
  const { url } = await startGateway(t, [post(done)]);
  const preflight = await fetch(`${url}/v1/x`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-snjs-version',
    },
  });
  t.is(preflight.status, 204);
  t.is(preflight.headers.get('access-control-allow-origin'), 'https://app.test');
  t.is(preflight.headers.get('access-control-allow-credentials'), 'true');
  t.is(preflight.headers.get('access-control-allow-headers'), 'authorization,content-type,x-snjs-version');
  for (const path of ['/v1/x', '/v1/unknown']) {
    const response = await fetch(url + path, { method: 'POST', headers: { origin: 'https://app.test' } });
    t.is(response.headers.get('access-control-allow-origin'), 'https://app.test', path);
    t.is(response.headers.get('vary'), 'Origin');
  }
});

test('cookies a handler sets go out one by one, and a bad one not at all', async (t) => {
  const setCookies = ['a=1; Path=/', 'b=2; Path=/'];
  const { url } = await startGateway(t, [
    post(async () => ({ status: 200, body: {}, setCookies })),
    { ...post(async () => ({ status: 200, body: {}, setCookies: ['a=1\r\nX-B: 2'] })), path: '/v1/bad' },
  ]);
  t.deepEqual((await fetch(`${url}/v1/x`, { method: 'POST' })).headers.getSetCookie(), setCookies);
  t.is((await fetch(`${url}/v1/bad`, { method: 'POST' })).status, 500);
});

test('floods and lies in the head end in a refusal or a closed connection, and the server lives on', async (t) => {
  const { port, url } = await startGateway(t, [post(done)]);
  const heads: readonly [name: string, text: string][] = [
    ['thousands of headers', `POST /v1/x HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(5_000)}\r\n`],
    ['a huge header', `POST /v1/x HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(1_000_000)}\r\n\r\n`],
    ['a huge path', `POST /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a length that is no number', 'POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n{}'],
    ['a negative length', 'POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n{}'],
    [
      'a length beyond counting',
      `POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n{}`,
    ],
    ['a broken chunk', 'POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['another version', 'POST /v1/x HTTP/9.9\r\nHost: a\r\n\r\n'],
  ];
  for (const [name, text] of heads) {
    const connection = await openRaw(t, port);
    connection.send(text);
    const reply = await Promise.race([connection.ended, connection.received('\r\n').catch(() => '')]);
    if (reply !== '') t.regex(reply, /^HTTP\/1.1 (4\d\d|505) /, name);
    connection.socket.destroy();
    t.is((await fetch(`${url}/v1/x`, { method: 'POST' })).status, 200, name);
  }
});

test('bytes that are not HTTP disturb no other client', async (t) => {
  const { port, url } = await startGateway(t, [post(done)]);
  for (const text of ['hello\r\n\r\n', '\u0000\u0001\u0002', '\r\n\r\n']) {
    const connection = await openRaw(t, port);
    connection.send(text);
    t.is((await fetch(`${url}/v1/x`, { method: 'POST' })).status, 200);
  }
});

test('a refusal leaves the connection usable, the rest of the body being thrown away', async (t) => {
  const { port } = await startGateway(t, [post(done)]);
  const connection = await openRaw(t, port);
  connection.send(`POST /v1/none HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n${' '.repeat(50_000)}`);
  await connection.received('There is no such endpoint.');
  connection.send(`${' '.repeat(50_000)}${head(2)}{}`);
  t.true((await connection.received('{"done":true}')).includes('HTTP/1.1 200 OK'));
});

test('a chunked body is read like any other', async (t) => {
  const { port } = await startGateway(t, [
    route({
      ...post(done),
      request: z.object({ a: z.number() }),
      handle: async (_context, request) => ({ status: 200, body: request }),
    }),
  ]);
  const connection = await openRaw(t, port);
  connection.send('POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n');
  connection.send('4\r\n":7}\r\n0\r\n\r\n');
  t.true((await connection.received('{"a":7}')).startsWith('HTTP/1.1 200'));
});
