import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { createAuthority } from '../../test/kit/certificates.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { OutboundError, type OutboundFailure, type OutboundRequest } from './http.ts';
import { createOutboundHttp, type OutboundHttpOptions } from './node-http.ts';

interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A server on the loopback address, and what it was asked. */
async function startServer(t: ExecutionContext, answer: RequestListener, address = '127.0.0.1') {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { requests, port, url: `http://${address}:${port}`, server };
}

type Changes = Partial<OutboundHttpOptions>;

function createHttp(changes: Changes = {}) {
  const clock = new FakeClock();
  const http = createOutboundHttp({ clock, ...changes });
  const send = (request: Partial<OutboundRequest> & Pick<OutboundRequest, 'url'>) =>
    http.send({ destination: 'fixed', timeoutMs: 1_000, answerBytesMax: 10_000, ...request });
  return { clock, send };
}

async function fails(
  t: ExecutionContext,
  sent: Promise<unknown>,
  failure: OutboundFailure,
  mayHaveArrived: boolean,
): Promise<void> {
  const error = await t.throwsAsync(sent, { instanceOf: OutboundError });
  t.is(error.failure, failure);
  t.is(error.mayHaveArrived, mayHaveArrived, 'may have arrived');
  t.is(error.message, `an outbound request failed: ${failure}`);
  t.is(error.cause, undefined);
}

/** Names and where they lead, each time they are asked. */
function names(leads: (host: string, times: number) => readonly string[]) {
  const requests: string[] = [];
  const resolve = async (host: string) => {
    requests.push(host);
    return leads(host, requests.filter((each) => each === host).length);
  };
  return { requests, resolve: { fixed: resolve, checked: resolve } };
}

/** For tests 127.0.0.1 is a public address, and no other is. */
const isPublic = (address: string) => address === '127.0.0.1';

const hello: RequestListener = (_request, response) => {
  response.writeHead(201, { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] }).end('hello');
};

test('a request is sent as it is, and its answer comes as it is', async (t) => {
  const { url, requests } = await startServer(t, hello);
  const { send } = createHttp();
  const answer = await send({
    url: `${url}/path?query=1`,
    method: 'POST',
    headers: { 'content-type': 'text/plain', authorization: 'Bearer x' },
    body: 'some text',
  });
  t.is(answer.status, 201);
  t.is(answer.headers.get('x-answer'), 'yes');
  t.is(answer.headers.get('set-cookie'), 'a=1, b=2');
  t.is(answer.body.toString(), 'hello');
  t.like(requests, [
    {
      method: 'POST',
      url: '/path?query=1',
      body: 'some text',
      headers: { authorization: 'Bearer x', 'content-length': '9', connection: 'close' },
    },
  ]);
});

test('a fixed destination may be private, and is found by the system', async (t) => {
  const { port } = await startServer(t, hello, 'localhost');
  t.is((await createHttp().send({ url: `http://localhost:${port}/` })).status, 201);
});

const forbidden = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://10.1.2.3/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0.0.0.0/',
  'https://100.64.1.1/',
  'http://[64:ff9b::7f00:1]/',
  'http://[fe80::1]/',
];
for (const url of forbidden) {
  test(`a checked destination is not ${url}`, async (t) => {
    await fails(t, createHttp().send({ url, destination: 'checked' }), 'refused', false);
  });
}

test('a checked name with one private address among others is refused before any connection', async (t) => {
  const { port, requests } = await startServer(t, hello);
  const { resolve } = names(() => ['127.0.0.1', '10.0.0.1']);
  const { send } = createHttp({ resolve, isPublic });
  await fails(t, send({ url: `http://example.org:${port}/`, destination: 'checked' }), 'refused', false);
  t.is(requests.length, 0);
});

