/**
 * Concurrent uploads of several accounts. Some leave within a chunk, some send data that is refused, and the disk is
 * slow and fails at times. The memory of pieces is reused among them, and yet each gets back only their own bytes.
 */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type FileSystem, nodeFileSystem, type OpenFile } from '../../actors/files/file-system.ts';
import { openLocalDisk } from '../../actors/files/local-disk.ts';
import type { OpenFileStore } from '../../actors/files/store.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { alice, bob } from '../kit/account.ts';
import { accepted, RemoteFile, usedBytes } from '../kit/files.ts';
import { gauge, gaugeIs, turn } from '../kit/gateway.ts';
import { SeededRandom } from '../kit/random.ts';
import { startServer } from '../kit/server.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';

const addresses = [alice.email, bob.email, 'carol@example.com'];
const uploadsOfEach = 6;
const chunksOfEach = 3;
const heldBytes = 'scriptorium_http_unfinished_body_bytes';
/** From sizes that are joined to sizes that come in several pieces of the largest memory. */
const sizes = [40_000, 300_001, 700_003, 2_000_017];

let patterns = 0;

/** No eight bytes are equal to those of another, nor to others in the same one. */
function pattern(bytes: number): Buffer {
  patterns += 1;
  const words = new Uint32Array(2 * Math.ceil(bytes / 8));
  for (let at = 0; at < words.length; at += 2) {
    words[at] = patterns;
    words[at + 1] = at;
  }
  return Buffer.from(words.buffer, 0, bytes);
}

/** The disk of this machine. It is slow, takes less than it is given, and now and then nothing. */
function moodyDisk(random: SeededRandom): FileSystem {
  const moody = (file: OpenFile): OpenFile => ({
    ...file,
    async write(bytes, position) {
      for (let left = random.below(6); left > 0; left -= 1) await turn();
      if (random.chance(0.01)) throw Object.assign(new Error('by the test'), { code: 'EIO' });
      const writtenBytes = random.chance(0.2) ? 1 + random.below(bytes.byteLength) : bytes.byteLength;
      return file.write(bytes.subarray(0, writtenBytes), position);
    },
  });
  return {
    ...nodeFileSystem,
    create: async (path) => moody(await nodeFileSystem.create(path)),
    open: async (path) => moody(await nodeFileSystem.open(path)),
  };
}

interface World {
  readonly port: number;
  readonly random: SeededRandom;
}

/** The status of the answer; undefined if the connection ended before. Leaves after `sentBytes`. */
function send(
  { port, random }: World,
  token: string,
  number: number,
  body: Buffer,
  sentBytes = body.length,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
      if (answer.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]) || undefined));
    const head = [
      'POST /v1/files/upload/chunk HTTP/1.1',
      'host: notes.test',
      `x-valet-token: ${token}`,
      `x-chunk-id: ${number}`,
      'content-type: application/octet-stream',
      `content-length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const go = async () => {
      for (let at = 0; at < sentBytes && !socket.destroyed; ) {
        const end = Math.min(sentBytes, at + 1 + random.below(800_000));
        socket.write(body.subarray(at, end));
        at = end;
        if (random.chance(0.5)) await turn();
      }
      if (sentBytes < body.length) socket.destroy();
    };
    void go();
  });
}

async function insist(ask: () => Promise<number | undefined>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    const status = await ask();
    if (status === 200) return;
    if (status !== undefined && status !== 429 && status !== 503) throw new Error(`refused with ${status}`);
  }
  throw new Error('refused again and again');
}

interface StoredFile {
  readonly file: RemoteFile;
  readonly content: Buffer;
}

async function upload(t: ExecutionContext, world: World, file: RemoteFile): Promise<StoredFile> {
  const { random } = world;
  // The end of a connection may lose the answer to a client that is still sending.
  const refused = async (sent: Promise<number | undefined>, as: number) => t.is((await sent) ?? as, as);
  const chunks = Array.from({ length: chunksOfEach }, () => pattern(random.pick(sizes)));
  const content = Buffer.concat(chunks);
  // Capacity for one that is sent again.
  const token = await file.token('write', content.length);
  accepted(await file.open(token));
  for (const [index, chunk] of chunks.entries()) {
    const other = pattern(chunk.length);
    if (random.chance(0.3)) await send(world, token, index + 1, other, random.below(chunk.length));
    if (random.chance(0.2)) await refused(send(world, `${token}A`, index + 1, other), 403);
    if (random.chance(0.2)) await refused(send(world, token, index + 1, pattern(9_000_000)), 400);
    if (random.chance(0.3)) await send(world, token, index + 1, other);
    await insist(() => send(world, token, index + 1, chunk));
  }
  await insist(async () => (await file.close(token)).status);
  await refused(send(world, token, 1, pattern(500_000)), 403);
  return { file, content };
}

const bytesIn = async (store: OpenFileStore): Promise<number> =>
  (await store.list({ prefix: '', limit: 1_000 })).reduce((sum, { bytes }) => sum + bytes, 0);

for (const seed of [1, 2]) {
  test(`each of many simultaneous uploads gets its own bytes, whatever others break off, and nothing stays behind (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const folder = temporaryFolder(t);
    const store = await openLocalDisk({
      folder,
      reserveBytes: 0,
      isShared: false,
      nodeId: 'main',
      clock: systemClock,
      random: systemRandom,
      fs: moodyDisk(random),
    });
    t.teardown(() => store.close());
    const server = await startServer(t, { fileStore: store });
    const world = { port: server.port, random };
    const devices = await Promise.all(addresses.map((address) => server.device(address)));
    const files = devices.flatMap((device) =>
      Array.from({ length: uploadsOfEach }, () => new RemoteFile(device)),
    );
    const stored = await Promise.all(files.map((file) => upload(t, world, file)));

    const download = async ({ file, content }: StoredFile) =>
      (await file.download(content.length)).equals(content);
    t.deepEqual(
      await Promise.all(stored.map(download)),
      stored.map(() => true),
    );
    await gaugeIs(server, heldBytes, (bytes) => bytes === 0);
    for (const [index, device] of devices.entries()) {
      const own = stored.filter((each) => each.file.device === device);
      const bytes = own.reduce((sum, { content }) => sum + content.length, 0);
      t.is(await usedBytes(device), bytes, addresses[index]);
    }
    await server.advance(5_000);
    const storedBytes = stored.reduce((sum, { content }) => sum + content.length, 0);
    while ((await bytesIn(store)) > storedBytes) await server.advance(1_000);
    t.is(await bytesIn(store), storedBytes);
    t.deepEqual(readdirSync(join(folder, 'incoming', 'node-main')), []);
    t.is(await gauge(server, heldBytes), 0);
  });
}
