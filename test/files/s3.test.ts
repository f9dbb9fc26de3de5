/** The store in S3 over moto, with a healthy and with a faulty network and server. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { openS3, type S3Options } from '../../actors/files/s3.ts';
import type { OpenFileStore } from '../../actors/files/store.ts';
import { systemClock } from '../../runtime/clock.ts';
import { FakeClock } from '../kit/clock.ts';
import { type S3Server, s3Credentials, s3Region, startS3Server } from '../kit/s3-server.ts';
import { TcpProxy } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { chunkBytes, content, inPieces, nameOf, names, owner, read, unstopped, write } from './blobs.ts';
import { contractOfFileStores, failsWith } from './contract.ts';

let server: S3Server;
const teardowns: (() => unknown)[] = [];
test.before(async () => {
  server = await startS3Server({ teardown: (fn) => teardowns.push(fn) });
});
test.after.always(() => Promise.all(teardowns.map((teardown) => teardown())));

let buckets = 0;

interface OpenedBucket {
  readonly store: OpenFileStore;
  readonly bucket: string;
}

async function opened(t: ExecutionContext, options: Partial<S3Options> = {}): Promise<OpenedBucket> {
  buckets += 1;
  const bucket = `files-${buckets}`;
  await server.bucket(bucket);
  return { store: storeOf(t, { bucket, ...options }), bucket };
}

function storeOf(t: ExecutionContext, options: Partial<S3Options>): OpenFileStore {
  const store = openS3({
    endpoint: server.endpoint,
    region: s3Region,
    bucket: 'files',
    ...s3Credentials,
    isPathStyle: true,
    clock: systemClock,
    ...options,
  });
  t.teardown(() => store.close());
  return store;
}

/** One store that reaches the bucket over a network with faults, and one that always reaches it. */
async function disturbed(t: ExecutionContext) {
  const proxy = await TcpProxy.start({ port: server.port });
  t.teardown(() => proxy.stop());
  const clock = new FakeClock();
  const { store: direct, bucket } = await opened(t);
  const store = storeOf(t, { bucket, clock, endpoint: `http://127.0.0.1:${proxy.port}` });
  return { proxy, clock, direct, store };
}

contractOfFileStores('S3', async (t) => (await opened(t)).store);

test('a bucket that is not there is not a blob that is missing', async (t) => {
  const store = storeOf(t, { bucket: 'nobody-made-it' });
  await failsWith(t, 'unavailable', () => write(store, nameOf(1), content(10)));
  await failsWith(t, 'unavailable', () => read(store, nameOf(1), 0, 1));
  await failsWith(t, 'unavailable', () => store.remove([nameOf(1)]));
  await failsWith(t, 'unavailable', () => names(store));
  t.is(await store.condition(), 'away');
});

test.serial('each failure of S3 is told apart', async (t) => {
  const { store } = await opened(t);
  await write(store, nameOf(1), content(10));
  for (const [status, code, failure] of [
    [403, 'AccessDenied', 'unavailable'],
    [500, 'InternalError', 'unavailable'],
    [503, 'SlowDown', 'unavailable'],
    [400, 'RequestTimeout', 'unavailable'],
    [507, 'XMinioStorageFull', 'full'],
    [403, 'QuotaExceeded', 'full'],
  ] as const) {
    await server.failNext({ method: 'PUT', status, code, times: 3 });
    await failsWith(t, failure, () => write(store, nameOf(2), content(300_000)));
    await server.failNext({ method: 'GET', status, code, times: 0 });
  }
  await server.failNext({ method: 'GET', status: 403, code: 'AccessDenied', times: 1 });
  await failsWith(t, 'unavailable', () => read(store, nameOf(1), 0, 1));
  t.deepEqual(await names(store), [nameOf(1)]);
  t.is(await store.condition(), 'good');
});

test.serial('a call that can be repeated is, a few times', async (t) => {
  const { store } = await opened(t);
  const busy = { status: 503, code: 'SlowDown' };
  await write(store, nameOf(1), content(10));
  await server.failNext({ ...busy, method: 'GET', times: 2 });
  t.deepEqual(await read(store, nameOf(1), 0, 10), content(10));
  await server.failNext({ ...busy, method: 'GET', times: 2 });
  t.deepEqual(await names(store), [nameOf(1)]);
  await server.failNext({ ...busy, method: 'POST', times: 2 });
  await store.remove([nameOf(1)]);
  await server.failNext({ ...busy, method: 'GET', times: 3 });
  await failsWith(t, 'unavailable', () => names(store));
});

test.serial('a blob that S3 has not removed is not taken for removed', async (t) => {
  const { store } = await opened(t);
  const errorBody = (code: string) =>
    `<DeleteResult><Error><Key>${nameOf(1)}</Key><Code>${code}</Code></Error></DeleteResult>`;
  const answer = { method: 'POST', status: 200, code: '', times: 1 } as const;
  await server.failNext({ ...answer, body: errorBody('AccessDenied') });
  await failsWith(t, 'unavailable', () => store.remove([nameOf(1)]));
  await server.failNext({ ...answer, body: errorBody('NoSuchKey') });
  await t.notThrowsAsync(store.remove([nameOf(1)]));
});

test.serial('a blob of which S3 does not say when it was written is never an old one', async (t) => {
  const { store } = await opened(t);
  const body = `<ListBucketResult><Contents><Key>${nameOf(1)}</Key><Size>10</Size></Contents></ListBucketResult>`;
  await server.failNext({ method: 'GET', status: 200, code: '', times: 1, body });
  const writtenMs = Number.POSITIVE_INFINITY;
  t.deepEqual(await store.list({ prefix: '', limit: 10 }), [{ name: nameOf(1), bytes: 10, writtenMs }]);
});