test('a name that leads elsewhere after it was checked gains nothing', async (t) => {
  const open = await startServer(t, hello);
  const hidden = await startServer(t, hello, '127.0.0.2');
  const { resolve, requests } = names((_host, times) => [times === 1 ? '127.0.0.1' : '127.0.0.2']);
  const { send } = createHttp({ resolve, isPublic });
  // Asked once, checked, and connected to where that led.
  t.is((await send({ url: `http://example.org:${open.port}/`, destination: 'checked' })).status, 201);
  t.deepEqual(requests, ['example.org']);
  t.like(open.requests[0]?.headers, { host: `example.org:${open.port}` });
  // Every connection again.
  await fails(
    t,
    send({ url: `http://example.org:${hidden.port}/`, destination: 'checked' }),
    'refused',
    false,
  );
  t.is(hidden.requests.length, 0);
});

test('an unknown name', async (t) => {
  const { resolve } = names(() => []);
  await fails(t, createHttp({ resolve }).send({ url: 'http://example.org/' }), 'unresolved', false);
  const failing = () => Promise.reject(new Error('example.org is not known'));
  const { send } = createHttp({ resolve: { fixed: failing, checked: failing } });
  await fails(t, send({ url: 'http://example.org/' }), 'unresolved', false);
});

test('nothing is sent with another scheme, credentials, no address at all, or headers of the connection', async (t) => {
  const { url, requests } = await startServer(t, hello);
  const { send } = createHttp();
  const wrong = ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:text/plain,x', 'not an address', ''];
  for (const each of wrong) await fails(t, send({ url: each }), 'refused', false);
  for (const each of ['user:secret@', 'user@', ':secret@']) {
    await fails(t, send({ url: url.replace('//', `//${each}`) }), 'refused', false);
  }
  for (const name of [
    'host',
    'Host',
    'connection',
    'content-length',
    'transfer-encoding',
    'proxy-authorization',
  ]) {
    await fails(t, send({ url, headers: { [name]: 'x' } }), 'refused', false);
  }
  await fails(t, send({ url, headers: { 'x-two': 'a\r\nx-three: b' } }), 'refused', false);
  t.is(requests.length, 0);
});

test('a port where nobody listens', async (t) => {
  const { url, server } = await startServer(t, hello);
  await new Promise((resolve) => server.close(resolve));
  await fails(t, createHttp().send({ url }), 'unreachable', false);
});

test('a server that speaks no TLS has not the right certificate', async (t) => {
  const { url, requests } = await startServer(t, hello);
  await fails(t, createHttp().send({ url: url.replace('http:', 'https:') }), 'unreachable', false);
  t.is(requests.length, 0);
});

test('a server that never answers is waited for until the deadline', async (t) => {
  let tell = () => {};
  const wasAsked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const { url } = await startServer(t, () => tell());
  const { send, clock } = createHttp();
  const sent = send({ url, timeoutMs: 1_000 });
  await wasAsked;
  await clock.advance(1_000);
  await fails(t, sent, 'timeout', true);
});

test('an answer that trickles in is waited for until the deadline', async (t) => {
  let tell = () => {};
  const began = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const { url } = await startServer(t, (_request, response) => {
    response.write('some');
    tell();
  });
  const { send, clock } = createHttp();
  const sent = send({ url });
  await began;
  await clock.advance(1_000);
  await fails(t, sent, 'timeout', true);
});

test('a resolver that hangs is waited for until the deadline', async (t) => {
  const never = () => new Promise<never>(() => {});
  const { send, clock } = createHttp({ resolve: { fixed: never, checked: never } });
  const sent = send({ url: 'http://example.org/' });
  await clock.advance(1_000);
  await fails(t, sent, 'timeout', false);
});

test('the caller may end it at any time', async (t) => {
  const abort = new AbortController();
  const { url } = await startServer(t, () => abort.abort());
  await fails(t, createHttp().send({ url, signal: abort.signal }), 'aborted', true);
  await fails(t, createHttp().send({ url, signal: abort.signal }), 'aborted', false);
});

test('an answer is taken up to its bound and no further', async (t) => {
  const { url } = await startServer(t, (request, response) => {
    response.end('x'.repeat(Number(request.url?.slice(1))));
  });
  const { send } = createHttp();
  t.is((await send({ url: `${url}/1000`, answerBytesMax: 1_000 })).body.length, 1_000);
  await fails(t, send({ url: `${url}/1001`, answerBytesMax: 1_000 }), 'too-large', true);
});

