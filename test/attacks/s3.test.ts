/** An S3 that is slow, hangs, breaks off or lies, while an account uploads and downloads as much as it may. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { openS3 } from '../../actors/files/s3.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { content, nameOf, names, read, write } from '../files/blobs.ts';
import { failsWith } from '../files/contract.ts';
import { FakeClock } from '../kit/clock.ts';
import { ciphertext, RemoteFile } from '../kit/files.ts';
import { gauge, gaugeIs } from '../kit/gateway.ts';
import { note } from '../kit/items.ts';
import { memoryLogger } from '../kit/memory-logger.ts';
import { reset } from '../kit/reset.ts';
import { s3Credentials, s3Region } from '../kit/s3-server.ts';
import { startServer } from '../kit/server.ts';

const mebibyte = 1_048_576;
const heldBytes = 'scriptorium_http_unfinished_body_bytes';
const transfers = 16;
const chunkBytes = 5_000_017;
/** Text of the other side, which must appear nowhere. */
const marker = 'text-of-the-upstream';

type Fault = (request: IncomingMessage, response: ServerResponse, s3: HostileS3) => void;

/** Serves blobs by their paths, until a fault replaces its answer. */
class HostileS3 {
  readonly blobs = new Map<string, Buffer>();
  fault: Fault | undefined;
  /** The number of faults. */
  sentBytes = 0;

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.fault !== undefined) this.fault(request, response, this);
    else if (request.method === 'PUT') void this.#put(request, response);
    else this.#get(request, response);
  }

  async #put(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeContinue();
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    this.blobs.set(pathOf(request), Buffer.concat(pieces));
    response.end();
  }

  #get(request: IncomingMessage, response: ServerResponse): void {
    const part = this.rangeOf(request);
    response.writeHead(206, { 'content-length': part.length }).end(part);
  }

  rangeOf(request: IncomingMessage): Buffer {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    return (this.blobs.get(pathOf(request)) ?? Buffer.alloc(0)).subarray(Number(from), Number(to) + 1);
  }
}

const pathOf = ({ url = '' }: IncomingMessage) => new URL(url, 'http://s3.test').pathname;

async function startHostileS3(t: ExecutionContext, clock: Clock) {
  const s3 = new HostileS3();
  const server = createServer((request, response) => s3.answer(request, response));
  server.on('checkContinue', (request, response) => s3.answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bucket = { region: s3Region, bucket: 'files', isPathStyle: true };
  const store = openS3({ endpoint, ...bucket, ...s3Credentials, clock });
  t.teardown(async () => {
    await store.close();
    server.closeAllConnections();
    server.close();
  });
  return { s3, store };
}

async function startWithHostileS3(t: ExecutionContext) {
  const clock = new FakeClock();
  const { s3, store } = await startHostileS3(t, clock);
  const { lines, logger } = memoryLogger();
  const server = await startServer(t, { fileStore: store, host: { clock, logger } });
  return { s3, server, logged: () => `${lines.join('\n')}\n${JSON.stringify(server.log)}` };
}

const hangs: Fault = () => {};

/** An answer with this status that never ends. */
const endless =
  (status: number): Fault =>
  (_request, response, s3) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.write(`<Error><Code>Odd</Code><Message>${marker}`);
    const piece = Buffer.alloc(65_536, 'x');
    const pour = () => {
      while (!response.destroyed) {
        s3.sentBytes += piece.length;
        if (!response.write(piece)) {
          response.once('drain', pour);
          return;
        }
      }
    };
    pour();
  };

const says =
  (status: number, text: string): Fault =>
  (_request, response) =>
    response.writeHead(status, { 'content-length': text.length, connection: 'close' }).end(text);

const errorText = (code: string) => `<Error><Code>${code}</Code><Message>${marker}</Message></Error>`;

const truncates: Fault = (request, response, s3) => {
  const part = s3.rangeOf(request);
  response.writeHead(206, { 'content-length': part.length });
  response.write(part.subarray(0, Math.ceil(part.length / 3)), () => reset(request.socket));
};

const givesLess: Fault = (request, response, s3) => {
  const part = s3.rangeOf(request).subarray(1);
  response.writeHead(206, { 'content-length': part.length }).end(part);
};

const givesMore: Fault = (request, response, s3) => {
  const part = Buffer.concat([s3.rangeOf(request), Buffer.from(marker)]);
  response.writeHead(206, { 'content-length': part.length }).end(part);
};

test('an answer without end is read up to a few mebibytes, whatever was asked', async (t) => {
  const { s3, store } = await startHostileS3(t, systemClock);
  for (const [status, work] of [
    [500, () => write(store, nameOf(1), content(10))],
    [200, () => write(store, nameOf(1), content(10))],
    [403, () => read(store, nameOf(1), 0, 1)],
    [200, () => names(store)],
    [200, () => store.remove([nameOf(1)])],
  ] as const) {
    s3.fault = endless(status);
    s3.sentBytes = 0;
    await failsWith(t, 'unavailable', work);
    t.log(`${status}: ${(s3.sentBytes / mebibyte).toFixed(0)} MiB sent`);
    // For three tries, including the system's own buffers for each.
    t.true(s3.sentBytes < 64 * mebibyte);
  }
});

