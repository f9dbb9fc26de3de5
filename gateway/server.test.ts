import test from 'ava';
import { z } from 'zod';
import { goodBearer, goodCredentials, openRaw, startGateway } from '../test/kit/gateway.ts';
import { type AnyRoute, route } from './http/route.ts';

const caller = { userUuid: goodCredentials.userUuid, roles: [{ uuid: 'r1', name: 'PRO_USER' }] };

/** Answers with its input. */
const echo: AnyRoute = route({
  method: 'POST',
  path: '/v1/echo/:name',
  access: 'optional-session',
  summary: 'Echo.',
  tag: 'Test',
  headers: ['x-extra'],
  request: z.looseObject({}),
  replies: { 200: z.object({}) },
  handle: async (context, request) => ({
    status: 200,
    body: {
      request,
      extra: context.header('x-extra') ?? null,
      client: context.client,
      cookies: Object.fromEntries(context.cookies),
      credentials: context.credentials ?? null,
    },
  }),
});

const signedIn: AnyRoute = route({
  method: 'POST',
  path: '/v1/signed-in',
  access: 'session',
  bodyLimit: 'large',
  summary: 'Only with a session.',
  tag: 'Test',
  request: z.object({
    email: z.string().max(20),
    count: z.number().optional(),
    items: z.array(z.unknown()).optional(),
  }),
  replies: { 200: z.object({}) },
  handle: async (context, { items }) => ({
    status: 200,
    body: { user: context.credentials.userUuid, items: items?.length ?? null },
    caller,
  }),
});

type Body = NonNullable<RequestInit['body']>;

const json = { 'content-type': 'application/json' };

test('an answer is enveloped, with the files host and without a caller when there is none', async (t) => {
  const { url } = await startGateway(t, [echo]);
  const response = await fetch(`${url}/v1/echo/a`, { method: 'POST', headers: json, body: '{"b":1}' });
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), 'application/json; charset=utf-8');
  t.truthy(response.headers.get('x-request-id'));
  t.is(response.headers.get('cache-control'), 'no-store');
  const body = (await response.json()) as Record<string, Record<string, unknown>>;
  t.deepEqual(body['meta'], { auth: {}, server: { filesServerUrl: 'http://files.test' } });
  t.deepEqual(body['data']?.['request'], { b: 1, name: 'a' });
});

test('the caller of a signed-in answer stands in the envelope with the roles', async (t) => {
  const { url } = await startGateway(t, [signedIn]);
  const response = await fetch(`${url}/v1/signed-in`, {
    method: 'POST',
    headers: { ...json, authorization: goodBearer },
    body: '{"email":"a"}',
  });
  t.deepEqual(await response.json(), {
    meta: { auth: caller, server: { filesServerUrl: 'http://files.test' } },
    data: { user: goodCredentials.userUuid, items: null },
  });
});

test('an empty body with a JSON content type is an empty object', async (t) => {
  const { url } = await startGateway(t, [echo]);
  const response = await fetch(`${url}/v1/echo/a`, { method: 'POST', headers: json });
  t.deepEqual(((await response.json()) as { data: { request: unknown } }).data.request, { name: 'a' });
});

test('parameters win over the body and the body over the query, and the version has one name', async (t) => {
  const { url } = await startGateway(t, [echo]);
  const post = async (path: string, body: string) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers: json, body });
    return ((await response.json()) as { data: { request: unknown } }).data.request;
  };
  t.deepEqual(await post('/v1/echo/path?name=query&x=query&y=query', '{"name":"body","x":"body"}'), {
    name: 'path',
    x: 'body',
    y: 'query',
  });
  t.like(await post('/v1/echo/a', '{"api_version":"1"}'), { api: '1' });
  t.like(await post('/v1/echo/a', '{"apiVersion":"2"}'), { api: '2' });
  t.like(await post('/v1/echo/a', '{"api":"3","api_version":"1"}'), { api: '3' });
  t.like(await post('/v1/echo/a', '{"api":null,"api_version":"1"}'), { api: '1' });
  t.like(await post('/v1/echo/a?api=4', ''), { api: '4' });
  t.like(await post('/v1/echo/a', '{"x":1,"x":2}'), { x: 2 });
});

