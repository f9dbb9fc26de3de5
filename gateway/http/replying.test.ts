import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { UnavailableError } from '../../runtime/errors.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import {
  gauge,
  gaugeIs,
  latch,
  metricIs,
  openRaw,
  startGateway,
  type TestGateway,
  turn,
} from '../../test/kit/gateway.ts';
import { rangedReply } from './ranges.ts';
import { type AnyRoute, type RequestContext, type RouteReply, route } from './route.ts';

const mebibyte = 1024 * 1024;
const unsentBytes = 'scriptorium_http_unsent_reply_bytes';
const roomBytes = 'scriptorium_http_reply_room_bytes';

const get = (
  handle: (context: RequestContext<'public'>) => Promise<RouteReply>,
  more: Partial<AnyRoute> = {},
): AnyRoute => ({
  ...route({
    method: 'GET',
    path: '/v1/x',
    access: 'public',
    summary: '',
    tag: '',
    request: z.object({}),
    safe: true,
    replies: {},
    handle,
  }),
  ...more,
});

const requestText = (method = 'GET') => `${method} /v1/x HTTP/1.1\r\nHost: a\r\n\r\n`;
const plain = { status: 200, contentType: 'text/plain' } as const;

/** A reply of these chunks, of known length or not. */
const streamOf = (chunks: readonly Uint8Array[], isSized: boolean): RouteReply => ({
  ...plain,
  stream: {
    async *open() {
      yield* chunks;
    },
    ...(isSized && { lengthBytes: Buffer.concat(chunks).length }),
  },
});

/** Records whether a stream was opened, how many chunks were read from it, and whether it was closed. */
class Source {
  chunks = 0;
  isOpen = false;
  isClosed = false;
  readonly #next: (chunks: number) => Promise<Uint8Array | undefined>;

  constructor(next: (chunks: number) => Promise<Uint8Array | undefined>) {
    this.#next = next;
  }

  readonly open = async function* (this: Source): AsyncGenerator<Uint8Array> {
    this.isOpen = true;
    try {
      for (;;) {
        this.chunks += 1;
        const chunk = await this.#next(this.chunks);
        if (chunk === undefined) return;
        yield chunk;
      }
    } finally {
      this.isClosed = true;
    }
  }.bind(this);
}

const kibibytes64 = randomBytes(64 * 1024);
const endless = () => new Source(async () => kibibytes64);

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const failures = ({ log }: TestGateway) => log.filter((line) => line['level'] === 50);

/** Reads as much as it is told, and no more. */
function openReader(t: ExecutionContext, port: number) {
  const socket = connect({ host: '127.0.0.1', port });
  t.teardown(() => socket.destroy());
  const hash = createHash('sha256');
  let bytes = 0;
  let headText = '';
  socket.pause();
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    if (headText.includes('\r\n\r\n')) {
      hash.update(chunk);
      return;
    }
    headText += chunk.toString('latin1');
    const end = headText.indexOf('\r\n\r\n');
    if (end >= 0) hash.update(Buffer.from(headText.slice(end + 4), 'latin1'));
  });
  socket.write(requestText().replace('Host', 'Connection: close\r\nHost'));
  return {
    socket,
    digest: () => hash.digest('hex'),
    head: () => headText.slice(0, headText.indexOf('\r\n\r\n')),
    /** Reads this much more, or to the end. */
    async read(more: number): Promise<void> {
      const until = bytes + more;
      socket.resume();
      while (bytes < until && !socket.closed) await turn();
      socket.pause();
    },
  };
}

for (const [status, line] of [
  [411, '411 Length Required'],
  [422, '422 Unprocessable Entity'],
  [498, '498 Invalid Token'],
  [501, '501 Not Implemented'],
  [507, '507 Insufficient Storage'],
] as const) {
  test(`a reply of status ${status} names it in its first line`, async (t) => {
    const { port } = await startGateway(t, [get(async () => ({ ...plain, status, body: '' }))]);
    const connection = await openRaw(t, port);
    connection.send(requestText());
    t.true((await connection.received('\r\n')).startsWith(`HTTP/1.1 ${line}\r\n`));
  });
}

