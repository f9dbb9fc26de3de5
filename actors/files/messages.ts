/**
 * The schemas that the contracts of users and vaults share, as both own files. Most requests carry the claims of a valet token,
 * which the gateway has verified (docs/protocol/files.md).
 */
import { z } from 'zod';
import { valetClaimsSchema } from '../identity/valet-tokens.ts';
import { answerSchema } from '../reply.ts';
import { finalizePayload } from '../transfer.ts';
import { nonceForm } from './layout.ts';

const empty = z.object({});

/** Every command of this form may be refused with 400 or 403. */
export const valetTokenCommand = <Fields extends z.ZodRawShape, Ok>(fields: Fields, ok: z.ZodType<Ok>) => ({
  request: z.object({ claims: valetClaimsSchema, ...fields }),
  reply: answerSchema(ok),
});

const uploadUuid = z.string();
const nonce = z.string().regex(nonceForm);

export const valetTokenCommands = {
  /** Refusals: 413 for a file that is too large, 429. */
  openUpload: valetTokenCommand({ uploadUuid }, empty),
  /**
   * Notes a chunk before it is stored. The gateway draws the nonce, which makes the name of the blob unique. Refusals: 429, 503.
   */
  beginChunk: valetTokenCommand(
    { number: z.int(), bytes: z.int(), nonce },
    z.object({ uploadUuid, storedUnder: z.string() }),
  ),
  /** The chunk is stored completely. */
  finishChunk: valetTokenCommand({ uploadUuid, nonce }, empty),
  /** The chunk is not stored, or not completely. `bytes`: the most that may have been stored. */
  abandonChunk: valetTokenCommand({ uploadUuid, number: z.int(), bytes: z.int(), nonce }, empty),
  /** Refusals: 413, 503. */
  closeUpload: valetTokenCommand({}, empty),
  /** Refusals: 503 while the file is being moved. */
  deleteFile: valetTokenCommand({}, empty),
  /**
   * Asked again and again during a long transfer: may it go on? A download names its upload, to notice that the file was replaced.
   * Refusals: 404.
   */
  checkToken: valetTokenCommand({ uploadUuid: uploadUuid.optional() }, empty),
  /** Answers where the bytes of a file are. Refusals: 404. */
  openFile: valetTokenCommand(
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
  /** Ends overdue uploads, and tries again to remove garbage. */
  cleanUpFiles: z.null(),
  /** Keyed by the transfer of a file (see transfer.ts). */
  finalizeOverdueFile: finalizePayload,
};

const cancelledTransfer = z.object({ id: z.string(), hop: z.int() });

export const fileMoveTellShapes = {
  /** The source tells the target that the transfer is finalized. */
  fileMoved: z.object({ uploadUuid: z.string() }),
  /** From the source to the target: the transfer is given up at this transfer version. The target answers by `fileSettled`. */
  fileGivenUp: cancelledTransfer,
  /** From the target to the source: the transfer that was given up cannot be applied any more. */
  fileSettled: cancelledTransfer,
};

export const fileJobShapes = {
  /** Removes garbage from the store. */
  removeBlobs: z.null(),
};
