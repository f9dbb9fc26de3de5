/** Blobs for tests of stores of files: their names and contents, and the calls that every test makes. */
import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { FileStore } from '../../actors/files/store.ts';

export const owner = '0a3c5e7f-0000-4000-8000-000000000001';
export const upload = '0a3c5e7f-0000-4000-8000-0000000000aa';

/** A unique name. */
export const nameOf = (number: number, { of = owner, in: within = upload } = {}): string =>
  `${of}/${within}/${number}.${createHash('sha256').update(`${number}`).digest('hex').slice(0, 32)}`;

/** The usual length of a chunk. */
export const chunkBytes = 5_000_017;

/** The same for the same seed; no two stretches of it are alike. */
export function content(bytes: number, seed = 1): Buffer {
  const whole = Buffer.alloc(bytes);
  let state = seed;
  for (let at = 0; at < bytes; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    whole[at] = state >>> 24;
  }
  return whole;
}

export async function* inPieces(whole: Uint8Array, pieceBytes = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.byteLength; at += pieceBytes) yield whole.subarray(at, at + pieceBytes);
}

/** For all tests at once. */
export const unstopped = new AbortController().signal;
setMaxListeners(0, unstopped);

export function write(store: FileStore, name: string, whole: Uint8Array, signal = unstopped): Promise<void> {
  return store.write(name, inPieces(whole), { owner, bytes: whole.byteLength, signal });
}

export async function read(
  store: FileStore,
  name: string,
  start: number,
  end: number,
  signal = unstopped,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.read(name, { start, end }, signal)) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}

export const names = async (store: FileStore, prefix = ''): Promise<readonly string[]> =>
  (await store.list({ prefix, limit: 1_000 })).map(({ name }) => name);
