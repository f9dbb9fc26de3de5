/**
 * Removes blobs that no row names. Such blobs have three causes. A gateway dies while it stores a chunk, a store reports a failure
 * but keeps the blob, or a database is restored from a backup. Blobs that a commit stops naming are garbage, which their owner
 * removes (`actors/files/garbage.ts`).
 *
 *     page    the next names in the store after the last that were looked at
 *     ask     a turn: which of their uploads are files now
 *     remove  those of no file and of no chunk of their file, if they are old
 *
 * It never removes a blob that a commit may still name:
 *   - A blob is written after its upload was opened, and an upload becomes a file within two hours or never (`uploadAgeMs`). A blob
 *     that is older than that, plus a day for clocks that differ, belongs to a file by now, or to none.
 *   - The row of a file is looked up by its upload, after the page was read. So a file that has moved to another owner is found
 *     as well: its row is never absent.
 *
 * There is one actor, so the sweep runs once in the whole cluster. It takes a bounded number of pages at a time, writes down how far it
 * came, and begins again a day after its end. The first upload of every owner starts it.
 */
import { z } from 'zod';
import { type JobRun, job, lookup, type Turn, tell, timer } from '../../runtime/command.ts';
import { kindOf } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { removeAll } from '../files/garbage.ts';
import { blobName, chunksIn, uploadOf } from '../files/layout.ts';
import { FileStore, FileStoreError, type StoredBlob } from '../files/store.ts';
import { blobOriginOf, file } from '../files/tables.ts';
import { uploadAgeMs } from '../files/uploads.ts';
import { Sweeper } from './contract.ts';

const dayMs = 86_400_000;
const leastAgeMs = uploadAgeMs + dayMs;
const betweenRoundsMs = dayMs;
const betweenRunsMs = 5_000;
const retryPauseMs = 600_000;
/** Blobs of one page. The layouts of their files are in memory meanwhile: two large ones at most, as names are in order. */
const pageBlobs = 200;
const batchPages = 20;
const runMaxMs = 600_000;

const roundSlice = slice<{ readonly after: string | null; readonly isArmed: boolean }>({
  name: 'round',
  schema: z.object({ after: z.string().nullable(), isArmed: z.boolean() }),
  initial: { after: null, isArmed: false },
});

/** The names of all blobs that files name, of the same uploads as these blobs. */
async function namedAmong(run: JobRun, names: readonly string[]): Promise<ReadonlySet<string>> {
  const uploads = [...new Set(names.map(uploadOf).filter((upload) => upload !== undefined))];
  const rows = await run.turn({
    reads: () => ({
      files: lookup(
        file,
        uploads.map((upload_uuid) => ({ upload_uuid })),
        // A file that is being moved has two rows.
        2 * uploads.length,
      ),
    }),
    turn: (_turn, { files }) => files.rows,
  });
  return new Set(
    rows.flatMap((row) => chunksIn(row.layout).map((chunk) => blobName(blobOriginOf(row), chunk))),
  );
}

async function sweepPage(run: JobRun, blobs: readonly StoredBlob[]): Promise<void> {
  const old = blobs.filter(({ writtenMs }) => run.nowMs - writtenMs >= leastAgeMs).map(({ name }) => name);
  const ours = old.filter((name) => uploadOf(name) !== undefined);
  if (ours.length === 0) return;
  const named = await namedAmong(run, ours);
  await removeAll(
    run.use(FileStore),
    ours.filter((name) => !named.has(name)),
  );
}

/** Undefined if there are no more. */
async function nextPage(run: JobRun): Promise<string | undefined> {
  const after = await run.turn({ turn: (turn) => turn.get(roundSlice).after });
  const blobs = await run
    .use(FileStore)
    .list({ prefix: '', limit: pageBlobs, ...(after !== null && { after }) });
  await sweepPage(run, blobs);
  const last = blobs.length < pageBlobs ? undefined : blobs.at(-1)?.name;
  await run.turn({ turn: (turn) => turn.set(roundSlice, { after: last ?? null, isArmed: true }) });
  return last;
}

const again = (run: JobRun, pauseMs: number) =>
  run.finish({ turn: (turn: Turn) => turn.arm(Sweeper.timers.sweep, turn.nowMs + pauseMs, null) });

const sweepJob = job(Sweeper.jobs.sweep, {
  timeoutMs: runMaxMs,
  run: async (run) => {
    try {
      for (let page = 0; page < batchPages; page += 1) {
        if ((await nextPage(run)) === undefined) return again(run, betweenRoundsMs);
      }
    } catch (error) {
      if (error instanceof FileStoreError) return again(run, retryPauseMs);
      throw error;
    }
    return again(run, betweenRunsMs);
  },
});

export const sweeper = kindOf(Sweeper, {
  uses: [FileStore],
  slices: [roundSlice],
  tables: [],
  commands: {},
  tells: {
    watch: tell(Sweeper.tells.watch, {
      creates: true,
      turn: (turn) => {
        if (turn.get(roundSlice).isArmed) return;
        turn.set(roundSlice, { after: null, isArmed: true });
        turn.arm(Sweeper.timers.sweep, turn.nowMs + betweenRoundsMs, null);
      },
    }),
  },
  timers: {
    sweep: timer(Sweeper.timers.sweep, (turn) => turn.start(Sweeper.jobs.sweep, null)),
  },
  jobs: { sweep: sweepJob },
});