test('other objects in the bucket are not listed, however many they are', async (t) => {
  const { store, bucket } = await opened(t);
  await write(store, nameOf(1), content(10));
  for (const key of ['0', '0a', '0a3c5e7f', 'zzz'])
    await fetch(`${server.endpoint}/${bucket}/${key}`, { method: 'PUT', body: 'by hand' });
  const found = await store.list({ prefix: '', limit: 2 });
  t.deepEqual(
    found.map(({ name }) => name),
    [nameOf(1)],
  );
});

test('a put that S3 turns away before its body is tried again with all of it, one that broke later is not', async (t) => {
  const whole = content(300_000);
  let turnedAway = 0;
  const got: Buffer[] = [];
  const s3 = createServer();
  s3.on('checkContinue', (request, response) => {
    if (turnedAway < 2) {
      turnedAway += 1;
      response.writeHead(503, { connection: 'close' }).end();
      return;
    }
    response.writeContinue();
    request.on('data', (piece) => got.push(piece));
    request.on('end', () => (got.length < 1 ? request.destroy() : response.end()));
  });
  s3.listen(0, '127.0.0.1');
  await once(s3, 'listening');
  t.teardown(() => s3.close());
  const endpoint = `http://127.0.0.1:${(s3.address() as AddressInfo).port}`;
  const store = storeOf(t, { endpoint });
  await write(store, nameOf(1), whole);
  t.is(turnedAway, 2);
  t.true(whole.equals(Buffer.concat(got)));

  let tries = 0;
  s3.removeAllListeners('checkContinue');
  s3.on('checkContinue', (request, response) => {
    tries += 1;
    response.writeContinue();
    request.once('data', () => request.destroy());
  });
  await failsWith(t, 'unavailable', () => write(store, nameOf(1), content(chunkBytes)));
  t.is(tries, 1);
});

test('a connection that breaks while a blob is put leaves nothing', async (t) => {
  const { proxy, direct, store } = await disturbed(t);
  const whole = content(chunkBytes);
  const cutting = async function* () {
    yield* inPieces(whole.subarray(0, 3_000_000));
    proxy.cut();
    yield* inPieces(whole.subarray(3_000_000));
  };
  await failsWith(t, 'unavailable', () =>
    store.write(nameOf(1), cutting(), { owner, bytes: whole.length, signal: unstopped }),
  );
  t.deepEqual(await names(direct), []);
  proxy.heal();
  await write(store, nameOf(1), whole);
  t.true(whole.equals(await read(store, nameOf(1), 0, whole.length)));
});

test('a connection that breaks while a blob is read: the reading goes on where it was, if it can', async (t) => {
  const { proxy, direct, store } = await disturbed(t);
  const whole = content(40_000_000);
  await write(direct, nameOf(1), whole);
  const range = { start: 1, end: whole.length };
  const reading = async (onPiece: (count: number) => void) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of store.read(nameOf(1), range, unstopped)) {
      pieces.push(piece);
      onPiece(pieces.length);
    }
    return Buffer.concat(pieces);
  };
  const got = await reading((count) => {
    if (count !== 1) return;
    proxy.cut();
    proxy.heal();
  });
  t.true(whole.subarray(1).equals(got));
  await failsWith(t, 'unavailable', () =>
    reading((count) => {
      if (count === 1) proxy.cut();
    }),
  );
});

test('an S3 that says nothing is unavailable after half a minute', async (t) => {
  const { proxy, clock, direct, store } = await disturbed(t);
  await write(direct, nameOf(1), content(10));
  proxy.silence('to-server', 'to-client');
  for (const work of [
    () => write(store, nameOf(2), content(10)),
    () => read(store, nameOf(1), 0, 1),
    () => names(store),
    () => store.remove([nameOf(1)]),
  ]) {
    const failed = failsWith(t, 'unavailable', work);
    await clock.advance(29_999);
    await clock.advance(1);
    await failed;
  }
});

test('an S3 that took a blob and never says so has left one that nobody names', async (t) => {
  const { proxy, clock, direct, store } = await disturbed(t);
  const whole = content(300_000);
  const silencing = async function* () {
    yield* inPieces(whole);
    proxy.silence('to-client');
  };
  const failed = failsWith(t, 'unavailable', () =>
    store.write(nameOf(1), silencing(), { owner, bytes: whole.length, signal: unstopped }),
  );
  await until(async () => (await names(direct)).length === 1);
  await clock.advance(30_000);
  await failed;
});

test('the time that a client takes is not that of S3', async (t) => {
  const { clock, direct, store } = await disturbed(t);
  const whole = content(3_000_000);
  const slowly = async function* () {
    for await (const piece of inPieces(whole, 1_000_000)) {
      await clock.advance(3_600_000);
      yield piece;
    }
    await clock.advance(3_600_000);
  };
  await store.write(nameOf(1), slowly(), { owner, bytes: whole.length, signal: unstopped });
  const large = content(40_000_000);
  await write(direct, nameOf(2), large);
  let bytes = 0;
  for await (const piece of store.read(nameOf(2), { start: 0, end: large.length }, unstopped)) {
    if (bytes === 0) await clock.advance(3_600_000);
    bytes += piece.byteLength;
  }
  t.is(bytes, large.length);
});

test('no error shows the secret', async (t) => {
  const store = storeOf(t, { bucket: 'nobody-made-it' });
  const error = await t.throwsAsync(() => write(store, nameOf(1), content(10)));
  t.notRegex(inspect(error, { depth: 10, showHidden: true }), new RegExp(s3Credentials.secretAccessKey));
});
