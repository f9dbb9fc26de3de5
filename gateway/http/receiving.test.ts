import { createHash, randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { z } from 'zod';
import { FakeClock } from '../../test/kit/clock.ts';
import {
  gauge,
  gaugeIs,
  latch,
  metricIs,
  openRaw,
  startGateway,
  type TestGatewayOptions,
  turn,
} from '../../test/kit/gateway.ts';
import { BodyLostError, type BodyStream, queueBytesMax } from './body-stream.ts';
import { type AnyRoute, type BodyKind, type RequestContext, type RouteReply, route } from './route.ts';

const mebibyte = 1024 * 1024;
const heldBytes = 'scriptorium_http_unfinished_body_bytes';

function put<const B extends BodyKind>(
  body: B,
  handle: (context: RequestContext<'public', B>) => Promise<RouteReply>,
  more: Partial<AnyRoute> = {},
): AnyRoute {
  const declared = route({
    method: 'PUT',
    path: '/v1/x',
    access: 'public',
    summary: '',
    tag: '',
    enveloped: false,
    body,
    bodyLimit: 100 * mebibyte,
    request: z.object({ size: z.coerce.number().optional() }),
    replies: {},
    handle,
  });
  return { ...declared, ...more };
}

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const digestBytes = async ({ body }: { readonly body: Buffer }): Promise<RouteReply> => ({
  status: 200,
  body: { digest: digestOf(body) },
});

async function digestStream({ body }: { readonly body: BodyStream }): Promise<RouteReply> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return { status: 200, body: { digest: hash.digest('hex') } };
}

const head = (length: number, more = '') =>
  `PUT /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${more}\r\n`;
const chunkedHead = 'PUT /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const frame = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const lastFrame = '0\r\n\r\n';

/** A gateway of one route, and its handler's errors. */
async function serve(t: ExecutionContext, one: AnyRoute, options: TestGatewayOptions = {}) {
  const errors: unknown[] = [];
  const watched: AnyRoute = {
    ...one,
    handle: async (context, request) => {
      try {
        return await one.handle(context, request);
      } catch (error) {
        errors.push(error);
        throw error;
      }
    },
  };
  const server = await startGateway(t, [watched], options);
  return { server, errors };
}

/** Opens a connection, sends, and waits for what the reply must contain. */
async function exchange(t: ExecutionContext, port: number, text: string | Buffer, expected: string) {
  const connection = await openRaw(t, port);
  connection.send(text);
  return connection.received(expected);
}

const kinds: readonly [BodyKind, AnyRoute][] = [
  ['bytes', put('bytes', digestBytes)],
  ['stream', put('stream', digestStream)],
];