test('a handler sees the headers its route declares, the cookies, the client and the credentials', async (t) => {
  const { url } = await startGateway(t, [echo]);
  const response = await fetch(`${url}/v1/echo/a`, {
    method: 'POST',
    headers: {
      ...json,
      'x-extra': 'yes',
      'x-snjs-version': '2.204.7',
      'user-agent': 'test',
      cookie: 'a=1; b=x=y; a=2',
      authorization: goodBearer,
    },
    body: '{}',
  });
  t.like(((await response.json()) as { data: object }).data, {
    extra: 'yes',
    client: { ipAddress: '127.0.0.1', userAgent: 'test', snjsVersion: '2.204.7', applicationVersion: null },
    cookies: { a: ['1', '2'], b: ['x=y'] },
    credentials: goodCredentials,
  });
});

test('a route of a session answers a missing or wrong bearer with 401, before it has the body', async (t) => {
  const { port, url, registry } = await startGateway(t, [signedIn, echo]);
  const connection = await openRaw(t, port);
  connection.send('POST /v1/signed-in HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{');
  const reply = await connection.received('}}');
  t.true(reply.startsWith('HTTP/1.1 401 Unauthorized'));
  t.true(reply.endsWith('{"error":{"tag":"invalid-auth","message":"Invalid login credentials."}}'));
  t.regex(await registry.metrics(), /_count\{method="POST",route="\/v1\/signed-in",status="4xx"\} 1/);
  const optional = await fetch(`${url}/v1/echo/a`, {
    method: 'POST',
    headers: { authorization: 'Bearer bad' },
  });
  t.is(((await optional.json()) as { data: { credentials: unknown } }).data.credentials, null);
});

test('a request that does not fit is explained without repeating what was sent', async (t) => {
  const { url } = await startGateway(t, [signedIn]);
  const post = async (body: string) => {
    const response = await fetch(`${url}/v1/signed-in`, {
      method: 'POST',
      headers: { authorization: goodBearer },
      body,
    });
    return { status: response.status, body: await response.json() };
  };
  const refused = (message: string) => ({
    status: 400,
    body: {
      meta: { auth: {}, server: { filesServerUrl: 'http://files.test' } },
      data: { error: { message } },
    },
  });
  t.deepEqual(await post('{}'), refused('email is missing.'));
  t.deepEqual(await post('{"email":7}'), refused('email must be a text.'));
  t.deepEqual(await post('{"email":"a","count":"secret"}'), refused('count must be a number.'));
  t.deepEqual(await post(`{"email":"${'secret'.repeat(9)}"}`), refused('email is too long.'));
});

