/**
 * The store of files in a folder: how fast it writes and reads chunks, compared with plain copies with fsync. It also
 * measures the memory of sixteen streams. The two take turns over several rounds, because the speed of a disk varies.
 *
 * node --import=tsx benchmarks/file-store.ts [--folder /tmp] [--chunks 20] [--rounds 5]
 */
import { mkdtemp, open, readFile, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openLocalDisk } from '../actors/files/local-disk.ts';
import { systemClock } from '../runtime/clock.ts';
import { systemRandom } from '../runtime/random.ts';
import { median, printFigures } from './support/figures.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: tmpdir() },
    chunks: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '5' },
  },
});
const chunks = Number(values.chunks);
const rounds = Number(values.rounds);
const streams = 16;
/** The size of a client's chunk. */
const chunkBytes = 5_000_017;
const piece = systemRandom.bytes(65_536);

const unstopped = () => new AbortController().signal;

const folder = await mkdtemp(join(values.folder, 'file-store-'));
const store = await openLocalDisk({
  folder,
  reserveBytes: 0,
  isShared: false,
  nodeId: 'main',
  clock: systemClock,
  random: systemRandom,
});
const [owner, upload] = [systemRandom.uuid(), systemRandom.uuid()];
const nameOf = (number: number) => `${owner}/${upload}/${number}.${'0'.repeat(32)}`;
const numbers = Array.from({ length: chunks }, (_, number) => number);

async function* body(): AsyncGenerator<Uint8Array> {
  for (let left = chunkBytes; left > 0; left -= piece.length)
    yield piece.subarray(0, Math.min(left, piece.length));
}

const write = (number: number) =>
  store.write(nameOf(number), body(), { owner, bytes: chunkBytes, signal: unstopped() });

async function read(number: number): Promise<void> {
  let bytes = 0;
  for await (const { byteLength } of store.read(nameOf(number), { start: 0, end: chunkBytes }, unstopped()))
    bytes += byteLength;
  if (bytes !== chunkBytes) throw new Error(`read ${bytes} bytes`);
}

/** The work of `cp` and a sync of the file, in pieces of this many bytes. */
async function copy(from: string, to: string): Promise<void> {
  const buffer = Buffer.allocUnsafe(262_144);
  const [source, target] = await Promise.all([open(from, 'r'), open(to, 'wx')]);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length);
    if (bytesRead === 0) break;
    await target.write(buffer, 0, bytesRead);
  }
  await target.sync();
  await Promise.all([source.close(), target.close()]);
}

/** Runs this many at once. */
async function each(work: (number: number) => Promise<void>, atOnce: number): Promise<void> {
  const left = [...numbers];
  const one = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) await work(number);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Megabytes per second. */
async function rateOf(
  work: (number: number) => Promise<void>,
  atOnce = 1,
  finish = async () => {},
): Promise<number> {
  const startedMs = performance.now();
  await each(work, atOnce);
  await finish();
  return (chunks * chunkBytes) / 1_000 / (performance.now() - startedMs);
}

/** Like the close of an upload. */
const persist = () => store.persist(numbers.map((number) => ({ name: nameOf(number), bytes: chunkBytes })));
const copyOf = (number: number) => join(folder, `copy-${number}`);
const removeAll = () => store.remove(numbers.map(nameOf));

interface Round {
  readonly copied: number;
  readonly written: number;
  readonly copiedMany: number;
  readonly writtenMany: number;
  readonly readPlainly: number;
  readonly read: number;
}

async function round(): Promise<Round> {
  await copy(source, copyOf(0));
  await unlink(copyOf(0));
  const copied = await rateOf((number) => copy(source, copyOf(number)));
  await each((number) => unlink(copyOf(number)), 1);
  const written = await rateOf(write, 1, persist);
  await removeAll();
  const copiedMany = await rateOf((number) => copy(source, copyOf(number)), streams);
  const readPlainly = await rateOf(async (number) => void (await readFile(copyOf(number))));
  await each((number) => unlink(copyOf(number)), 1);
  const writtenMany = await rateOf(write, streams, persist);
  const readAgain = await rateOf(read);
  await removeAll();
  return { copied, written, copiedMany, writtenMany, readPlainly, read: readAgain };
}

/** The most resident memory of this process while `work` runs, minus that before. */
async function memoryOf(work: () => Promise<void>): Promise<number> {
  const beforeBytes = process.memoryUsage.rss();
  let mostBytes = beforeBytes;
  const timer = setInterval(() => {
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
  }, 5);
  await work();
  clearInterval(timer);
  return (mostBytes - beforeBytes) / 1_048_576;
}

const source = join(folder, 'source');
const file = await open(source, 'wx');
for await (const bytes of body()) await file.write(bytes);
await file.close();

const memoryMb = await memoryOf(async () => {
  await each(write, streams);
  await each(read, streams);
  await removeAll();
});
const all: Round[] = [];
for (let done = 0; done < rounds; done += 1) all.push(await round());
const of = (figure: (round: Round) => number): number => median(all.map(figure));
printFigures(`${chunks} chunks of ${chunkBytes} bytes, medians of ${rounds} rounds`, {
  'MB/s copied with fsync, one at a time': of(({ copied }) => copied),
  'MB/s written, one at a time': of(({ written }) => written),
  '… over copies, in the same round': of(({ written, copied }) => written / copied),
  [`MB/s copied with fsync, ${streams} at once`]: of(({ copiedMany }) => copiedMany),
  [`MB/s written, ${streams} at once`]: of(({ writtenMany }) => writtenMany),
  '… over so many copies, in the same round': of(({ writtenMany, copiedMany }) => writtenMany / copiedMany),
  'MB/s of plain reads': of(({ readPlainly }) => readPlainly),
  'MB/s read': of(({ read }) => read),
  [`MB above idle while ${streams} streams are written and read`]: memoryMb,
});
await store.close();
await rm(folder, { recursive: true, force: true });
process.exit(0);
