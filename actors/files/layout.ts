/**
 * The layout of a file: one blob for each chunk, in the order of their numbers, which begin at 1.
 *
 * A layout has twelve bytes for each number: the length of the chunk, and the nonce in the name of its blob. A missing chunk is
 * all zeros. So a whole file is one row, and an upload one slice. For 5 GiB in chunks of the usual size a layout takes 13 KB.
 *
 * Every attempt to store a chunk has a nonce of its own. So no blob is ever overwritten, and no layout names a blob that comes late.
 */

export const chunksMax = 4_000;
export const chunkBytesMax = 64 * 1_048_576;
const entryBytes = 12;
const nonceBytes = 8;

export const nonceForm = /^[0-9a-f]{16}$/;

export interface Chunk {
  readonly number: number;
  readonly bytes: number;
  readonly nonce: string;
}

export type BlobLayout = Uint8Array;
export const noChunks: BlobLayout = new Uint8Array();

export function chunkIn(layout: BlobLayout, number: number): Chunk | undefined {
  const start = (number - 1) * entryBytes;
  if (start + entryBytes > layout.byteLength) return undefined;
  const entry = Buffer.from(layout.buffer, layout.byteOffset + start, entryBytes);
  const bytes = entry.readUInt32BE(0);
  return bytes === 0 ? undefined : { number, bytes, nonce: entry.toString('hex', 4) };
}

/** The chunks that are there, in order. */
export function chunksIn(layout: BlobLayout): readonly Chunk[] {
  return numbersIn(layout)
    .map((number) => chunkIn(layout, number))
    .filter((chunk) => chunk !== undefined);
}

export const isWithoutGap = (layout: BlobLayout): boolean =>
  layout.byteLength > 0 && chunksIn(layout).length === numbersIn(layout).length;

const numbersIn = (layout: BlobLayout): readonly number[] =>
  Array.from({ length: layout.byteLength / entryBytes }, (_, index) => index + 1);

/** The layout with this chunk in place of the one with its number. */
export function withChunk(layout: BlobLayout, { number, bytes, nonce }: Chunk): BlobLayout {
  const next = Buffer.alloc(Math.max(layout.byteLength, number * entryBytes));
  next.set(layout);
  const start = (number - 1) * entryBytes;
  next.writeUInt32BE(bytes, start);
  next.write(nonce, start + entryBytes - nonceBytes, 'hex');
  return next;
}

// --- blobs ------------------------------------------------------------------------------------------------------

export type Blob = Pick<Chunk, 'number' | 'nonce'>;

/** The common part of the names of an upload's blobs. A file that has changed hands keeps these names. */
export interface BlobOrigin {
  readonly storedUnder: string;
  readonly uploadUuid: string;
}

export const blobName = ({ storedUnder, uploadUuid }: BlobOrigin, { number, nonce }: Blob): string =>
  `${storedUnder}/${uploadUuid}/${number}.${nonce}`;

const uploadForm = /^[0-9a-f-]{36}\/([0-9a-f-]{36})\/\d+\.\w+$/;

/** The upload of a blob. Undefined if this server has not written the file with that name. */
export const uploadOf = (name: string): string | undefined => uploadForm.exec(name)?.[1];

const blobBytes = 2 + nonceBytes;

export const packBlobs = (blobs: readonly Blob[]): Buffer =>
  Buffer.concat(
    blobs.map(({ number, nonce }) => {
      const packed = Buffer.alloc(blobBytes);
      packed.writeUInt16BE(number);
      packed.write(nonce, 2, 'hex');
      return packed;
    }),
  );

export function unpackBlobs(packed: Buffer): readonly Blob[] {
  return Array.from({ length: packed.byteLength / blobBytes }, (_, index) => {
    const start = index * blobBytes;
    return {
      number: packed.readUInt16BE(start),
      nonce: packed.toString('hex', start + 2, start + blobBytes),
    };
  });
}

/** A piece of a blob, from `start` to before `end`. */
export interface Piece {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The parts of blobs that make up a file from its byte `first` to its byte `last`, both included. */
export function piecesOf(
  origin: BlobOrigin,
  layout: BlobLayout,
  { first, last }: { readonly first: number; readonly last: number },
): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const chunk of chunksIn(layout)) {
    const start = Math.max(first - at, 0);
    const end = Math.min(last + 1 - at, chunk.bytes);
    if (start < end) pieces.push({ name: blobName(origin, chunk), start, end });
    at += chunk.bytes;
    if (at > last) break;
  }
  return pieces;
}