test('bytes go out as they are, under a type of their own', async (t) => {
  const bytes = randomBytes(300_000);
  const { url } = await startGateway(t, [
    get(async () => ({ status: 200, bytes })),
    get(async () => ({ status: 207, bytes, contentType: 'application/xml; charset=utf-8' }), {
      path: '/v1/xml',
    }),
  ]);
  const response = await fetch(`${url}/v1/x`);
  t.is(response.headers.get('content-type'), 'application/octet-stream');
  t.is(response.headers.get('content-length'), '300000');
  t.true(Buffer.from(await response.arrayBuffer()).equals(bytes));
  const xml = await fetch(`${url}/v1/xml`);
  t.deepEqual([xml.status, xml.statusText], [207, 'Multi-Status']);
  t.is(xml.headers.get('content-type'), 'application/xml; charset=utf-8');
});

test('a reply of its own headers replaces those that all have, and says none twice', async (t) => {
  const { port } = await startGateway(t, [
    get(async () => ({ ...streamOf([kibibytes64], true), headers: { 'cache-control': 'no-cache' } })),
  ]);
  const connection = await openRaw(t, port);
  connection.send(requestText());
  const head = await connection.received('\r\n\r\n');
  t.deepEqual(head.match(/cache-control: .*/gi), ['cache-control: no-cache']);
});

for (const isSized of [true, false]) {
  const kind = isSized ? 'of known length' : 'of unknown length';

  test(`a stream ${kind} arrives whole, and the connection goes on`, async (t) => {
    const chunks = [
      randomBytes(3),
      randomBytes(0),
      randomBytes(200_000),
      randomBytes(1),
      randomBytes(70_000),
    ];
    const { port } = await startGateway(t, [get(async () => streamOf(chunks, isSized))]);
    const connection = await openRaw(t, port);
    const whole = Buffer.concat(chunks).toString('latin1');
    for (let round = 1; round <= 2; round++) {
      connection.send(requestText());
      const end = isSized ? whole.slice(-100) : '\r\n0\r\n\r\n';
      while ((await connection.received(end)).split(end).length <= round) await turn();
    }
    const url = `http://127.0.0.1:${port}/v1/x`;
    const response = await fetch(url);
    t.is(response.headers.get('content-length'), isSized ? '270004' : null);
    t.is(response.headers.get('cache-control'), 'no-store');
    t.is(Buffer.from(await response.arrayBuffer()).toString('latin1'), whole);
  });

  test(`a stream ${kind} that is empty is an empty reply`, async (t) => {
    const { url } = await startGateway(t, [get(async () => streamOf([], isSized))]);
    const response = await fetch(`${url}/v1/x`);
    t.is(response.headers.get('content-length'), '0');
    t.is(await response.text(), '');
  });

  test(`a stream ${kind} goes to a slow reader as it takes it, and memory stays flat`, async (t) => {
    const totalBytes = 64 * mebibyte;
    const hash = createHash('sha256');
    const source = new Source(async (chunks) => {
      if (chunks > totalBytes / kibibytes64.length) return undefined;
      hash.update(kibibytes64);
      return kibibytes64;
    });
    const server = await startGateway(t, [
      get(async () => ({
        ...plain,
        stream: { open: source.open, ...(isSized && { lengthBytes: totalBytes }) },
      })),
    ]);
    const reader = openReader(t, server.port);
    let pauses = 0;
    while (!source.isClosed) {
      // It takes a while until the system accepts no more.
      for (let chunks = -1; chunks < source.chunks && !source.isClosed; ) {
        ({ chunks } = source);
        for (let turns = 0; turns < 20; turns++) await turn();
      }
      if (source.isClosed) break;
      const unsent = await gauge(server, unsentBytes);
      t.true(unsent > 0 && unsent <= kibibytes64.length, String(unsent));
      pauses += 1;
      await reader.read(8 * mebibyte);
    }
    t.true(pauses >= 2, String(pauses));
    await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 0);
    t.is(await gauge(server, unsentBytes), 0);
    await reader.read(Number.POSITIVE_INFINITY);
    if (isSized) t.is(reader.digest(), hash.digest('hex'));
  });

  test(`a stream ${kind} that fails in the middle breaks the connection, so that nobody takes it for whole`, async (t) => {
    const source = new Source(async (chunks) => {
      if (chunks === 1) return Buffer.from('begun');
      await begun.promise;
      throw new Error('the disk is gone');
    });
    const begun = latch();
    const server = await startGateway(t, [
      get(async () => ({ ...plain, stream: { open: source.open, ...(isSized && { lengthBytes: 100 }) } })),
    ]);
    const connection = await openRaw(t, server.port);
    connection.send(requestText());
    await connection.received('begun');
    begun.open();
    t.false((await connection.ended).includes('\r\n0\r\n\r\n'));
    t.true(source.isClosed);
    t.is(failures(server).length, 1);
    t.is(await gauge(server, 'scriptorium_http_replies_cut'), 1);
    t.is(await gauge(server, 'scriptorium_http_requests_aborted'), 0);
    t.is(await gauge(server, 'scriptorium_http_requests_in_flight'), 0);
  });
}