for (const [kind, one] of kinds) {
  test(`${kind}: a body arrives as it was sent, in whatever pieces it came, and its memory is given back`, async (t) => {
    const { server } = await serve(t, one);
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 70_000 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), fc.boolean(), async (chunks, isDeclared, isAtOnce) => {
        const whole = Buffer.concat(chunks);
        const parts = isDeclared
          ? [head(whole.length), ...chunks]
          : [chunkedHead, ...chunks.map(frame), lastFrame];
        const connection = await openRaw(t, server.port);
        for (const part of isAtOnce ? [Buffer.concat(parts.map((each) => Buffer.from(each)))] : parts) {
          connection.send(Buffer.from(part));
          await turn();
        }
        await t.notThrowsAsync(connection.received(`{"digest":"${digestOf(whole)}"}`));
        connection.socket.destroy();
      }),
      { numRuns: 60 },
    );
    t.is(await gauge(server, heldBytes), 0);
    t.is(await gauge(server, 'scriptorium_http_requests_aborted'), 0);
  });

  test(`${kind}: the limit is the route’s own, whether the length is declared or not`, async (t) => {
    const { server } = await serve(t, { ...one, bodyLimit: 1_000 });
    const exact = randomBytes(1_000);
    await exchange(t, server.port, Buffer.concat([Buffer.from(head(1_000)), exact]), digestOf(exact));
    const tooLarge = 'The request payload is too large.';
    const declared = await exchange(t, server.port, head(1_001), tooLarge);
    const undeclared = await exchange(
      t,
      server.port,
      Buffer.concat([Buffer.from(chunkedHead), frame(exact), frame(Buffer.from('x'))]),
      tooLarge,
    );
    for (const reply of [declared, undeclared]) t.true(reply.startsWith('HTTP/1.1 413 '));
    t.is(await gauge(server, heldBytes), 0);
  });

  test(`${kind}: no body at all is an empty one`, async (t) => {
    const { server } = await serve(t, one);
    for (const more of ['', 'Content-Length: 0\r\n', 'Content-Encoding: gzip\r\n']) {
      const text = `PUT /v1/x HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
      await t.notThrowsAsync(exchange(t, server.port, text, digestOf(new Uint8Array())), more);
    }
  });
}

for (const [kind, one] of [...kinds, ['json', put('json', async () => ({ status: 204 }))] as const]) {
  test(`${kind}: an encoded body is a 415 that says so, and identity is no encoding`, async (t) => {
    const { server } = await serve(t, one);
    for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
      const reply = await exchange(t, server.port, head(2, `Content-Encoding: ${encoding}\r\n`), '}}');
      t.true(reply.startsWith('HTTP/1.1 415 Unsupported Media Type\r\n'), encoding);
      t.regex(reply, /\r\nAccept-Encoding: identity\r\n/);
    }
    const plain = await exchange(
      t,
      server.port,
      `${head(2, 'Content-Encoding: Identity\r\n')}{}`,
      '\r\n\r\n',
    );
    t.regex(plain, /^HTTP\/1.1 20[04] /);
  });
}

test('bytes: what is held counts until the handler has answered', async (t) => {
  const started = latch();
  const release = latch();
  const { server } = await serve(
    t,
    put('bytes', async (context) => {
      started.open();
      await release.promise;
      return digestBytes(context);
    }),
  );
  const body = randomBytes(100_000);
  const reply = exchange(t, server.port, Buffer.concat([Buffer.from(head(100_000)), body]), digestOf(body));
  await started.promise;
  t.is(await gauge(server, heldBytes), 100_000);
  release.open();
  await reply;
  t.is(await gauge(server, heldBytes), 0);
});

test('stream: a handler runs before the body is there, and a request that does not fit is refused then', async (t) => {
  const started = latch();
  const { server } = await serve(
    t,
    put('stream', (context) => {
      started.open();
      return digestStream(context);
    }),
  );
  const connection = await openRaw(t, server.port);
  connection.send(head(10));
  await started.promise;
  connection.send('0123456789');
  await t.notThrowsAsync(connection.received(digestOf(Buffer.from('0123456789'))));
  const misfit = head(10).replace('/v1/x', '/v1/x?size=large');
  t.true((await exchange(t, server.port, misfit, 'size must be a number.')).startsWith('HTTP/1.1 400 '));
});

test('stream: a sender that is faster than the handler is held back, and memory stays flat', async (t) => {
  const whole = Buffer.alloc(256 * mebibyte, randomBytes(1_024 * 1_024));
  const release = latch();
  let mostHeldBytes = 0;
  const { server } = await serve(
    t,
    put(
      'stream',
      async ({ body }) => {
        await release.promise;
        const hash = createHash('sha256');
        for await (const chunk of body) {
          hash.update(chunk);
          mostHeldBytes = Math.max(mostHeldBytes, await gauge(server, heldBytes));
        }
        return { status: 200, body: { digest: hash.digest('hex') } };
      },
      { bodyLimit: whole.length },
    ),
  );
  const connection = await openRaw(t, server.port);
  connection.send(head(whole.length));
  connection.send(whole);
  await gaugeIs(server, heldBytes, (bytes) => bytes >= queueBytesMax);
  const heldBackBytes = await gauge(server, heldBytes);
  // If it were not held back, the loop would take in much more in so many turns.
  for (let turns = 0; turns < 200; turns++) await turn();
  t.is(await gauge(server, heldBytes), heldBackBytes);
  t.true(connection.socket.writableLength > 0);
  release.open();
  await connection.received(digestOf(whole));
  // The system receives some megabytes ahead of us, and more if it is configured so.
  t.true(mostHeldBytes <= 64 * mebibyte, String(mostHeldBytes));
  t.is(await gauge(server, heldBytes), 0);
});

test('stream: many small pieces in one read are taken whole though the reader is held back', async (t) => {
  const release = latch();
  const { server } = await serve(
    t,
    put('stream', async (context) => {
      await release.promise;
      return digestStream(context);
    }),
  );
  const pieces = Array.from({ length: 40 }, () => randomBytes(10_000));
  const connection = await openRaw(t, server.port);
  connection.send(Buffer.concat([Buffer.from(chunkedHead), ...pieces.map(frame), Buffer.from(lastFrame)]));
  await gaugeIs(server, heldBytes, (bytes) => bytes >= queueBytesMax);
  release.open();
  await connection.received(digestOf(Buffer.concat(pieces)));
  // The server goes on reading the connection.
  connection.send(`${head(1)}a`);
  await t.notThrowsAsync(connection.received(digestOf(Buffer.from('a'))));
});

test('stream: a client that leaves is an error to the reader, and everything held is given back', async (t) => {
  const phases: readonly [name: string, bytes: number][] = [
    ['before the first byte', 0],
    ['in between', 10],
    ['with much on its way', 200_000],
  ];
  for (const [name, bytes] of phases) {
    const read = latch();
    const ended = latch<boolean>();
    const { server, errors } = await serve(
      t,
      put('stream', async ({ body, gone }) => {
        let left = bytes;
        if (left === 0) read.open();
        try {
          for await (const chunk of body) {
            left -= chunk.length;
            if (left === 0) read.open();
          }
        } finally {
          ended.open(gone.aborted);
        }
        return { status: 204 };
      }),
    );
    const connection = await openRaw(t, server.port);
    connection.send(head(300_000));
    connection.send(randomBytes(bytes));
    await read.promise;
    connection.socket.destroy();
    t.true(await ended.promise, name);
    await metricIs(server, /^scriptorium_http_requests_in_flight 0$/m);
    t.true(errors[0] instanceof BodyLostError, name);
    t.is(await gauge(server, heldBytes), 0, name);
    t.is(await gauge(server, 'scriptorium_http_requests_aborted'), 1, name);
    t.false(
      server.log.some((line) => line['level'] === 50),
      name,
    );
  }
});

test('stream: a client that leaves while it is held back is found gone when the handler reads on', async (t) => {
  const release = latch();
  const { server, errors } = await serve(
    t,
    put('stream', async (context) => {
      await release.promise;
      return digestStream(context);
    }),
  );
  const connection = await openRaw(t, server.port);
  connection.send(head(64 * mebibyte));
  connection.send(randomBytes(4 * mebibyte));
  await gaugeIs(server, heldBytes, (bytes) => bytes >= queueBytesMax);
  connection.socket.destroy();
  release.open();
  await metricIs(server, /^scriptorium_http_requests_in_flight 0$/m);
  await turn();
  t.true(errors[0] instanceof BodyLostError);
  t.is(await gauge(server, heldBytes), 0);
});

test('stream: what a handler did not read when it answers is thrown away, and the connection ends after it', async (t) => {
  for (const isHeldBack of [false, true]) {
    const release = latch();
    const { server } = await serve(
      t,
      put('stream', async ({ body }) => {
        await release.promise;
        for await (const chunk of body) return { status: 200, body: { read: chunk.length > 0 } };
        return { status: 200, body: { read: false } };
      }),
    );
    const connection = await openRaw(t, server.port);
    const body = randomBytes(8 * mebibyte);
    connection.send(head(body.length));
    connection.send(isHeldBack ? body : body.subarray(0, 10));
    await gaugeIs(server, heldBytes, (bytes) => bytes >= (isHeldBack ? queueBytesMax : 1));
    release.open();
    await connection.received('{"read":true}');
    if (!isHeldBack) connection.send(body.subarray(10));
    t.regex(await connection.ended, /\r\nConnection: close\r\n[^{]*\{"read":true\}\r\n$/);
    t.is(await gauge(server, heldBytes), 0);
  }
});

test('stream: a sender below the minimum throughput is a 408 while it is waited for, and one within it is not', async (t) => {
  const clock = new FakeClock();
  const minimumThroughput = { bytes: 100, windowMs: 10_000 };
  let readBytes = 0;
  const { server, errors } = await serve(
    t,
    put('stream', async ({ body }) => {
      for await (const chunk of body) readBytes += chunk.length;
      return { status: 204 };
    }),
    { clock, minimumThroughput },
  );
  const connection = await openRaw(t, server.port);
  connection.send(head(1_000));
  // Longer in all than a complete body or a handler may take.
  for (let window = 1; window <= 9; window++) {
    connection.send(randomBytes(100));
    while (readBytes < window * 100) await turn();
    await clock.advance(9_000);
  }
  t.regex(await server.registry.metrics(), /^scriptorium_http_requests_in_flight 1$/m);
  await clock.advance(12_000);
  t.true((await connection.ended).startsWith('HTTP/1.1 408 '));
  t.true(errors[0] instanceof BodyLostError);
  t.is(await gauge(server, heldBytes), 0);
});

test('stream: a handler that does not take what is there is answered for, one that waits for more is not', async (t) => {
  const clock = new FakeClock();
  const stuck = latch();
  let reads = 0;
  const { server } = await serve(
    t,
    put('stream', async ({ body, gone }) => {
      for await (const chunk of body) {
        reads += 1;
        if (chunk.length === 1) continue;
        stuck.open();
        await new Promise((_, reject) => {
          gone.addEventListener('abort', () => reject(gone.reason));
        });
      }
      return { status: 204 };
    }),
    { clock, requestDeadlineMs: 10_000, minimumThroughput: { bytes: 0, windowMs: 60_000 } },
  );
  const connection = await openRaw(t, server.port);
  connection.send(head(100));
  for (let waits = 1; waits <= 3; waits++) {
    connection.send('a');
    while (reads < waits) await turn();
    await clock.advance(30_000);
  }
  connection.send('bc');
  await stuck.promise;
  await clock.advance(11_000);
  t.regex(await server.registry.metrics(), /^scriptorium_http_requests_in_flight 1$/m);
  await clock.advance(2_000);
  t.true((await connection.received('}}')).startsWith('HTTP/1.1 503 '));
  t.false(server.log.some((line) => line['level'] === 50));
});

test('stream: bodies share the memory of all, and one without room is told to come back', async (t) => {
  const release = latch();
  const { server, errors } = await serve(
    t,
    put('stream', async (context) => {
      await release.promise;
      return digestStream(context);
    }),
    { bodyMemoryBytes: 100_000 },
  );
  const waiting = await openRaw(t, server.port);
  waiting.send(head(mebibyte));
  // Either is small enough to arrive at once, before anything is held back.
  waiting.send(randomBytes(60_000));
  await gaugeIs(server, heldBytes, (bytes) => bytes >= 60_000);
  const body = randomBytes(45_000);
  const request = Buffer.concat([Buffer.from(head(body.length)), body]);
  const other = await openRaw(t, server.port);
  other.send(request);
  // Data sent within one machine has arrived after a few turns of the loop.
  for (let turns = 0; turns < 50; turns++) await turn();
  release.open();
  const refused = await other.received('Please try again.');
  t.true(refused.startsWith('HTTP/1.1 503 '));
  t.regex(refused, /\r\nRetry-After: 2\r\n/);
  t.true(errors[0] instanceof BodyLostError);
  waiting.socket.destroy();
  await gaugeIs(server, heldBytes, (bytes) => bytes === 0);
  await t.notThrowsAsync(exchange(t, server.port, request, digestOf(body)));
});
