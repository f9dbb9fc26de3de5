/**
 * Uploads. The upload of a file goes through these steps:
 *
 *     open      begins an upload of one file, in place of an earlier one of the same file
 *     begin     before a chunk is stored: writes down the name of its blob, and counts its bytes as held
 *     finish    the blob is in the store, whole. Earlier attempts at the same number become garbage
 *     abandon   the blob is not in the store, or could not be finished: it becomes garbage, unless a commit has named it after all
 *     close     once all blobs are durable (closing.ts), one commit makes the file; an earlier file of its name becomes garbage,
 *               and held bytes become used
 *
 * Invariants
 *   - The bytes of every blob that may be in the store count. They count as held from `begin` on, and as used from `close` on, in
 *     the same commit. So an account never takes more than its quota, whatever it does at the same time.
 *   - The upload, the file or the garbage names every blob that may be in the store, from before it is written until it is
 *     removed. One exception: a gateway may write a blob after its upload has ended, or after the chunk has come again. It then
 *     abandons the blob, or the sweep removes it; until then the blob counts nowhere.
 *   - A file changes in one commit: it is the earlier one or this one, and never a mixture.
 *
 * Crash
 *   before `finish`   the chunk counts as held until the upload ends or `pendingMaxMs` is over; the client sends it again
 *   a power cut       the close finds that blobs are missing that were not durable yet; the client uploads again
 *   around `close`    if its commit is durable, a repeat finds the token redeemed and succeeds; if not, the client closes again
 *
 * A timer ends an upload that is not closed in time. All of its blobs are then garbage.
 */
import { z } from 'zod';
import { keys, lookup, type PlanResults, type Turn, timer, type View } from '../../runtime/command.ts';
import { type SliceSource, sliceMap } from '../../runtime/slice.ts';
import { type Refused, refuse } from '../reply.ts';
import { discardChunks, discardFile, garbageOf, refusalForGarbage } from './garbage.ts';
import {
  type BlobLayout,
  type BlobOrigin,
  type Chunk,
  chunkIn,
  chunksIn,
  chunksMax,
  isWithoutGap,
  noChunks,
  withChunk,
} from './layout.ts';
import { type FileOwner, noSpace } from './owner.ts';
import { type Cleanup, change, cleanUpAt, putRow } from './state.ts';
import { type FileRow, file, fileKey } from './tables.ts';
import { beingMoved, isMoving } from './transfer.ts';

export const uploadAgeMs = 7_200_000;
/** Clients have one or a few. */
export const uploadsMax = 64;
/** Chunks of one upload that may be stored at the same time. */
const pendingMax = 16;
/** How long a chunk may be on its way. Clients give up after half a minute. */
const pendingMaxMs = 600_000;
/** What encryption adds to each chunk. */
const overheadBytes = 17;
/** Tolerance for clients that add a little more. */
const slackBytes = 4_096;
/** Chunks that a file of any size may have. Each is a blob of its own, however small; clients send five million bytes in one. */
const chunksOfAnyFile = 64;
/** For each so many bytes of its size, a file may have one chunk more. */
const usualChunkBytesMin = 65_536;

interface PendingChunk extends Chunk {
  readonly sinceMs: number;
}

interface Upload {
  readonly uploadUuid: string;
  readonly unencryptedBytes: number;
  readonly endsAtMs: number;
  /** The bytes of the chunks in `layout`. */
  readonly storedBytes: number;
  readonly layout: Uint8Array;
  readonly pending: readonly PendingChunk[];
}

/** Keyed by the remote identifier of the file. */
export const uploadMap = sliceMap<Upload>({
  family: 'upload',
  entriesMax: uploadsMax,
  schema: z.object({
    uploadUuid: z.string(),
    unencryptedBytes: z.number(),
    endsAtMs: z.number(),
    storedBytes: z.number(),
    layout: z.instanceof(Uint8Array),
    pending: z.array(z.object({ number: z.int(), bytes: z.int(), nonce: z.string(), sinceMs: z.number() })),
  }),
});

const noUpload = refuse.badRequest('There is no upload of this file. Please start it again.');
export const tooManyUploads: Refused = refuse.tooMany(
  'Too many uploads are open. Please finish some.',
  60_000,
);
const tooManyPending: Refused = refuse.tooMany('Too many chunks at once. Please try again.', 1_000);
const tooLarge = refuse.tooLarge('This file is larger than files may be here.');
const tooManyChunks = refuse.badRequest('These are more chunks than a file of this size may have.');
const longerThanSaid = refuse.badRequest('This is more than the size that was given for the file.');
const incomplete = refuse.badRequest('Chunks of this file are missing.');
const notExpected = refuse.badRequest(
  'This chunk took too long, or its upload has ended. Please send it again.',
);