test('a source that fails before its first chunk is answered like a handler that does', async (t) => {
  const failing = (error: Error) =>
    get(async () => ({ ...plain, stream: { open: new Source(() => Promise.reject(error)).open } }));
  const server = await startGateway(t, [
    failing(new TypeError('defect')),
    { ...failing(new UnavailableError('no store', 4_000)), path: '/v1/away' },
  ]);
  const defect = await fetch(`${server.url}/v1/x`);
  t.is(defect.status, 500);
  t.false((await defect.text()).includes('defect'));
  const away = await fetch(`${server.url}/v1/away`);
  t.deepEqual([away.status, away.headers.get('retry-after')], [503, '4']);
  t.is(failures(server).length, 1);
});

test('a stream that is not as long as it said is cut, before its reader gets more than it was told', async (t) => {
  for (const lengthBytes of [9, 11]) {
    const server = await startGateway(t, [
      get(async () => {
        const { stream } = streamOf([Buffer.from('01234'), Buffer.from('56789')], true);
        return { ...plain, stream: { open: stream?.open ?? t.fail, lengthBytes } } as RouteReply;
      }),
    ]);
    const connection = await openRaw(t, server.port);
    connection.send(requestText());
    const [, body = ''] = (await connection.ended).split('\r\n\r\n');
    t.true(body.length < lengthBytes && '0123456789'.startsWith(body), body);
    t.is(failures(server).length, 1);
    t.is(await gauge(server, 'scriptorium_http_replies_cut'), 1);
  }
});

test('HEAD of a stream has its head and never opens it', async (t) => {
  for (const lengthBytes of [5_000_000_000, undefined]) {
    const source = endless();
    const { port } = await startGateway(t, [
      get(async () => ({ ...plain, stream: { open: source.open, ...(lengthBytes && { lengthBytes }) } })),
    ]);
    const connection = await openRaw(t, port);
    connection.send(requestText('HEAD'));
    const reply = await connection.received('\r\n\r\n');
    t.true(reply.startsWith('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'));
    t.deepEqual(reply.match(/content-length: .*/gi), lengthBytes ? [`Content-Length: ${lengthBytes}`] : null);
    t.false(source.isOpen);
    connection.send(requestText('HEAD'));
    await t.notThrowsAsync(connection.received(`${reply}HTTP/1.1 200 OK`));
  }
});

test('HEAD of what reading uses up leaves it alone, by a 405 or a route of its own', async (t) => {
  let reads = 0;
  const once = get(async () => {
    reads += 1;
    return reads === 1 ? { status: 200, body: {} } : { status: 404, body: {} };
  });
  const { safe, ...consuming } = once;
  t.true(safe);
  const peek: AnyRoute = {
    ...consuming,
    method: 'HEAD',
    path: '/v1/peeked',
    handle: async () => ({ status: 200, body: { there: reads === 0 } }),
  };
  const { url } = await startGateway(t, [consuming, { ...consuming, path: '/v1/peeked' }, peek]);
  const refused = await fetch(`${url}/v1/x`, { method: 'HEAD' });
  t.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, OPTIONS']);
  const peeked = await fetch(`${url}/v1/peeked`, { method: 'HEAD' });
  t.is(peeked.status, 200);
  t.is(await peeked.text(), '');
  t.is(reads, 0);
  t.is((await fetch(`${url}/v1/x`)).status, 200);
});

