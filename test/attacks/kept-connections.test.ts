/**
 * Requests after an answer on the same connection. A kept connection must answer the next request, and an idle one must end. A
 * proxy in front gives kept connections to the requests of others.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { rangedReply } from '../../gateway/http/ranges.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../../gateway/http/route.ts';
import { ForbiddenError, OverloadedError, TerminalError } from '../../runtime/errors.ts';
import { emptyRoute, gaugeIs, goodBearer, openRaw, startGateway } from '../kit/gateway.ts';

const large = 'x'.repeat(3 * 1024 * 1024);
const chunk = Buffer.alloc(100_000, 'y');

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let each = 0; each < 30; each++) yield chunk;
}
async function* nothing(): AsyncGenerator<Uint8Array> {}

const failing: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new OverloadedError('no room', 1_000)) }),
};

const text = 'text/plain; charset=utf-8';
const object = { status: 200, body: { a: 1 } };

/** The answers of handlers, by the last part of the path. */
const replies: Readonly<Record<string, RouteReply>> = {
  object,
  next: { status: 200, contentType: text, body: 'the next answer' },
  large: { status: 200, body: { large } },
  serialised: { status: 200, json: '{"a":1}' },
  bare: { ...object, withoutEnvelope: true },
  duplicated: { ...object, duplicated: true },
  'large-duplicated': { status: 200, body: { large }, duplicated: true },
  text: { status: 200, contentType: text, body: 'a' },
  'no-text': { status: 200, contentType: text, body: '' },
  bytes: { status: 200, bytes: chunk },
  'large-bytes': { status: 200, bytes: Buffer.alloc(3_000_000) },
  'no-bytes': { status: 200, bytes: Buffer.alloc(0) },
  cookies: { ...object, setCookies: ['a=b; Path=/', 'c=d; Path=/'] },
  sized: { status: 200, contentType: text, stream: { open: chunks, lengthBytes: 3_000_000 } },
  unsized: { status: 200, contentType: text, stream: { open: chunks } },
  'sized-nothing': { status: 200, contentType: text, stream: { open: nothing, lengthBytes: 0 } },
  'unsized-nothing': { status: 200, contentType: text, stream: { open: nothing } },
  'failing-source': { status: 200, contentType: text, stream: { open: () => failing, lengthBytes: 9 } },
  'created-without-body': { status: 201 },
  empty: { status: 204 },
  'not-modified': { status: 304 },
  redirect: { status: 302, headers: { Location: '/v1/next' } },
};

const bodyOf = { mediaType: text, sizeBytes: 3_000_000, open: chunks };
const fails = (error: Error) => async (): Promise<RouteReply> => {
  throw error;
};
const get = (name: string, handle: AnyRoute['handle'], more: Partial<AnyRoute> = {}): AnyRoute =>
  emptyRoute('GET', `/v1/${name}`, { safe: true, handle, ...more });
const post = (name: string, more: Partial<AnyRoute> = {}): AnyRoute =>
  emptyRoute('POST', `/v1/${name}`, { handle: async () => object, ...more });

const routes: readonly AnyRoute[] = [
  ...Object.entries(replies).map(([name, reply]) => get(name, async () => reply)),
  get('range', async (context: RequestContext<'public'>) => rangedReply(context.header('range'), bodyOf), {
    headers: ['range'],
  }),
  get('forbidden', fails(new ForbiddenError('no'))),
  get('unexpected', fails(new TerminalError('no'))),
  get('undefined-header', async () => ({ ...object, headers: { 'X-Two': 'a\r\nb: c' } })),
  get('once', async () => object, { rate: { name: 'once', perMinute: 1, by: 'address' } }),
  emptyRoute('GET', '/v1/consuming'),
  post('object'),
  post('field', { request: z.object({ field: z.string() }) }),
  post('session', { access: 'session', bodyLimit: 'large' }),
  post('bytes', { body: 'bytes', bodyLimit: 10_000_000 }),
  post('unread', { body: 'stream', bodyLimit: 10_000_000 }),
  emptyRoute('OPTIONS', '/dav/x', { handle: async () => ({ status: 200 }) }),
  emptyRoute('PROPFIND', '/dav/x', {
    body: 'bytes',
    handle: async () => ({ status: 207, contentType: text, body: '<a/>' }),
  }),
];

