/** Messages to owners of files. Most carry the claims of a valet token, which the gateway has verified (docs/protocol/files.md). */
import { z } from 'zod';
import { type ValetClaims, valetClaimsSchema } from '../identity/valet-tokens.ts';
import { answerSchema } from '../reply.ts';
import { finalizePayload } from '../transfer.ts';
import { nonceForm } from './layout.ts';

const nothing = z.object({});

/** Refusals of all: 400, 403. */
export const byToken = <Fields extends z.ZodRawShape, Ok>(fields: Fields, ok: z.ZodType<Ok>) => ({
  request: z.object({ claims: valetClaimsSchema as z.ZodType<ValetClaims>, ...fields }),
  reply: answerSchema(ok),
});

const uploadUuid = z.string();
const nonce = z.string().regex(nonceForm);

export const byTokenShapes = {
  /** Refusals: 413 for a file that is too large, 429. */
  openUpload: byToken({ uploadUuid }, nothing),
  /** Before the chunk is stored, under a nonce that the gateway has drawn. Refusals: 429, 503. */
  beginChunk: byToken(
    { number: z.int(), bytes: z.int(), nonce },
    z.object({ uploadUuid, storedUnder: z.string() }),
  ),
  /** The chunk is in the store, whole. */
  finishChunk: byToken({ uploadUuid, nonce }, nothing),
  /** The chunk is not in the store, or could not be finished. `bytes`: as many as may be in the store. */
  abandonChunk: byToken({ uploadUuid, number: z.int(), bytes: z.int(), nonce }, nothing),
  /** Refusals: 413. */
  closeUpload: byToken({}, nothing),
  /** Refusals: 404. */
  deleteFile: byToken({}, nothing),
  /** Whether a use of the token may go on. `uploadUuid`: of the file that is being read. */
  checkToken: byToken({ uploadUuid: uploadUuid.optional() }, nothing),
  /** Answers where the bytes of a file are. Refusals: 404. */
  openFile: byToken(
    {},
    z.object({
      uploadUuid,
      storedUnder: z.string(),
      bytes: z.int(),
      layout: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
    }),
  ),
};

export const fileTimerShapes = {
  /** Ends overdue uploads, and retries to remove garbage. */
  cleanUpFiles: z.null(),
  /** Keyed by the transfer of a file (see transfer.ts). */
  finalizeOverdueFile: finalizePayload,
};

const cancelledTransfer = z.object({ id: z.string(), hop: z.int() });

export const fileMoveTellShapes = {
  /** Tells the target that the source has finalized the transfer. */
  fileMoved: z.object({ uploadUuid: z.string() }),
  /** To the target: the transfer of this id was given up at this transfer version. It answers by `fileSettled`. */
  fileGivenUp: cancelledTransfer,
  /** Tells the source that the transfer it gave up cannot be applied any more. */
  fileSettled: cancelledTransfer,
};

export const fileJobShapes = {
  /** Removes garbage from the store. */
  removeBlobs: z.null(),
};