test('a client that leaves ends the stream in whatever phase it is', async (t) => {
  const phases: Record<string, (context: RequestContext<'public'>) => Source> = {
    'before the first chunk': ({ gone }) => new Source(() => aborted(gone)),
    'while the source is waited for': ({ gone }) =>
      new Source((chunks) => (chunks === 1 ? Promise.resolve(kibibytes64) : aborted(gone))),
    'while the reader is behind': () => endless(),
  };
  for (const [name, sourceOf] of Object.entries(phases)) {
    const started = latch<Source>();
    const server = await startGateway(t, [
      get(async (context) => {
        const source = sourceOf(context);
        started.open(source);
        return { ...plain, stream: { open: source.open } };
      }),
    ]);
    const reader = openReader(t, server.port);
    const source = await started.promise;
    if (name === 'while the reader is behind') await gaugeIs(server, unsentBytes, (bytes) => bytes > 0);
    else while (source.chunks < (name.startsWith('before') ? 1 : 2)) await turn();
    reader.socket.destroy();
    await metricIs(server, /^scriptorium_http_requests_aborted 1$/m);
    while (!source.isClosed) await turn();
    t.is(await gauge(server, unsentBytes), 0, name);
    t.is(await gauge(server, 'scriptorium_http_requests_in_flight'), 0, name);
    t.deepEqual(failures(server), [], name);
  }
});

test('a client that leaves before the answer is told to a handler that listens', async (t) => {
  const started = latch();
  const notified = latch<boolean>();
  const server = await startGateway(t, [
    get(async ({ gone }) => {
      started.open();
      await aborted(gone).catch(() => notified.open(gone.aborted));
      throw gone.reason;
    }),
  ]);
  const reader = openReader(t, server.port);
  await started.promise;
  reader.socket.destroy();
  t.true(await notified.promise);
  await turn();
  t.deepEqual(failures(server), []);
});

test('a reader that keeps still is cut after a while, and one that only has nothing to read is not', async (t) => {
  const clock = new FakeClock();
  const minimumThroughput = { bytes: 1_000, windowMs: 10_000 };
  const source = endless();
  const quiet = new Source((chunks) =>
    chunks === 1 ? Promise.resolve(Buffer.from('event')) : new Promise(() => {}),
  );
  const server = await startGateway(
    t,
    [
      get(async () => ({ ...plain, stream: { open: source.open } })),
      get(async () => ({ ...plain, stream: { open: quiet.open } }), { path: '/v1/quiet', deadline: 'own' }),
    ],
    { clock, minimumThroughput },
  );
  const listener = await openRaw(t, server.port);
  listener.send('GET /v1/quiet HTTP/1.1\r\nHost: a\r\n\r\n');
  await listener.received('event');
  openReader(t, server.port);
  await gaugeIs(server, unsentBytes, (bytes) => bytes > 0);
  await clock.advance(9_000);
  t.is(await gauge(server, 'scriptorium_http_replies_cut'), 0);
  await clock.advance(3_000);
  t.is(await gauge(server, 'scriptorium_http_replies_cut'), 1);
  while (!source.isClosed) await turn();
  await clock.advance(300_000);
  t.is(await gauge(server, 'scriptorium_http_requests_in_flight'), 1);
  t.is(await gauge(server, unsentBytes), 0);
});