const areas = [{ prefix: '/dav', ownOptions: true }] as const;

interface Kind {
  /** Method and path, and further parts of the request. */
  readonly ask: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The answer comes before the body, and announces the end of the connection. */
  readonly isLast?: true;
}

const json = { 'content-type': 'application/json' };
const chunked = { ...json, 'transfer-encoding': 'chunked' };
const long = Buffer.alloc(200_000, ' ');
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
};

const ofHandlers = Object.entries(replies).flatMap(([name, { status }]) => {
  const answered = name === 'failing-source' ? 503 : status;
  return [
    { ask: `GET /v1/${name}`, status: answered },
    // A stream is not opened for HEAD, and so cannot fail.
    { ask: `HEAD /v1/${name}`, status },
  ];
});

const kinds: readonly Kind[] = [
  ...ofHandlers,
  { ask: 'GET /v1/range', status: 200 },
  { ask: 'GET /v1/range', status: 206, headers: { range: 'bytes=0-299999' } },
  { ask: 'HEAD /v1/range', status: 206, headers: { range: 'bytes=0-299999' } },
  { ask: 'GET /v1/range', status: 416, headers: { range: 'bytes=9000000-' } },
  { ask: 'HEAD /v1/range', status: 416, headers: { range: 'bytes=9000000-' } },
  { ask: 'GET /v1/range', status: 400, headers: { range: 'bytes=a' } },
  { ask: 'GET /v1/forbidden', status: 403 },
  { ask: 'HEAD /v1/forbidden', status: 403 },
  { ask: 'GET /v1/unexpected', status: 500 },
  { ask: 'HEAD /v1/unexpected', status: 500 },
  { ask: 'GET /v1/undefined-header', status: 500 },
  { ask: 'GET /v1/nowhere', status: 404 },
  { ask: 'HEAD /v1/nowhere', status: 404 },
  { ask: 'GET /v1//x', status: 400 },
  { ask: 'HEAD /v1//x', status: 400 },
  { ask: 'DELETE /v1/object', status: 405 },
  { ask: 'HEAD /v1/consuming', status: 405 },
  { ask: 'GET /v1/once', status: 200 },
  { ask: 'GET /v1/once', status: 429 },
  { ask: 'HEAD /v1/once', status: 429 },
  { ask: 'OPTIONS /v1/object', status: 204, headers: { origin: 'https://a.test' } },
  { ask: 'OPTIONS /dav/x', status: 200 },
  { ask: 'PROPFIND /dav/x', status: 207, body: '<a/>' },
  { ask: 'POST /v1/object', status: 200 },
  { ask: 'POST /v1/object', status: 200, headers: json, body: '{}' },
  { ask: 'POST /v1/object', status: 200, headers: { ...json, expect: '100-continue' }, body: '{}' },
  { ask: 'POST /v1/object', status: 400, headers: json, body: '{' },
  { ask: 'POST /v1/object', status: 413, headers: json, body: long },
  { ask: 'POST /v1/object', status: 413, headers: chunked, body: long, isLast: true },
  { ask: 'POST /v1/object', status: 413, headers: { ...json, expect: '100-continue' }, body: long },
  { ask: 'POST /v1/object', status: 415, headers: { ...json, 'content-encoding': 'gzip' }, body: '{}' },
  { ask: 'POST /v1/field', status: 400, headers: json, body: '{}' },
  { ask: 'POST /v1/nowhere', status: 404, headers: json, body: long },
  { ask: 'POST /v1/session', status: 401, headers: json, body: long },
  { ask: 'POST /v1/session', status: 200, headers: { ...json, authorization: goodBearer }, body: '{}' },
  { ask: 'POST /v1/bytes', status: 200, body: Buffer.alloc(1_000_000) },
  { ask: 'POST /v1/unread', status: 200, body: Buffer.alloc(5_000_000), isLast: true },
  { ask: 'GET /v1/object', status: 200, body: 'a body that nobody expects' },
  { ask: 'HEAD /v1/object', status: 200, body: 'a body that nobody expects' },
  { ask: 'GET /sockets', status: 401, headers: upgrade },
  { ask: 'GET /sockets', status: 404 },
  { ask: 'HEAD /sockets', status: 404 },
];