export interface OpenRequest {
  readonly remoteIdentifier: string;
  /** The same in a repeat of the call. */
  readonly uploadUuid: string;
  readonly unencryptedBytes: number;
}

type NoContent = Record<never, never>;
const done: NoContent = {};

export function openUpload(turn: Turn, owner: FileOwner, request: OpenRequest): NoContent | Refused {
  const { remoteIdentifier, uploadUuid, unencryptedBytes } = request;
  const earlier = turn.entry(uploadMap, remoteIdentifier);
  if (earlier?.uploadUuid === uploadUuid) return done;
  const refused = refusalToOpen(turn, owner, request);
  if (refused !== undefined) return refused;
  const bytes = unencryptedBytes + overheadBytes;
  const others = heldBytes(turn) - (earlier === undefined ? 0 : heldBy(earlier));
  if (!owner.quota.hasCapacity({ uploadUuid, bytes }, others)) return noSpace;
  if (earlier !== undefined) endUpload(turn, owner, remoteIdentifier, earlier);
  const endsAtMs = turn.nowMs + uploadAgeMs;
  const fresh = { storedBytes: 0, layout: noChunks, pending: [] };
  turn.setEntry(uploadMap, remoteIdentifier, { uploadUuid, unencryptedBytes, endsAtMs, ...fresh });
  cleanUpAt(turn, owner.cleanup, endsAtMs);
  return done;
}

/** Refusals that do not depend on the quota. */
export function refusalToOpen(
  turn: Turn,
  { fileBytesMax }: FileOwner,
  { remoteIdentifier, unencryptedBytes }: Omit<OpenRequest, 'uploadUuid'>,
): Refused | undefined {
  const isOneMore = turn.entry(uploadMap, remoteIdentifier) === undefined;
  if (isOneMore && turn.entries(uploadMap).size >= uploadsMax) return tooManyUploads;
  return unencryptedBytes > fileBytesMax ? tooLarge : undefined;
}

export interface ChunkRequest extends Chunk {
  readonly remoteIdentifier: string;
}

export function beginChunk(
  turn: Turn,
  owner: FileOwner,
  { remoteIdentifier, number, bytes, nonce }: ChunkRequest,
): BlobOrigin | Refused {
  const upload = openUploadOf(turn, remoteIdentifier);
  if (upload === undefined) return noUpload;
  const isRepeat = [chunkIn(upload.layout, number), ...upload.pending].some((each) => each?.nonce === nonce);
  if (isRepeat) return originOf(turn, upload);
  const late = upload.pending.filter(({ sinceMs }) => turn.nowMs - sinceMs >= pendingMaxMs);
  const pending = upload.pending.filter((each) => !late.includes(each));
  if (pending.length >= pendingMax) return tooManyPending;
  const cleaningUp = refusalForGarbage(turn, owner);
  if (cleaningUp !== undefined) return cleaningUp;
  const next = { ...upload, pending: [...pending, { number, bytes, nonce, sinceMs: turn.nowMs }] };
  if (!fits(next)) return longerThanSaid;
  const { uploadUuid } = upload;
  const others = heldBytes(turn) - heldBy(upload);
  const requested = { uploadUuid, bytes: heldBy(upload) - bytesOf(late) + bytes };
  if (!owner.quota.hasCapacity(requested, others)) return noSpace;
  turn.setEntry(uploadMap, remoteIdentifier, next);
  discardChunks(turn, owner.cleanup, originOf(turn, upload), late);
  return originOf(turn, upload);
}

export interface StoredChunk {
  readonly remoteIdentifier: string;
  readonly uploadUuid: string;
  readonly nonce: string;
}

export function finishChunk(
  turn: Turn,
  { cleanup }: Pick<FileOwner, 'cleanup'>,
  { remoteIdentifier, uploadUuid, nonce }: StoredChunk,
): NoContent | Refused {
  const upload = openUploadOf(turn, remoteIdentifier);
  if (upload?.uploadUuid !== uploadUuid) return notExpected;
  const chunk = upload.pending.find((pending) => pending.nonce === nonce);
  if (chunk === undefined)
    return chunksIn(upload.layout).some((each) => each.nonce === nonce) ? done : notExpected;
  const earlier = chunkIn(upload.layout, chunk.number);
  const replaced = replacedBy(chunk, upload.pending);
  turn.setEntry(uploadMap, remoteIdentifier, {
    ...upload,
    layout: withChunk(upload.layout, chunk),
    storedBytes: upload.storedBytes + chunk.bytes - (earlier?.bytes ?? 0),
    pending: upload.pending.filter((each) => each !== chunk && !replaced.includes(each)),
  });
  discardChunks(turn, cleanup, originOf(turn, upload), [
    ...replaced,
    ...(earlier === undefined ? [] : [earlier]),
  ]);
  return done;
}

