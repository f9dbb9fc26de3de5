/**
 * The close of an upload. It makes the blobs durable first. Then one commit makes them a file, unless chunks have come or gone
 * meanwhile. So a power cut never takes away a file that was closed.
 */
import type { PlanResults, Plans, Turn, View, Workflow } from '../../runtime/command.ts';
import { type Answer, type Refused, refuse } from '../reply.ts';
import { blobName, chunksIn } from './layout.ts';
import { FileStore, FileStoreError } from './store.ts';
import { type StoredUpload, storedOf } from './uploads.ts';

type CloseAnswer = Answer<Record<never, never>>;

interface Closing<P extends Plans> {
  readonly reads: (view: View) => P;
  /** An answer that does not depend on the upload: the caller may not close it, or it is closed already. */
  readonly early: (turn: Turn, reads: PlanResults<P>) => CloseAnswer | undefined;
  readonly close: (turn: Turn, reads: PlanResults<P>) => CloseAnswer;
}

/** A try fails only if a chunk comes or goes meanwhile. Clients close once all their chunks are answered, so they need one try. */
const triesMax = 3;

const lost = refuse.badRequest('Chunks of this file were lost before it was closed. Please upload it again.');
const notNow: Refused = refuse.notNow('The file cannot be stored now. Please try again.', 5_000);

export async function closePersisted<P extends Plans>(
  steps: Workflow,
  remoteIdentifier: string,
  { reads, early, close }: Closing<P>,
): Promise<CloseAnswer> {
  for (let triesLeft = triesMax; triesLeft > 0; triesLeft -= 1) {
    const before = await steps.turn({
      reads,
      turn: (turn, found) => {
        const answer = early(turn, found);
        return answer === undefined ? { stored: storedOf(turn, remoteIdentifier) } : { answer };
      },
    });
    if (before.answer !== undefined) return before.answer;
    const refused = await persist(steps, before.stored);
    const closed = await steps.turn({
      reads,
      turn: (turn, found) =>
        early(turn, found) ??
        // The missing blob may be that of a chunk that was replaced meanwhile.
        (isSame(before.stored, storedOf(turn, remoteIdentifier))
          ? (refused ?? close(turn, found))
          : undefined),
    });
    if (closed !== undefined) return closed;
  }
  return notNow;
}

async function persist(steps: Workflow, stored: StoredUpload | undefined): Promise<Refused | undefined> {
  if (stored === undefined) return undefined;
  const blobs = chunksIn(stored.layout).map((chunk) => ({
    name: blobName(stored, chunk),
    bytes: chunk.bytes,
  }));
  try {
    await steps.use(FileStore).persist(blobs);
    return undefined;
  } catch (error) {
    if (!(error instanceof FileStoreError)) throw error;
    return error.failure === 'missing' ? lost : notNow;
  }
}

const isSame = (one: StoredUpload | undefined, other: StoredUpload | undefined): boolean =>
  one?.uploadUuid === other?.uploadUuid &&
  Buffer.compare(one?.layout ?? Buffer.of(), other?.layout ?? Buffer.of()) === 0;