const chunkOf = (bytes: number): string => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;
const mebibytes = (count: number): string[] => Array.from({ length: count }, () => chunkOf(2 ** 20));

/** Target, the part of a request that gets an answer, and the rest of it. */
const unfinished: readonly (readonly [target: string, part: string, rest: readonly string[]])[] = [
  ['object', `Transfer-Encoding: chunked\r\n\r\n${chunkOf(70_000)}`, [...mebibytes(8), '0\r\n\r\n']],
  [
    'unread',
    'Content-Length: 8000000\r\n\r\nxxx',
    Array.from({ length: 8 }, (_, index) => 'x'.repeat(index === 0 ? 999_997 : 1_000_000)),
  ],
];

const named = ({ ask, status, headers = {}, body = '' }: Kind): string =>
  [ask, status, ...Object.keys(headers), body.length].join(' ');

/**
 * Node.js takes a HEAD without a length for the last; `gateway/http/replying.test.ts` sends another request on such a
 * connection.
 */
const isTakenForLast = ({ ask, isLast }: Kind): boolean =>
  isLast === true || ask.startsWith('HEAD /v1/unsized');

/** A separate connection, on which one request follows the other. */
class Kept {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly sockets = new Set<Socket>();

  constructor(t: ExecutionContext, port: number) {
    this.#port = port;
    t.teardown(() => this.#agent.destroy());
  }

  async ask({ ask, headers = {}, body }: Omit<Kind, 'status'>): Promise<{ status: number; text: string }> {
    const [method, path] = ask.split(' ');
    const isChunked = headers['transfer-encoding'] !== undefined;
    const length = body === undefined || isChunked ? {} : { 'content-length': body.length };
    const options = { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path };
    const sent = request({ ...options, headers: { ...length, ...headers } });
    sent.on('socket', (socket) => this.sockets.add(socket));
    if (headers['expect'] === undefined) sent.end(body);
    else sent.once('continue', () => sent.end(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, text: await textOf(response) };
  }
}

test('after every kind of answer the next request on the connection is answered', async (t) => {
  const { port } = await startGateway(t, routes, { areas });
  for (const kind of kinds) {
    const connection = new Kept(t, port);
    t.is((await connection.ask(kind)).status, kind.status, named(kind));
    const next = await connection.ask({ ask: 'GET /v1/next' }).catch(String);
    t.deepEqual(next, { status: 200, text: 'the next answer' }, named(kind));
    t.is(connection.sockets.size, isTakenForLast(kind) ? 2 : 1, named(kind));
  }
});

test('after every kind of answer a connection on which nobody asks any more ends', async (t) => {
  const server = await startGateway(t, routes, { areas });
  const ends = kinds.map(async (kind) => {
    const connection = new Kept(t, server.port);
    await connection.ask(kind);
    for (const socket of connection.sockets) if (!socket.closed) await once(socket, 'close');
  });
  // So does one whose client withholds the rest of the request.
  const stalled = unfinished.map(async ([target, part]) => {
    const connection = await openRaw(t, server.port);
    connection.send(`POST /v1/${target} HTTP/1.1\r\nHost: a\r\n${part}`);
    await connection.received('\r\n\r\n');
    await connection.ended;
  });
  await Promise.all([...ends, ...stalled]);
  await t.notThrowsAsync(gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 0));
});

test('an answer in the middle of a body comes whole, and the connection ends after the body and is not reset', async (t) => {
  const { port } = await startGateway(t, routes, { areas });
  for (const [target, part, rest] of unfinished) {
    const connection = await openRaw(t, port);
    let isReset = false;
    connection.socket.on('error', () => {
      isReset = true;
    });
    connection.send(`POST /v1/${target} HTTP/1.1\r\nHost: a\r\n${part}`);
    const answer = await connection.received('}\r\n');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    t.is(/^content-length: (\d+)$/im.exec(head)?.[1], String(body.length), target);
    t.regex(head, /^Connection: close$/m);
    t.truthy(JSON.parse(body));
    // More than the buffers of the system hold: it is read until the end.
    for (const piece of rest) connection.send(piece);
    t.is(await connection.ended, answer);
    t.false(isReset, target);
  }
});