test('a source that does not go on is cut after the time of a request, unless the route has its own', async (t) => {
  for (const more of [{}, { deadline: 'own' }] as const) {
    const clock = new FakeClock();
    const stuck = new Source((chunks) =>
      chunks === 1 ? Promise.resolve(Buffer.from('begun')) : new Promise(() => {}),
    );
    const server = await startGateway(
      t,
      [get(async () => ({ ...plain, stream: { open: stuck.open } }), more)],
      { clock, requestDeadlineMs: 10_000 },
    );
    const connection = await openRaw(t, server.port);
    connection.send(requestText());
    await connection.received('begun');
    await clock.advance(11_000);
    t.is(await gauge(server, 'scriptorium_http_requests_in_flight'), 1);
    await clock.advance(2_000);
    t.is(await gauge(server, 'scriptorium_http_replies_cut'), 'deadline' in more ? 0 : 1);
  }
});

test('a handler with a deadline of its own may take longer than a request', async (t) => {
  const clock = new FakeClock();
  const started = latch();
  const release = latch();
  const patient = get(
    async () => {
      started.open();
      await release.promise;
      return { status: 200, body: {} };
    },
    { deadline: 'own' },
  );
  const { url } = await startGateway(t, [patient], { clock, requestDeadlineMs: 1_000 });
  const answer = fetch(`${url}/v1/x`);
  await started.promise;
  await clock.advance(600_000);
  release.open();
  t.is((await answer).status, 200);
});

test('strangers who are slow share half of the memory of replies, and the one that kept still the longest is cut for the others', async (t) => {
  const sources: Source[] = [];
  const server = await startGateway(
    t,
    [
      get(async () => {
        const source = endless();
        sources.push(source);
        return { ...plain, stream: { open: source.open } };
      }),
    ],
    { replyMemoryBytes: 5 * kibibytes64.length },
  );
  const readers = [];
  for (let count = 1; count <= 3; count++) {
    readers.push(openReader(t, server.port));
    await gaugeIs(server, unsentBytes, (bytes) => bytes > (Math.min(count, 2) - 1) * kibibytes64.length);
    while (sources.length < count) await turn();
  }
  await metricIs(server, /^scriptorium_http_replies_cut 1$/m);
  t.deepEqual(
    sources.map(({ isClosed }) => isClosed),
    [true, false, false],
  );
  t.true((await gauge(server, unsentBytes)) <= 2.5 * kibibytes64.length);
});

test('a reply that has room is not cut, whatever others hold, and gives its room back when it is over', async (t) => {
  const sources: Source[] = [];
  const server = await startGateway(
    t,
    [
      get(async (context) => {
        t.true(await context.reserveReply(kibibytes64.length));
        const source = endless();
        sources.push(source);
        return { ...plain, stream: { open: source.open } };
      }),
    ],
    { replyMemoryBytes: kibibytes64.length },
  );
  const readers = [1, 2, 3].map(() => openReader(t, server.port));
  await gaugeIs(server, roomBytes, (bytes) => bytes === 3 * kibibytes64.length);
  const chunksAsked = () => sources.reduce((sum, { chunks }) => sum + chunks, 0);
  for (let before = -1; before < chunksAsked(); ) {
    before = chunksAsked();
    for (let turns = 0; turns < 20; turns++) await turn();
  }
  t.deepEqual(
    sources.map(({ isClosed }) => isClosed),
    [false, false, false],
  );
  t.is(await gauge(server, 'scriptorium_http_replies_cut'), 0);
  for (const { socket } of readers) socket.destroy();
  await gaugeIs(server, roomBytes, (bytes) => bytes === 0);
});

test('a whole reply that its reader does not take counts in the memory of replies, until it does', async (t) => {
  const bytes = randomBytes(32 * mebibyte);
  const server = await startGateway(t, [get(async () => ({ status: 200, bytes }))]);
  const reader = openReader(t, server.port);
  await gaugeIs(server, unsentBytes, (held) => held > 8 * mebibyte && held < bytes.length);
  await Promise.all([
    reader.read(bytes.length + 10),
    gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 0),
  ]);
  t.is(await gauge(server, unsentBytes), 0);
});