/** Attempts at the same number that were begun before this one. The last one counts, even if an earlier one finishes later. */
const replacedBy = (chunk: PendingChunk, pending: readonly PendingChunk[]): readonly PendingChunk[] =>
  pending.slice(0, pending.indexOf(chunk)).filter(({ number }) => number === chunk.number);

/** `bytes`: the most that may be in the store. */
export interface AbandonedChunk extends StoredChunk, Chunk {}

/** The file that the upload has become, here or at another owner. During a move there are two rows. */
export const abandonPlan = (
  { self }: Pick<View, 'self'>,
  { remoteIdentifier, uploadUuid }: Pick<StoredChunk, 'remoteIdentifier' | 'uploadUuid'>,
) => ({
  here: keys(file, [fileKey({ self }, remoteIdentifier)]),
  anywhere: lookup(file, [{ upload_uuid: uploadUuid }], 2),
});

/** Makes the blob garbage, unless a `finish` whose answer was lost has named it. */
export function abandonChunk(
  turn: Turn,
  { cleanup }: Pick<FileOwner, 'cleanup'>,
  { remoteIdentifier, uploadUuid, ...chunk }: AbandonedChunk,
  { here, anywhere }: PlanResults<ReturnType<typeof abandonPlan>>,
): NoContent {
  const upload = turn.entry(uploadMap, remoteIdentifier);
  const isIt = ({ nonce }: Chunk) => nonce === chunk.nonce;
  if (upload?.uploadUuid === uploadUuid) {
    if (chunksIn(upload.layout).some(isIt)) return done;
    const pending = upload.pending.filter((each) => !isIt(each));
    turn.setEntry(uploadMap, remoteIdentifier, { ...upload, pending });
  } else {
    const own = here.get(fileKey(turn, remoteIdentifier));
    const rows = own === undefined ? anywhere.rows : [own, ...anywhere.rows];
    if (rows.some((row) => row.upload_uuid === uploadUuid && chunksIn(row.layout).some(isIt))) return done;
  }
  discardChunks(turn, cleanup, originOf(turn, { uploadUuid }), [chunk]);
  return done;
}

/** `replaced`: the present file of this name. */
export function closeUpload(
  turn: Turn,
  { cleanup, quota, fileBytesMax }: FileOwner,
  remoteIdentifier: string,
  replaced: FileRow | undefined,
): NoContent | Refused {
  const upload = openUploadOf(turn, remoteIdentifier);
  if (upload === undefined || upload.storedBytes === 0) return noUpload;
  if (!isWithoutGap(upload.layout)) return incomplete;
  if (hasTooManyChunks(upload)) return tooManyChunks;
  if (replaced !== undefined && isMoving(turn, replaced)) return beingMoved;
  const { uploadUuid, storedBytes: bytes, layout, pending } = upload;
  if (bytes > fileBytesMax) return tooLarge;
  if (!quota.hasCapacity({ uploadUuid, bytes }, 0)) return noSpace;
  turn.removeEntry(uploadMap, remoteIdentifier);
  discardChunks(turn, cleanup, originOf(turn, upload), pending);
  const grownBytes = putFile(turn, cleanup, { remoteIdentifier, uploadUuid, bytes, layout }, replaced);
  quota.grow(grownBytes, uploadUuid);
  return done;
}

export interface ClosedFile {
  readonly remoteIdentifier: string;
  readonly uploadUuid: string;
  readonly bytes: number;
  readonly layout: Uint8Array;
}

/** Writes a closed file in place of an earlier one of its name. Returns how many more bytes the owner's files take. */
export function putFile(
  turn: Turn,
  cleanup: FileOwner['cleanup'],
  { remoteIdentifier, uploadUuid, bytes, layout }: ClosedFile,
  replaced: FileRow | undefined,
): number {
  putRow(turn, {
    remote_identifier: remoteIdentifier,
    upload_uuid: uploadUuid,
    hop: 0,
    stored_under: turn.self.id,
    bytes,
    layout: Buffer.from(layout),
    closed_at: turn.nowMs,
  });
  if (replaced !== undefined) discardFile(turn, cleanup, replaced);
  return bytes - (replaced?.bytes ?? 0);
}

/** The blobs of an open upload so far. */
export interface StoredUpload extends BlobOrigin {
  readonly layout: BlobLayout;
}

export function storedOf(turn: Turn, remoteIdentifier: string): StoredUpload | undefined {
  const upload = openUploadOf(turn, remoteIdentifier);
  return upload && { ...originOf(turn, upload), layout: upload.layout };
}

/** Bytes of open uploads that may be in the store. */
export function heldBytes(state: SliceSource): number {
  let bytes = 0;
  for (const upload of state.entries(uploadMap).values()) bytes += heldBy(upload);
  return bytes;
}

