import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { livingBytes } from '../../test/kit/garbage.ts';
import { OutboundError, type OutboundFailure, type OutboundStreamRequest } from './http.ts';
import { createOutboundHttp } from './node-http.ts';

type RequestHandler = (response: ServerResponse, request: IncomingMessage) => void;

async function started(t: ExecutionContext, answer: RequestHandler) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(response, request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const open = (changes: Partial<OutboundStreamRequest> = {}) =>
    createOutboundHttp({ clock }).open({
      destination: 'fixed',
      url: `http://127.0.0.1:${port}/`,
      timeoutMs: 60_000,
      idleTimeoutMs: 1_000,
      answerBytesMax: 100_000,
      ...changes,
    });
  return { clock, open };
}

async function fails(t: ExecutionContext, work: Promise<unknown>, failure: OutboundFailure): Promise<void> {
  const error = await t.throwsAsync(work, { instanceOf: OutboundError });
  t.is(error.failure, failure);
}

async function all(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

const closed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.on('close', () => resolve());
  });

/** Writes as fast as it is read. */
function writeForever(response: ServerResponse, chunk: string, wrote: (bytes: number) => void): void {
  const more = () => {
    while (!response.destroyed && response.write(chunk)) wrote(chunk.length);
  };
  response.on('drain', more);
  more();
}

test('an answer is read while it comes', async (t) => {
  const responses: ServerResponse[] = [];
  const { open } = await started(t, (response) => {
    responses.push(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('one');
  });
  const { status, headers, chunks } = await open();
  t.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream']);
  const iterator = chunks[Symbol.asyncIterator]();
  t.is(String((await iterator.next()).value), 'one');
  responses[0]?.end('two');
  t.is(String((await iterator.next()).value), 'two');
  t.true((await iterator.next()).done);
});

test('a redirect is an answer like any other', async (t) => {
  const { open } = await started(t, (response) => response.writeHead(307, { location: '/next' }).end());
  t.is((await open()).status, 307);
});

test('a server that is silent too long has failed, before its head and after it', async (t) => {
  const hung = await started(t, () => {});
  const opened = hung.open();
  const failed = fails(t, opened, 'timeout');
  await hung.clock.advance(1_000);
  await failed;

  const { open, clock } = await started(t, (response) => response.writeHead(200).write('one'));
  const iterator = (await open()).chunks[Symbol.asyncIterator]();
  await iterator.next();
  const silent = fails(t, iterator.next(), 'timeout');
  await clock.advance(1_000);
  await silent;
});

test('nobody is silent while nobody listens, but for the whole there is a time', async (t) => {
  const { open, clock } = await started(t, (response) => response.writeHead(200).end('one'));
  const { chunks } = await open();
  await clock.advance(30_000);
  t.is(await all(chunks), 'one');

  const late = await open();
  await clock.advance(60_000);
  await fails(t, all(late.chunks), 'timeout');
});

test('a reader that stops also stops the server: nothing piles up in between', async (t) => {
  let sentBytes = 0;
  const { open } = await started(t, (response) =>
    writeForever(response, 'x'.repeat(16_384), (bytes) => {
      sentBytes += bytes;
    }),
  );
  const abort = new AbortController();
  const { chunks } = await open({ answerBytesMax: 1e12, signal: abort.signal });
  await chunks[Symbol.asyncIterator]().next();
  let before = -1;
  while (before !== sentBytes) {
    before = sentBytes;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.true(sentBytes < 16 * 1_048_576, `${sentBytes}`);
  abort.abort();
});

test('an endless answer is taken up to its bound, unpacked', async (t) => {
  const { open } = await started(t, (response) => {
    response.setHeader('content-encoding', 'gzip');
    const bomb = createGzip();
    bomb.pipe(response);
    response.on('close', () => bomb.destroy());
    bomb.on('error', () => {});
    for (let megabytes = 0; megabytes < 16; megabytes += 1) bomb.write(Buffer.alloc(1_048_576));
  });
  await fails(t, all((await open()).chunks), 'too-large');
});

test('an answer that breaks off has not ended', async (t) => {
  const { open } = await started(t, (response) => {
    response.writeHead(200).write('one');
    setImmediate(() => response.socket?.destroy());
  });
  await fails(t, all((await open()).chunks), 'broken');
});

test('a reader that leaves, or stops half-way, ends the request at the server', async (t) => {
  const responses: ServerResponse[] = [];
  const { open } = await started(t, (response) => {
    responses.push(response);
    response.writeHead(200).write('one');
  });
  const abort = new AbortController();
  const { chunks } = await open({ signal: abort.signal });
  const iterator = chunks[Symbol.asyncIterator]();
  await iterator.next();
  const left = closed(responses[0] as ServerResponse);
  const failed = fails(t, iterator.next(), 'aborted');
  abort.abort();
  await failed;
  await left;

  for await (const _ of (await open()).chunks) break;
  await closed(responses[1] as ServerResponse);
  t.pass();
});

test('an answer that nobody reads leaves no timer once its caller has left, nor does one that was read', async (t) => {
  const { clock, open } = await started(t, (response) => response.writeHead(500).end('x'));
  const leave = new AbortController();
  await open({ signal: leave.signal });
  leave.abort();
  t.is(clock.timers, 0);
  t.is(await all((await open({ signal: new AbortController().signal })).chunks), 'x');
  t.is(clock.timers, 0);
});

test('a request is not kept in memory while its answer lasts', async (t) => {
  const { open } = await started(t, (response) => response.writeHead(200).write('x'));
  const leave = new AbortController();
  const sent = () => JSON.stringify({ text: 'x'.repeat(64 * 1_048_576) });
  const ask = () => open({ method: 'POST', body: sent(), signal: leave.signal, timeoutMs: 600_000 });
  const beforeBytes = await livingBytes();
  const { chunks } = await ask();
  const iterator = chunks[Symbol.asyncIterator]();
  await iterator.next();
  const keptBytes = (await livingBytes()) - beforeBytes;
  t.true(keptBytes < 32 * 1_048_576, `${keptBytes} bytes`);
  leave.abort();
});
