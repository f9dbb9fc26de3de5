/** Many files up and down at once, and a slow client: memory does not grow with the amount sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { FileStore } from '../../actors/files/store.ts';
import { createMemoryFileStore } from '../kit/file-store.ts';
import { RemoteFile } from '../kit/files.ts';
import { gauge, gaugeIs, latch, openRaw } from '../kit/gateway.ts';
import { startServer } from '../kit/server.ts';

const mebibyte = 1_048_576;
const streams = 16;

/** For each stream, including the system's buffers before it is held back. */
const heldBytesMax = 4 * mebibyte;

test('clients are held back while the store is slow, and all that they send arrives', async (t) => {
  const memory = createMemoryFileStore();
  const release = latch();
  const slow: FileStore = {
    ...memory,
    write: (name, body, options) => memory.write(name, afterwards(body), options),
  };
  async function* afterwards(body: AsyncIterable<Uint8Array>) {
    for await (const piece of body) {
      await release.promise;
      yield piece;
    }
  }
  const server = await startServer(t, { fileStore: slow });
  const device = await server.device();
  const chunk = Buffer.alloc(6 * mebibyte, 7);
  const files = Array.from({ length: streams }, () => new RemoteFile(device));
  const uploads = files.map((file) => file.upload(chunk));
  let most = 0;
  await gaugeIs(server, 'scriptorium_http_unfinished_body_bytes', (bytes) => bytes > streams * 65_536);
  for (let count = 0; count < 50; count += 1) {
    await sleep(10);
    most = Math.max(most, await gauge(server, 'scriptorium_http_unfinished_body_bytes'));
  }
  t.log(`${(most / mebibyte).toFixed(1)} MiB held of ${(streams * chunk.length) / mebibyte}`);
  t.true(most <= streams * heldBytesMax);
  release.open();
  await Promise.all(uploads);
  t.is(await gauge(server, 'scriptorium_http_unfinished_body_bytes'), 0);
  t.is(memory.blobs.size, streams);
});

test('readers who take nothing hold little, and lose nothing', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const whole = Buffer.alloc(12 * mebibyte, 3);
  await file.upload(whole.subarray(0, 5_000_017), whole.subarray(5_000_017));
  const readers = await Promise.all(
    Array.from({ length: streams }, async () => {
      const token = await file.token('read');
      const raw = await openRaw(t, server.port);
      raw.socket.pause();
      raw.send(
        `GET /v1/files HTTP/1.1\r\nHost: x\r\nx-valet-token: ${token}\r\nrange: bytes=0-\r\nConnection: close\r\n\r\n`,
      );
      return raw;
    }),
  );
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (count) => count === streams);
  let most = 0;
  for (let count = 0; count < 50; count += 1) {
    await sleep(10);
    most = Math.max(most, await gauge(server, 'scriptorium_http_unsent_reply_bytes'));
  }
  t.log(`${(most / mebibyte).toFixed(1)} MiB held of ${(streams * whole.length) / mebibyte}`);
  t.true(most > 0 && most <= streams * mebibyte);
  let received = 0;
  const [reader] = readers;
  reader?.socket.on('data', (bytes) => {
    received += bytes.length;
  });
  reader?.socket.resume();
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (count) => count === streams - 1);
  while (received < whole.length) await sleep(10);
  t.true(received > whole.length);
  for (const { socket } of readers) socket.destroy();
  await gaugeIs(server, 'scriptorium_http_unsent_reply_bytes', (bytes) => bytes === 0);
});