test('a body that is no JSON object in UTF-8 is a 400', async (t) => {
  const { url } = await startGateway(t, [echo]);
  const post = async (body: Body) => {
    const response = await fetch(`${url}/v1/echo/a`, { method: 'POST', headers: json, body });
    return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
  };
  t.deepEqual(await post('{"a":'), [400, 'The request payload is not valid JSON.']);
  t.deepEqual(await post('[1]'), [400, 'The request payload must be a JSON object.']);
  t.deepEqual(await post('null'), [400, 'The request payload must be a JSON object.']);
  t.deepEqual(await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), [
    400,
    'The request payload is not valid UTF-8.',
  ]);
  t.deepEqual(await post(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`), [
    400,
    'The request payload is nested too deeply.',
  ]);
});

test('a __proto__ key changes nothing', async (t) => {
  const { url } = await startGateway(t, [signedIn]);
  const response = await fetch(`${url}/v1/signed-in`, {
    method: 'POST',
    headers: { authorization: goodBearer },
    body: '{"__proto__":{"email":"a"}}',
  });
  t.is(response.status, 400);
  t.is(({} as Record<string, unknown>)['email'], undefined);
});

test('a body over the limit of its route is a 413, whether its length was declared or not', async (t) => {
  const { url } = await startGateway(t, [echo, signedIn], { largeBodyBytes: 2_000_000 });
  const chunked = (bytes: number) =>
    new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(bytes).fill(0x20));
        controller.close();
      },
    });
  const post = async (path: string, body: Body) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...json, authorization: goodBearer },
      body,
      duplex: 'half',
    } as RequestInit);
    return { status: response.status, body: await response.json() };
  };
  const tooLarge = { status: 413, body: { error: { message: 'The request payload is too large.' } } };
  t.deepEqual(await post('/v1/echo/a', ' '.repeat(70_000)), tooLarge);
  t.deepEqual(await post('/v1/echo/a', chunked(70_000)), tooLarge);
  t.deepEqual(await post('/v1/signed-in', ' '.repeat(2_000_001)), tooLarge);
  t.deepEqual(await post('/v1/signed-in', chunked(2_000_001)), tooLarge);
});

test('a large body arrives whole, sliced, in many chunks, declared or not', async (t) => {
  const { url, registry } = await startGateway(t, [signedIn]);
  const items = Array.from({ length: 5_000 }, (_, i) => ({ uuid: `${i}`, content: 'ü'.repeat(500) }));
  const body = JSON.stringify({ email: 'a', items });
  const send = (sent: Body) =>
    fetch(`${url}/v1/signed-in`, {
      method: 'POST',
      headers: { authorization: goodBearer },
      body: sent,
      duplex: 'half',
    } as RequestInit);
  for (const sent of [body, new Blob([body]).stream()]) {
    const response = await send(sent);
    t.like(((await response.json()) as { data: object }).data, { items: 5_000 });
  }
  const broken = await send(`${body.slice(0, -2)}}}`);
  t.is(broken.status, 400);
  t.regex(await registry.metrics(), /http_unfinished_body_bytes 0/);
});

test('bodies beyond the memory for unfinished ones are asked to come back', async (t) => {
  const { port, url, registry } = await startGateway(t, [signedIn], { bodyMemoryBytes: 100_000 });
  const slow = await openRaw(t, port);
  slow.send(
    `POST /v1/signed-in HTTP/1.1\r\nHost: a\r\nAuthorization: ${goodBearer}\r\nContent-Length: 90000\r\n\r\n`,
  );
  slow.send(' '.repeat(80_000));
  const other = await openRaw(t, port);
  other.send(
    `POST /v1/signed-in HTTP/1.1\r\nHost: a\r\nAuthorization: ${goodBearer}\r\nContent-Length: 90000\r\n\r\n`,
  );
  other.send(' '.repeat(80_000));
  const refused = await Promise.race([slow.received('}}'), other.received('}}')]);
  t.true(refused.startsWith('HTTP/1.1 503'));
  t.regex(refused, /Retry-After: \d+/);
  slow.socket.destroy();
  other.socket.destroy();
  // The server answers the next request only after it has seen both leave; otherwise it would have no capacity for
  // it.
  for (;;) {
    const response = await fetch(`${url}/v1/signed-in`, {
      method: 'POST',
      headers: { authorization: goodBearer },
      body: JSON.stringify({ email: 'a', items: ['x'.repeat(90_000)] }),
    });
    if (response.status === 200) break;
  }
  t.regex(await registry.metrics(), /http_unfinished_body_bytes 0/);
});

test('unknown paths, other methods and path tricks are clear refusals', async (t) => {
  const { url, port } = await startGateway(t, [echo]);
  const unknown = await fetch(`${url}/v1/nothing`);
  t.is(unknown.status, 404);
  t.deepEqual(await unknown.json(), { error: { message: 'There is no such endpoint.' } });
  const other = await fetch(`${url}/v1/echo/a`);
  t.is(other.status, 405);
  t.is(other.headers.get('allow'), 'POST, OPTIONS');
  const withSlash = await fetch(`${url}/v1/echo/a/`, { method: 'POST' });
  t.is(withSlash.status, 200);
  for (const path of [
    '/v1/echo/a%2fb',
    '/v1/echo/%2e%2e',
    '/v1/../v1/echo/a',
    '/v1//echo/a',
    '/v1/echo/%zz',
    '/v1/echo/%00',
  ]) {
    const connection = await openRaw(t, port);
    connection.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    t.true((await connection.received('}}')).startsWith('HTTP/1.1 400 '), path);
  }
});

test('an unexpected failure is a generic 500 whose cause is in the log alone', async (t) => {
  const failing: AnyRoute = route({
    ...echo,
    path: '/v1/fails',
    headers: [],
    handle: async (_context: unknown) => {
      throw Object.assign(new Error('pool exhausted'), { detail: 'Key (email)=(a@example.org)' });
    },
  });
  const badHeader: AnyRoute = route({
    ...failing,
    path: '/v1/bad-header',
    handle: async () => ({ status: 200, body: {}, headers: { 'X-A': 'b\r\nX-C: d' } }),
  });
  const { url, log } = await startGateway(t, [failing, badHeader]);
  for (const path of ['/v1/fails', '/v1/bad-header']) {
    const response = await fetch(`${url}${path}`, { method: 'POST' });
    t.is(response.status, 500);
    const text = await response.text();
    // One text for all: the header holds the id to search the log for.
    t.deepEqual(JSON.parse(text), {
      error: { message: 'The server could not answer this request. Please try again later.' },
    });
    t.truthy(response.headers.get('x-request-id'));
    t.notRegex(text, /pool|control/);
    t.is(response.headers.get('x-c'), null);
  }
  t.true(log.some((line) => JSON.stringify(line).includes('pool exhausted')));
  t.false(JSON.stringify(log).includes('example.org'));
});

test('the access log has the pattern of a route and nothing of what was sent', async (t) => {
  const { url, log } = await startGateway(t, [echo]);
  const response = await fetch(`${url}/v1/echo/private-name?q=private`, {
    method: 'POST',
    headers: { ...json, authorization: 'Bearer private', cookie: 'a=private', 'user-agent': 'private' },
    body: '{"x":"private"}',
  });
  await response.text();
  t.like(log.at(-1), {
    method: 'POST',
    route: '/v1/echo/:name',
    status: 200,
    requestId: response.headers.get('x-request-id'),
  });
  t.false(JSON.stringify(log).includes('private'));
});

test('HEAD is answered as GET without the body, and 204 with none', async (t) => {
  const get: AnyRoute = route({
    ...echo,
    method: 'GET',
    path: '/v1/get',
    safe: true,
    handle: async () => ({ status: 200, body: {} }),
  });
  const done: AnyRoute = route({ ...echo, path: '/v1/done', handle: async () => ({ status: 204 }) });
  const { url } = await startGateway(t, [get, done]);
  const head = await fetch(`${url}/v1/get`, { method: 'HEAD' });
  t.is(head.status, 200);
  t.is(head.headers.get('content-length'), String((await (await fetch(`${url}/v1/get`)).text()).length));
  const empty = await fetch(`${url}/v1/done`, { method: 'POST' });
  t.is(empty.status, 204);
  t.is(empty.headers.get('content-length'), null);
});

test('a body that was serialised already goes into the envelope as it is', async (t) => {
  const fragment: AnyRoute = route({
    ...echo,
    path: '/v1/json',
    handle: async () => ({ status: 200, json: '{"a":  1}' }),
  });
  const { url } = await startGateway(t, [fragment]);
  const text = await (await fetch(`${url}/v1/json`, { method: 'POST' })).text();
  t.true(text.endsWith('"data":{"a":  1}}'));
});

test('a taken port is an error', async (t) => {
  const { port } = await startGateway(t, []);
  const { gateway } = await startGateway(t, []);
  await t.throwsAsync(gateway.listen('127.0.0.1', port), { message: /is taken/ });
});