test('an answer without end is not read to its end', async (t) => {
  let sentBytes = 0;
  const { url } = await startServer(t, (_request, response) => {
    const chunk = 'x'.repeat(16_384);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length;
    };
    response.on('drain', more);
    more();
  });
  await fails(t, createHttp().send({ url }), 'too-large', true);
  t.true(sentBytes < 64 * 1_024 * 1_024);
});

test('an answer is unpacked, and bounded by what it unpacks to', async (t) => {
  const { url, requests } = await startServer(t, (request, response) => {
    response.setHeader('content-encoding', 'gzip');
    if (request.url === '/small') response.end(gzipSync('hello'));
    else {
      const bomb = createGzip();
      bomb.pipe(response);
      for (let megabytes = 0; megabytes < 64; megabytes += 1) bomb.write(Buffer.alloc(1_048_576));
      bomb.end();
    }
  });
  const { send } = createHttp();
  t.is((await send({ url: `${url}/small` })).body.toString(), 'hello');
  t.is(requests[0]?.headers['accept-encoding'], 'gzip');
  await fails(t, send({ url: `${url}/bomb`, answerBytesMax: 100_000 }), 'too-large', true);
});

const broken: Readonly<Record<string, string>> = {
  'packed as was not asked': 'HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx',
  'packed twice': 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\ncontent-length: 1\r\n\r\nx',
  'not what it says it is': 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello',
  'cut short': 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello',
  'not HTTP': '220 mail.example.org ESMTP\r\n',
  'a head without end': `HTTP/1.1 200 OK\r\n${'x-header: xxxxxxxxxx\r\n'.repeat(2_000)}`,
  'a change of protocol': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  nothing: '',
};
for (const [what, bytes] of Object.entries(broken)) {
  test(`an answer that is ${what}`, async (t) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    await fails(t, createHttp().send({ url: `http://127.0.0.1:${port}/` }), 'broken', true);
  });
}

const redirectTo =
  (location: string, status = 302): RequestListener =>
  (request, response) => {
    if (request.url === '/') response.writeHead(status, { location }).end();
    else hello(request, response);
  };

test('a redirect is an answer where none is asked for', async (t) => {
  const { url, requests } = await startServer(t, redirectTo('/next'));
  const { status, headers } = await createHttp().send({ url });
  t.deepEqual([status, headers.get('location')], [302, '/next']);
  t.is(requests.length, 1);
});

test('a redirect on the same server is followed with everything that goes along', async (t) => {
  const { url, requests } = await startServer(t, redirectTo('/next', 307));
  const headers = { authorization: 'Bearer x' };
  const { status } = await createHttp().send({ url, method: 'POST', body: 'text', headers, redirectsMax: 1 });
  t.is(status, 201);
  t.deepEqual(
    requests.map(({ method, body, headers }) => [method, body, headers['authorization']]),
    [
      ['POST', 'text', 'Bearer x'],
      ['POST', 'text', 'Bearer x'],
    ],
  );
});

test('a redirect that says "see other" is followed by a GET without a body', async (t) => {
  const { url, requests } = await startServer(t, redirectTo('/next', 303));
  await createHttp().send({ url, method: 'POST', body: 'text', redirectsMax: 1 });
  t.like(requests[1], { method: 'GET', body: '' });
});

test('a redirect elsewhere is checked, no matter who named the first server', async (t) => {
  const hidden = await startServer(t, hello, '127.0.0.2');
  for (const destination of ['fixed', 'checked'] as const) {
    const { url } = await startServer(t, redirectTo(`${hidden.url}/admin`));
    const { send } = createHttp({ isPublic });
    await fails(t, send({ url, destination, redirectsMax: 5 }), 'refused', true);
  }
  t.is(hidden.requests.length, 0);
});

