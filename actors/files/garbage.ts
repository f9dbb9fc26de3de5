/**
 * Garbage: blobs that no file or upload names any more.
 *
 *     discard   the commit that stops naming blobs writes them down, and starts the job
 *     remove    the job removes the first of them from the store, then their rows, and goes on while there are any
 *
 * After a crash between the two the job removes blobs that are gone already, which does no harm. While the store cannot remove,
 * the owner's timer starts the job again. Garbage counts in no quota. Instead, an owner whose garbage exceeds a whole quota is refused
 * new chunks and files. So an owner takes at most two quotas in the store.
 *
 * A removal does not wait for readers. A reader of a file that is deleted or replaced loses the connection; otherwise they could
 * get parts of two files.
 */
import { job, keys, type Turn, type View } from '../../runtime/command.ts';
import type { Refused } from '../reply.ts';
import { refuse } from '../reply.ts';
import { type BlobOrigin, blobName, type Chunk, chunksIn, packBlobs, unpackBlobs } from './layout.ts';
import type { FileOwner } from './owner.ts';
import type { Cleanup } from './state.ts';
import { change, cleanUpAt, filesSlice } from './state.ts';
import { FileStore, FileStoreError, listLimitMax } from './store.ts';
import { blobOriginOf, type FileRow, file, fileGarbage, fileKey } from './tables.ts';

/** Each row names the blobs of one upload at most. */
const batchRows = 16;
const retryPauseMs = 300_000;
const removalTimeoutMs = 300_000;
/** An owner with more rows of garbage has to wait. */
export const garbageMax = 1_000;

const cleaningUp: Refused = refuse.notNow('Earlier files are still being removed.', 30_000);

/** `bytes` of a chunk: the most that may be in the store. */
export function discardChunks(
  turn: Turn,
  cleanup: Cleanup,
  origin: BlobOrigin,
  chunks: readonly Chunk[],
): void {
  if (chunks.length === 0) return;
  const { discardedThrough, garbageBytes } = turn.get(filesSlice);
  const number = discardedThrough + 1;
  turn.put(fileGarbage, {
    owner_uuid: turn.self.id,
    number,
    upload_uuid: origin.uploadUuid,
    stored_under: origin.storedUnder,
    blobs: packBlobs(chunks),
  });
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, garbageBytes);
  change(turn, { discardedThrough: number, garbageBytes: bytes });
  turn.start(cleanup.remove, null);
}

export const discardFile = (turn: Turn, cleanup: Cleanup, row: FileRow): void =>
  discardChunks(turn, cleanup, blobOriginOf(row), chunksIn(row.layout));

/** Removes the file, and makes garbage of its blobs. */
export function removeFile(turn: Turn, cleanup: Cleanup, row: FileRow): void {
  turn.remove(file, fileKey(turn, row.remote_identifier));
  discardFile(turn, cleanup, row);
}

export function garbageOf(view: Pick<View, 'get'>): number {
  const { removedThrough, discardedThrough } = view.get(filesSlice);
  return discardedThrough - removedThrough;
}

/** Refuses new chunks and files while there is too much garbage. */
export function refusalForGarbage(turn: Turn, { garbageBytesMax }: FileOwner): Refused | undefined {
  const isTooMuch = garbageOf(turn) >= garbageMax || turn.get(filesSlice).garbageBytes > garbageBytesMax;
  return isTooMuch ? cleaningUp : undefined;
}

const firstKeys = (view: View) => {
  const { removedThrough } = view.get(filesSlice);
  const rows = Math.min(garbageOf(view), batchRows);
  return Array.from({ length: rows }, (_, index) => ({
    owner_uuid: view.self.id,
    number: removedThrough + 1 + index,
  }));
};

export const removalJob = (cleanup: Cleanup) =>
  job(cleanup.remove, {
    timeoutMs: removalTimeoutMs,
    run: async (run) => {
      const entries = await run.turn({
        reads: (view) => ({ rows: keys(fileGarbage, firstKeys(view)) }),
        turn: (turn, { rows }) => firstKeys(turn).map((key) => rows.get(key)),
      });
      const names = entries.flatMap((row) =>
        row === undefined ? [] : unpackBlobs(row.blobs).map((blob) => blobName(blobOriginOf(row), blob)),
      );
      try {
        await removeAll(run.use(FileStore), names);
      } catch (error) {
        if (!(error instanceof FileStoreError)) throw error;
        return run.finish({ turn: (turn) => cleanUpAt(turn, cleanup, turn.nowMs + retryPauseMs) });
      }
      return run.finish({ turn: (turn) => forgetGarbage(turn, cleanup, entries.length) });
    },
  });

export async function removeAll(store: Pick<FileStore, 'remove'>, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += listLimitMax) {
    await store.remove(names.slice(at, at + listLimitMax));
  }
}

function forgetGarbage(turn: Turn, cleanup: Cleanup, count: number): void {
  const { removedThrough } = turn.get(filesSlice);
  for (let number = removedThrough + 1; number <= removedThrough + count; number += 1) {
    turn.remove(fileGarbage, { owner_uuid: turn.self.id, number });
  }
  change(turn, { removedThrough: removedThrough + count });
  if (garbageOf(turn) > 0) turn.start(cleanup.remove, null);
  else change(turn, { garbageBytes: 0 });
}
