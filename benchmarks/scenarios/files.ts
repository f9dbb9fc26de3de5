/**
 * Files over HTTP, up and down, compared with plain copies of the same size to the same disk, in turns. Also the
 * memory of the server while sixteen streams go up and down, and while a gigabyte does beside a slow reader.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { register } from '../support/api-client.ts';
import { median } from '../support/figures.ts';
import { chunkBytes, FileClient } from '../support/files.ts';
import { residentBytes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';

const streams = 16;
const chunks = 20;
const chunksOfEachStream = 4;
const rounds = 3;
const gigabyteChunks = 200;
const gigabyteRounds = 5;
/** 320 KB in a second: slow, but not slow enough to be cut off. */
const slow = { rangeBytes: 100_000_000, bytesInTenth: 32_768 };

export async function files(server: LoadServer) {
  const account = await register(server.url);
  const chunk = randomBytes(chunkBytes);
  const clients = Array.from({ length: streams }, () => new FileClient(server.url, account));
  const [one = new FileClient(server.url, account)] = clients;
  await pause(3_000);
  const sixteen = await memoryOf(server, async () => {
    await Promise.all(clients.map((client) => client.upload(chunk, chunksOfEachStream)));
    await Promise.all(clients.map((client) => client.download()));
  });
  const again = await memoryOf(server, async () => {
    await Promise.all(clients.map((client) => client.upload(chunk, chunksOfEachStream)));
    await Promise.all(clients.map((client) => client.download()));
  });
  const rates = await comparedWithCopies(dirname(server.dataDirectory), chunk, clients);
  const large = await gigabyteOverCopy(dirname(server.dataDirectory), chunk, one);
  for (const client of clients) await client.remove();
  await pause(3_000);
  const gigabyte = await gigabyteBothWays(server, chunk, one, new FileClient(server.url, account));
  for (const client of clients) client.close();
  return {
    ...rates,
    ...large,
    [`MB above idle, ${streams} streams up and down`]: sixteen.grownBytes / 1e6,
    '… once more': again.grownBytes / 1e6,
    'MB at idle': sixteen.beforeBytes / 1e6,
    'chunks refused and sent again': clients.reduce((sum, { refused }) => sum + refused, 0),
    ...gigabyte,
  };
}

async function comparedWithCopies(folder: string, chunk: Buffer, clients: readonly FileClient[]) {
  const [one] = clients;
  if (one === undefined) throw new Error('no client');
  const all: Record<'copied' | 'up' | 'down' | 'read' | 'copiedMany' | 'upMany' | 'downMany', number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const scratch = await mkdtemp(join(folder, 'scriptorium-copies-'));
    try {
      const source = join(scratch, 'source');
      await write(source, chunk, chunks);
      const small = join(scratch, 'small');
      await write(small, chunk, chunksOfEachStream);
      const copied = await rateOf(chunks, () => copy(source, join(scratch, 'copy')));
      const up = await rateOf(chunks, () => one.upload(chunk, chunks));
      const read = await rateOf(chunks, () => readPlainly(source));
      const down = await rateOf(chunks, () => one.download());
      const many = streams * chunksOfEachStream;
      const copiedMany = await rateOf(many, () =>
        Promise.all(clients.map((_, index) => copy(small, join(scratch, `copy-${index}`)))),
      );
      const upMany = await rateOf(many, () =>
        Promise.all(clients.map((client) => client.upload(chunk, chunksOfEachStream))),
      );
      const downMany = await rateOf(many, () => Promise.all(clients.map((client) => client.download())));
      all.push({ copied, up, read, down, copiedMany, upMany, downMany });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  const of = (figure: (round: (typeof all)[number]) => number): number => median(all.map(figure));
  return {
    'MB/s of a copy with fsync': of(({ copied }) => copied),
    'MB/s up': of(({ up }) => up),
    '… over the copy': of(({ up, copied }) => up / copied),
    'MB/s of a plain read': of(({ read }) => read),
    'MB/s down': of(({ down }) => down),
    '… over the copy, down': of(({ down, copied }) => down / copied),
    [`MB/s of ${streams} copies with fsync`]: of(({ copiedMany }) => copiedMany),
    [`MB/s up, ${streams} at once`]: of(({ upMany }) => upMany),
    '… over so many copies': of(({ upMany, copiedMany }) => upMany / copiedMany),
    [`MB/s down, ${streams} at once`]: of(({ downMany }) => downMany),
    '… over so many copies, down': of(({ downMany, copiedMany }) => downMany / copiedMany),
  };
}

/** A file has one session, whose cost counts for less here. */
async function gigabyteOverCopy(folder: string, chunk: Buffer, one: FileClient) {
  const all: { readonly up: number; readonly over: number }[] = [];
  for (let round = 0; round < gigabyteRounds; round += 1) {
    const scratch = await mkdtemp(join(folder, 'scriptorium-copies-'));
    try {
      const source = join(scratch, 'source');
      await write(source, chunk, gigabyteChunks);
      const copied = await rateOf(gigabyteChunks, () => copy(source, join(scratch, 'copy')));
      const up = await rateOf(gigabyteChunks, () => one.upload(chunk, gigabyteChunks));
      all.push({ up, over: up / copied });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  return {
    'MB/s up, 1 GB': median(all.map(({ up }) => up)),
    '… over a copy of 1 GB': median(all.map(({ over }) => over)),
  };
}

async function gigabyteBothWays(server: LoadServer, chunk: Buffer, one: FileClient, slowReader: FileClient) {
  await slowReader.upload(chunk, slow.rangeBytes / 5_000_000);
  let done = false;
  let slowlyRead = 0;
  const { grownBytes } = await memoryOf(server, async () => {
    const reading = slowReader.readSlowly(slow.rangeBytes, slow.bytesInTenth, () => done);
    await one.upload(chunk, gigabyteChunks);
    await one.download();
    done = true;
    slowlyRead = await reading;
  });
  slowReader.close();
  return {
    'MB above idle, 1 GB up and down beside a slow reader': grownBytes / 1e6,
    'MB that the slow reader has got meanwhile': slowlyRead / 1e6,
  };
}

/** For this many chunks, in megabytes per second. */
async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (count * chunkBytes) / 1_000 / (performance.now() - startedMs);
}

/** The most resident memory of the server meanwhile, minus that before. */
async function memoryOf({ pid }: LoadServer, work: () => Promise<void>) {
  const beforeBytes = residentBytes(pid);
  let mostBytes = beforeBytes;
  const watch = setInterval(() => {
    mostBytes = Math.max(mostBytes, residentBytes(pid));
  }, 10);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return { beforeBytes, grownBytes: mostBytes - beforeBytes };
}

async function write(path: string, chunk: Buffer, count: number): Promise<void> {
  const file = await open(path, 'wx');
  for (let written = 0; written < count; written += 1) await file.write(chunk);
  await file.sync();
  await file.close();
}

const pieceBytes = 262_144;

/** The work of `cp` and a sync of the file. */
async function copy(from: string, to: string): Promise<void> {
  const target = await open(to, 'w');
  await eachPiece(from, (piece) => target.write(piece));
  await target.sync();
  await target.close();
}

const readPlainly = (path: string) => eachPiece(path, async () => {});

async function eachPiece(path: string, take: (piece: Buffer) => Promise<unknown>): Promise<void> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  const source = await open(path, 'r');
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, pieceBytes);
    if (bytesRead === 0) break;
    await take(buffer.subarray(0, bytesRead));
  }
  await source.close();
}