test('a drain tells what would go on for long, which ends in order', async (t) => {
  const events = get(
    async ({ stopping }) => ({
      status: 200,
      contentType: 'text/event-stream',
      headers: { 'Cache-Control': 'no-cache, no-transform' },
      stream: {
        async *open() {
          yield Buffer.from('data: one\n\n');
          await aborted(stopping).catch(() => {});
          yield Buffer.from('data: the server is about to restart\n\n');
        },
      },
    }),
    { deadline: 'own' },
  );
  const { gateway, port } = await startGateway(t, [events]);
  const connection = await openRaw(t, port);
  connection.send(requestText());
  await connection.received('data: one\n\n');
  await gateway.drain();
  const reply = await connection.ended;
  t.regex(reply, /data: the server is about to restart\n\n\r\n0\r\n\r\n$/);
});

test('a drain waits for a stream that goes on, and breaks it off when its time is over', async (t) => {
  const clock = new FakeClock();
  const source = new Source((chunks) =>
    chunks === 1 ? Promise.resolve(Buffer.from('begun')) : new Promise(() => {}),
  );
  const { gateway, port } = await startGateway(
    t,
    [get(async () => ({ ...plain, stream: { open: source.open } }))],
    { clock, drainTimeoutMs: 10_000 },
  );
  const connection = await openRaw(t, port);
  connection.send(requestText());
  await connection.received('begun');
  let isDrained = false;
  const drained = gateway.drain().then(() => {
    isDrained = true;
  });
  await clock.advance(9_000);
  t.false(isDrained);
  await clock.advance(1_000);
  await drained;
  t.false((await connection.ended).includes('0\r\n\r\n'));
});

test('a stream that begins in a drain says that it is the last on its connection', async (t) => {
  const first = latch();
  const { gateway, port } = await startGateway(t, [
    get(async ({ stopping }) => {
      first.open();
      await aborted(stopping).catch(() => {});
      return streamOf([Buffer.from('last')], true);
    }),
  ]);
  const connection = await openRaw(t, port);
  connection.send(requestText());
  await first.promise;
  await gateway.drain();
  t.regex(await connection.ended, /\r\nConnection: close\r\n.*\r\n\r\nlast$/s);
});

test('ranges are honoured with what a client needs to go on', async (t) => {
  const file = randomBytes(10_000);
  const files = get(
    async (context) =>
      rangedReply(context.header('range'), {
        sizeBytes: file.length,
        mediaType: 'application/octet-stream',
        partBytesMax: 4_000,
        async *open({ first, last }) {
          for (let at = first; at <= last; at += 1_000)
            yield file.subarray(at, Math.min(at + 1_000, last + 1));
        },
      }),
    { headers: ['range'], enveloped: false },
  );
  const { url } = await startGateway(t, [files]);
  const ask = (range?: string, method = 'GET') =>
    fetch(`${url}/v1/x`, { method, headers: range === undefined ? {} : { range } });
  const got: Uint8Array[] = [];
  for (let start = 0; start < file.length; ) {
    const part = await ask(`bytes=${start}-`);
    t.is(part.status, 206);
    t.is(part.statusText, 'Partial Content');
    t.is(part.headers.get('accept-ranges'), 'bytes');
    const [, first, last, total] =
      /^bytes (\d+)-(\d+)\/(\d+)$/.exec(part.headers.get('content-range') ?? '') ?? [];
    const bytes = new Uint8Array(await part.arrayBuffer());
    t.deepEqual([Number(first), Number(last), Number(total)], [start, start + bytes.length - 1, file.length]);
    got.push(bytes);
    start += bytes.length;
  }
  t.true(Buffer.concat(got).equals(file));
  const whole = await ask();
  t.is(whole.status, 200);
  t.true(Buffer.from(await whole.arrayBuffer()).equals(file));
  const head = await ask('bytes=9990-', 'HEAD');
  t.deepEqual([head.status, head.headers.get('content-length')], [206, '10']);
  const behind = await ask('bytes=10000-');
  t.deepEqual([behind.status, behind.headers.get('content-range')], [416, 'bytes */10000']);
  t.deepEqual(await behind.json(), { error: { message: 'The range of the request lies behind the end.' } });
  t.is((await ask('bytes=1-2,4-5')).status, 400);
});
