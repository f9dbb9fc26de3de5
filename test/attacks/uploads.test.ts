/** Uploads that try to take the capacity of others, or the memory of the process. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { FileStore } from '../../actors/files/store.ts';
import { createMemoryFileStore } from '../kit/file-store.ts';
import { type FileAnswer, RemoteFile } from '../kit/files.ts';
import { gauge, gaugeIs, latch } from '../kit/gateway.ts';
import { startServer } from '../kit/server.ts';

const mebibyte = 1_048_576;
const heldBytes = 'scriptorium_http_unfinished_body_bytes';
const uploads = 16;
/** The size of a client's chunk. */
const chunk = Buffer.alloc(5_000_017, 7);

async function send(file: RemoteFile): Promise<FileAnswer> {
  const token = await file.token('write', chunk.length - 17);
  await file.open(token);
  return file.chunk(token, 1, chunk);
}

test('many uploads of one account at once wait for a slow store, are all taken, and take nothing from others', async (t) => {
  const memory = createMemoryFileStore();
  const release = latch();
  let slowFor: string | undefined;
  const slow: FileStore = {
    ...memory,
    write(naming, body, options) {
      slowFor ??= options.owner;
      return memory.write(naming, options.owner === slowFor ? afterwards(body) : body, options);
    },
  };
  async function* afterwards(body: AsyncIterable<Uint8Array>) {
    for await (const piece of body) {
      await release.promise;
      yield piece;
    }
  }
  const server = await startServer(t, { fileStore: slow });
  const hoarder = await server.device();
  const other = await server.device('bob@example.com');
  const files = Array.from({ length: uploads }, () => new RemoteFile(hoarder));
  const sent = Promise.all(files.map(send));
  await gaugeIs(server, heldBytes, (bytes) => bytes >= 8 * mebibyte);
  let most = 0;
  for (let count = 0; count < 20; count += 1) {
    await sleep(10);
    most = Math.max(most, await gauge(server, heldBytes));
  }
  t.log(`${(most / mebibyte).toFixed(1)} MiB held of ${((uploads * chunk.length) / mebibyte).toFixed(0)}`);
  t.true(most <= 24 * mebibyte);
  const { status, headers } = await send(new RemoteFile(other));
  t.is(status, 200);
  t.not(headers.get('connection'), 'close');
  t.is(memory.blobs.size, 1);
  release.open();
  const answers = await sent;
  t.true(answers.every((answer) => answer.status === 200));
  t.true(answers.some((answer) => answer.headers.get('connection') === 'close'));
  t.is(memory.blobs.size, uploads + 1);
  t.is(await gauge(server, heldBytes), 0);
});