test('an error of the store says a status and a code, and nothing else that S3 wrote', async (t) => {
  const { s3, store } = await startHostileS3(t, systemClock);
  for (const [status, text] of [
    [403, errorText('AccessDenied')],
    [404, errorText('NoSuchKey')],
    [403, errorText(`${marker} &lt;b&gt;`)],
    [200, marker],
    [400, marker],
  ] as const) {
    s3.fault = says(status, text);
    for (const work of [() => read(store, nameOf(1), 0, 1), () => store.remove([nameOf(1)])]) {
      const error = await t.throwsAsync(work);
      t.notRegex(inspect(error, { depth: 10, showHidden: true }), new RegExp(marker));
    }
  }
});

test('nothing that S3 writes reaches an answer or the log', async (t) => {
  const { s3, server, logged } = await startWithHostileS3(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  const token = await file.token('read');
  const upload = new RemoteFile(file.device);
  const writing = await upload.token('write', 83);
  await upload.open(writing);
  for (const [status, code] of [
    [404, 'NoSuchKey'],
    [403, 'AccessDenied'],
    [403, marker],
    [507, 'XMinioStorageFull'],
  ] as const) {
    s3.fault = says(status, errorText(code));
    for (const answer of [
      await file.read(token, 'bytes=0-'),
      await upload.chunk(writing, 1, ciphertext(100)),
    ]) {
      t.true([500, 503, 507].includes(answer.status), `${answer.status}`);
      t.false(answer.bytes.toString().includes(marker));
    }
  }
  t.false(logged().includes(marker));
});

test('an S3 that breaks off or lies about lengths never makes a download that looks whole', async (t) => {
  const { s3, server } = await startWithHostileS3(t);
  const bytes = ciphertext(chunkBytes);
  const file = new RemoteFile(await server.device());
  await file.upload(bytes);
  for (const fault of [truncates, givesLess, givesMore]) {
    const token = await file.token('read');
    s3.fault = fault;
    const got = await file.read(token, 'bytes=0-', chunkBytes).catch(() => undefined);
    // Three interrupted attempts may have sent all of it by then.
    if (got?.status === 206) t.true(bytes.equals(got.bytes));
    else t.true(got === undefined || got.status >= 500, `${got?.status}`);
  }
  s3.fault = undefined;
  t.true(bytes.equals(await file.download(chunkBytes)));
});

test('while S3 hangs, an account that uploads and downloads all it may holds no more than its share, and keeps nobody', async (t) => {
  const { s3, server } = await startWithHostileS3(t);
  const hoarder = await server.device();
  const other = await server.device('bob@example.org');
  const acknowledged = ciphertext(chunkBytes);
  const stored = new RemoteFile(hoarder);
  await stored.upload(acknowledged);
  const reading = await stored.token('read');
  const files = Array.from({ length: transfers }, () => new RemoteFile(hoarder));
  const tokens = await Promise.all(files.map((file) => file.token('write', chunkBytes - 17)));
  await Promise.all(files.map((file, at) => file.open(tokens[at] ?? '')));

  s3.fault = hangs;
  const pending = Promise.all([
    ...files.map((file, at) => file.chunk(tokens[at] ?? '', 1, acknowledged)),
    ...files.map(() => stored.read(reading, 'bytes=0-', chunkBytes)),
  ]);
  await gaugeIs(server, heldBytes, (bytes) => bytes >= 4 * mebibyte);
  t.is((await other.save(note({ uuid: crypto.randomUUID() }))).conflicts.length, 0);
  t.is((await (await other.another()).call('GET', '/v1/sessions')).status, 200);
  const held = await gauge(server, heldBytes);
  t.log(`${(held / mebibyte).toFixed(1)} MiB held`);
  t.true(held <= 24 * mebibyte);

  // Requests that wait for a slot begin when others have failed.
  const answers = await server.answered(pending, 600_000);
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]));
  t.true(answers.every(({ headers }) => headers.has('retry-after')));
  await gaugeIs(server, heldBytes, (bytes) => bytes === 0);

  s3.fault = undefined;
  t.true(acknowledged.equals(await stored.download(chunkBytes)));
  for (const [at, file] of files.slice(0, 2).entries()) {
    t.is((await file.chunk(tokens[at] ?? '', 1, acknowledged)).status, 200);
    t.is((await file.close(tokens[at] ?? '')).status, 200);
    t.true(acknowledged.equals(await file.download(chunkBytes)));
  }
});