test('a redirect to a name that leads to a private address is refused', async (t) => {
  const hidden = await startServer(t, hello, '127.0.0.2');
  const { url } = await startServer(t, redirectTo(`http://rebound.example.org:${hidden.port}/`));
  const { resolve } = names(() => ['127.0.0.2']);
  const { send } = createHttp({ isPublic, resolve });
  await fails(t, send({ url, redirectsMax: 5 }), 'refused', true);
  t.is(hidden.requests.length, 0);
});

test('a redirect elsewhere takes neither headers nor a body along', async (t) => {
  const other = await startServer(t, hello);
  const { url } = await startServer(t, redirectTo(`${other.url}/next`), '127.0.0.1');
  const { send } = createHttp({ isPublic });
  const headers = { authorization: 'Bearer x', cookie: 'a=1' };
  t.is((await send({ url, headers, redirectsMax: 1 })).status, 201);
  t.is(other.requests[0]?.headers['authorization'], undefined);
  t.is(other.requests[0]?.headers['cookie'], undefined);
  const redirecting = await startServer(t, redirectTo(`${other.url}/next`, 308));
  const sent = send({ url: redirecting.url, method: 'POST', body: 'secret', redirectsMax: 1 });
  await fails(t, sent, 'redirected', true);
  t.is(other.requests.length, 1);
});

test('redirects are followed as often as asked for', async (t) => {
  const { url, requests } = await startServer(t, redirectTo('/'));
  await fails(t, createHttp().send({ url, redirectsMax: 3 }), 'redirected', true);
  t.is(requests.length, 4);
});

test('a redirect to another scheme is not followed', async (t) => {
  const { url } = await startServer(t, redirectTo('file:///etc/passwd'));
  await fails(t, createHttp().send({ url, redirectsMax: 3 }), 'refused', true);
});

test('so many requests are in flight at once, those of users beside those of the operator', async (t) => {
  const waiting: (() => void)[] = [];
  let tell = () => {};
  const { url, requests } = await startServer(t, (request, response) => {
    waiting.push(() => hello(request, response));
    tell();
  });
  const asks = (count: number) =>
    new Promise<void>((resolve) => {
      tell = () => requests.length >= count && resolve();
      tell();
    });
  const { send } = createHttp({ isPublic, concurrent: 1, waiting: 1 });
  const checked = () => send({ url, destination: 'checked' });
  const [first, second] = [checked(), checked()];
  await fails(t, checked(), 'overloaded', false);
  const fixed = send({ url });
  await asks(2);
  for (const answer of waiting.splice(0)) answer();
  await asks(3);
  for (const answer of waiting.splice(0)) answer();
  for (const { status } of await Promise.all([first, second, fixed])) t.is(status, 201);
});

test('a request waits for room until its deadline', async (t) => {
  const { url, requests } = await startServer(t, () => {});
  const { send, clock } = createHttp({ concurrent: 1 });
  const first = send({ url, timeoutMs: 10_000 });
  const second = send({ url, timeoutMs: 1_000 });
  await clock.advance(1_000);
  await fails(t, second, 'timeout', false);
  await clock.advance(9_000);
  await t.throwsAsync(first, { instanceOf: OutboundError });
  t.true(requests.length <= 1);
});

test('over TLS a server has to have a certificate of the name that was asked for', async (t) => {
  const authority = createAuthority();
  t.teardown(() => authority.remove());
  const { cert, key } = authority.issue('provider.example.org');
  const serverNames: unknown[] = [];
  const options = { cert: readFileSync(cert), key: readFileSync(key) };
  const server = createTlsServer(options, hello);
  server.on('secureConnection', (socket) => serverNames.push(socket.servername));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { resolve } = names(() => ['127.0.0.1']);
  const trusting = createHttp({ resolve, ca: readFileSync(authority.ca, 'utf8') });
  const { status } = await trusting.send({ url: `https://provider.example.org:${port}/` });
  t.is(status, 201);
  t.deepEqual(serverNames, ['provider.example.org']);
  const others = [
    [trusting, `https://another.example.org:${port}/`],
    [createHttp({ resolve }), `https://provider.example.org:${port}/`],
  ] as const;
  for (const [{ send }, url] of others) await fails(t, send({ url }), 'unreachable', false);
});