const heldBy = ({ storedBytes, pending }: Upload): number => storedBytes + bytesOf(pending);

/** The bytes that the upload of this file will hold with so many more, at most. */
export function heldWith(
  state: SliceSource,
  { remoteIdentifier, bytes }: Pick<ChunkRequest, 'remoteIdentifier' | 'bytes'>,
): { readonly uploadUuid: string; readonly bytes: number } | undefined {
  const upload = state.entry(uploadMap, remoteIdentifier);
  return upload && { uploadUuid: upload.uploadUuid, bytes: heldBy(upload) + bytes };
}

/** The bytes that a file of this length usually takes: clients send chunks of five million bytes and more. */
export const usuallyHeld = (unencryptedBytes: number): number =>
  unencryptedBytes + overheadBytes * (1 + Math.floor(unencryptedBytes / 5_000_000));

/** Clients send the first chunk sooner than this. */
const unsentMs = 600_000;

const isUnsent = (turn: Turn, { endsAtMs, storedBytes, pending }: Upload): boolean =>
  storedBytes === 0 && pending.length === 0 && turn.nowMs - (endsAtMs - uploadAgeMs) >= unsentMs;

/** The oldest of these uploads that nothing was sent to. It gives way, so that a client that forgot it can begin another. */
export function oldestUnsent(turn: Turn, isOne: (uploadUuid: string) => boolean): string | undefined {
  return [...turn.entries(uploadMap).values()]
    .filter((upload) => isUnsent(turn, upload) && isOne(upload.uploadUuid))
    .toSorted((a, b) => a.endsAtMs - b.endsAtMs)[0]?.uploadUuid;
}

/** False if something was sent to it meanwhile; it then goes on. */
export function giveUpUnsent(turn: Turn, owner: FileOwner, uploadUuid: string): boolean {
  for (const [remoteIdentifier, upload] of turn.entries(uploadMap)) {
    if (upload.uploadUuid !== uploadUuid) continue;
    if (!isUnsent(turn, upload)) return false;
    endUpload(turn, owner, remoteIdentifier, upload);
  }
  return true;
}

/** Ends overdue uploads, or all of them. For the others it arms the timer. */
export function endUploads(turn: Turn, owner: FileOwner, which: 'overdue' | 'all'): void {
  for (const [remoteIdentifier, upload] of turn.entries(uploadMap)) {
    if (which === 'all' || upload.endsAtMs <= turn.nowMs) endUpload(turn, owner, remoteIdentifier, upload);
    else cleanUpAt(turn, owner.cleanup, upload.endsAtMs);
  }
}

function endUpload(turn: Turn, owner: FileOwner, remoteIdentifier: string, upload: Upload): void {
  turn.removeEntry(uploadMap, remoteIdentifier);
  owner.quota.release(upload.uploadUuid);
  discardChunks(turn, owner.cleanup, originOf(turn, upload), [...chunksIn(upload.layout), ...upload.pending]);
}

function openUploadOf(turn: Turn, remoteIdentifier: string): Upload | undefined {
  const upload = turn.entry(uploadMap, remoteIdentifier);
  return upload !== undefined && turn.nowMs < upload.endsAtMs ? upload : undefined;
}

const hasTooManyChunks = ({ storedBytes, layout }: Upload): boolean =>
  chunksIn(layout).length > chunksOfAnyFile + storedBytes / usualChunkBytesMin;

/** Whether the upload is no larger than announced once all that is pending is stored. A chunk replaces the one with its number. */
function fits({ unencryptedBytes, layout, pending }: Upload): boolean {
  const bytesByNumber = new Map(
    [...chunksIn(layout), ...pending].map(({ number, bytes }) => [number, bytes]),
  );
  let bytes = 0;
  for (const each of bytesByNumber.values()) bytes += each;
  return bytes <= unencryptedBytes + overheadBytes * bytesByNumber.size + slackBytes;
}

const bytesOf = (chunks: readonly Chunk[]): number => chunks.reduce((sum, { bytes }) => sum + bytes, 0);

const originOf = (turn: Turn, { uploadUuid }: Pick<Upload, 'uploadUuid'>) => ({
  storedUnder: turn.self.id,
  uploadUuid,
});

export const isChunkNumber = (number: number): boolean =>
  Number.isInteger(number) && number >= 1 && number <= chunksMax;

/** The timer of an owner. It ends uploads that were not closed in time, and starts the removal of garbage again. */
export const cleanupTimer = (cleanup: Cleanup, ownerIn: (turn: Turn) => FileOwner) =>
  timer(cleanup.timer, (turn) => {
    change(turn, { tendAtMs: null });
    if (garbageOf(turn) > 0) turn.start(cleanup.remove, null);
    endUploads(turn, ownerIn(turn), 'overdue');
  });
