/** The handling of valet tokens that users and vaults share, once they have checked the rights of the token's holder. */
import type { Turn } from '../../runtime/command.ts';
import type { ValetClaims } from '../identity/valet-tokens.ts';
import { type Answer, answerOf, type Refused, refuse } from '../reply.ts';
import { removeFile } from './garbage.ts';
import { chunkBytesMax } from './layout.ts';
import type { FileOwner } from './owner.ts';
import { redeem, redeemedOn } from './redeemed.ts';
import { type FileRow, storedFileOf } from './tables.ts';
import { beingMoved, isMoving } from './transfer.ts';
import { isChunkNumber } from './uploads.ts';

export const invalidToken = refuse.forbidden('This valet token is not valid any more.', 'invalid-auth');
const unknownFile = refuse.notFound('There is no such file.');
/** Clients that get this answer ask the user whether to delete the item all the same. */
const nothingToDelete = refuse.badRequest('There is no such file.');
const wrongChunk = refuse.badRequest('That is not a chunk of a file.');

export const refusalOfChunk = (chunk: {
  readonly number: number;
  readonly bytes: number;
}): Refused | undefined =>
  isChunkNumber(chunk.number) && chunk.bytes > 0 && chunk.bytes <= chunkBytesMax ? undefined : wrongChunk;

/** The answer to a close whose token is redeemed: a repeat of the close succeeds. Undefined if it is not redeemed. */
export function answerToRepeatedClose(
  turn: Turn,
  claims: ValetClaims,
): Answer<Record<string, never>> | undefined {
  const redeemed = redeemedOn(turn, claims);
  return redeemed && answerOf(redeemed.on === 'close' ? {} : invalidToken);
}

/** `deleted` only if this turn has removed the file. A repeat of the deletion gets the answer of a success. */
export function deleteByToken(
  turn: Turn,
  { cleanup, quota }: FileOwner,
  claims: ValetClaims,
  row: FileRow | undefined,
): 'deleted' | Answer<Record<string, never>> {
  if (redeemedOn(turn, claims) !== undefined) return answerOf(row === undefined ? {} : invalidToken);
  if (row === undefined) return nothingToDelete;
  if (isMoving(turn, row)) return beingMoved;
  removeFile(turn, cleanup, row);
  quota.grow(-row.bytes);
  redeem(turn, claims, 'delete');
  return 'deleted';
}

export const fileAnswer = (row: FileRow | undefined) =>
  row === undefined ? unknownFile : { ok: storedFileOf(row) };

/** Whether a download of this upload may go on. Without an upload it may, because the caller has checked the token. */
export const answerIfUnchanged = (row: FileRow | undefined, uploadUuid: string | undefined) =>
  uploadUuid === undefined || row?.upload_uuid === uploadUuid ? { ok: {} } : unknownFile;
