/**
 * How a file moves from one owner, its *source*, to another, its *target* (decision 36). No byte is copied: the row changes
 * hands, and the blobs keep their names.
 *
 *     source   prepare    commits which file may leave, at which transfer version, where to, and a timer; its row stays
 *     target   apply      checks rights and capacity, then writes the row with the next transfer version: the file is there
 *     source   finalize   removes its row if the target applied it; if not, the row takes the next transfer version here
 *     target   fileMoved  told by the commit that finalizes: from now on the file may change there
 *
 * Where the timer gives up, nobody knows whether a call to apply is still on its way:
 *
 *     source   give up      the row takes the next transfer version, and still nothing may change it
 *     target   fileGivenUp  told by that commit; a call to apply that reads after this finds no row with the old transfer version
 *     source   fileSettled  told by the commit of the target: from now on the file may change here
 *
 * - There is a row at every moment, so that the sweep never finds a blob that nobody names.
 * - (upload, hop) is unique on the server: of `apply` and of what gives up here, one commit is rejected, however late it
 *   comes. The turn runs again, is shown the row in the way, and does the other thing.
 * - The caller may die after each step. The timer then finalizes without knowing what the target did.
 * - An epoch fences a dead host at the activation of an actor, not at the claim of its shard. So a give-up is certain only once the
 *   target has committed after it. That commit comes after every earlier one of the target, and every former owner is fenced. Until
 *   then the row at the source keeps its transfer version taken.
 * - Neither side deletes or replaces the file before the transfer is finalized. So neither makes garbage of blobs that the
 *   other still names.
 * - Bytes count at the target from `apply` on, and at the source until `finalize`: twice for a moment, never not at all.
 * - The id of the transfer is that of the valet token, which is redeemed with the commit that finalizes.
 */
import { z } from 'zod';
import {
  type KeysPlan,
  type KeysResult,
  keys,
  type LookupResult,
  lookup,
  type Turn,
  type View,
} from '../../runtime/command.ts';
import { keyed, type MessageShape } from '../../runtime/contract.ts';
import type { SliceSource } from '../../runtime/slice.ts';
import { sliceMap } from '../../runtime/slice.ts';
import type { ValetClaims } from '../identity/valet-tokens.ts';
import { type Refused, refuse } from '../reply.ts';
import type { FileOwner } from './owner.ts';
import { redeem, redeemedOn } from './redeemed.ts';
import { putRow } from './state.ts';
import { type FileRow, file, fileKey } from './tables.ts';

const transfersMax = 100;
const incomingMax = 200;
/** Longer than any call is waited for. */
const finalizedAfterMs = 30_000;
const incomingMostMs = 86_400_000;
/** How long the source waits for a target that is gone and answers nothing. By then it has long been fenced. */
const abandonedMostMs = 86_400_000;

export const ownerSchema = z.object({ kind: z.enum(['user', 'vault']), uuid: z.string() });
export type OwnerOfFiles = z.infer<typeof ownerSchema>;

/** Keyed by the id of the token. */
export const outgoingFileMap = sliceMap({
  family: 'file-transfer',
  entriesMax: transfersMax,
  schema: z.object({
    to: ownerSchema,
    remoteIdentifier: z.string(),
    uploadUuid: z.string(),
    issuedMs: z.number(),
    endsMs: z.number(),
    /** The transfer version that the row took when it was given up, until the target has heard of that. */
    givenUpHop: z.int().optional(),
  }),
});

/** Keyed by the uuid of the upload: files that are here, and that their source has not finalized. */
export const incomingFileMap = sliceMap<{ readonly sinceMs: number }>({
  family: 'incoming-file',
  entriesMax: incomingMax,
  schema: z.object({ sinceMs: z.number() }),
});

export const finalizePayload = z.object({ id: z.string() });
type FinalizeTimer = MessageShape<z.infer<typeof finalizePayload>>;

export const movingFileSchema = z.object({
  remoteIdentifier: z.string(),
  uploadUuid: z.string(),
  storedUnder: z.string(),
  bytes: z.int(),
  layout: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
  closedAt: z.int(),
  hop: z.int(),
});
export type MovingFile = z.infer<typeof movingFileSchema>;

const nothingToMove = refuse.badRequest('There is no such file.');
const identifierInUse = refuse.badRequest('There is a file of this identifier already.');
const notMoved: Refused = refuse.notNow('The file was not moved. Please try again.', 1_000);
export const beingMoved: Refused = refuse.notNow('The file is being moved. Please try again.', 5_000);

/** Whether neither side may change it. */
export function isMoving(state: SliceSource & { readonly nowMs: number }, { upload_uuid }: FileRow): boolean {
  const incoming = state.entry(incomingFileMap, upload_uuid);
  if (incoming !== undefined && state.nowMs < incoming.sinceMs + incomingMostMs) return true;
  return [...state.entries(outgoingFileMap).values()].some(({ uploadUuid }) => uploadUuid === upload_uuid);
}

/** `isOver`: the token has moved the file already. */
export type PreparedFileTransfer = { readonly file: MovingFile } | { readonly isOver: true };

export function prepareFileTransfer({
  turn,
  claims,
  row,
  to,
  timer,
}: {
  readonly turn: Turn;
  readonly claims: ValetClaims;
  readonly row: FileRow | undefined;
  readonly to: OwnerOfFiles;
  readonly timer: FinalizeTimer;
}): PreparedFileTransfer | Refused {
  const { id, remoteIdentifier, issuedMs, endsMs } = claims;
  if (redeemedOn(turn, claims) !== undefined) return { isOver: true };
  if (row === undefined) return nothingToMove;
  const transfer = turn.entry(outgoingFileMap, id);
  if (transfer === undefined || transfer.givenUpHop !== undefined) {
    const isFull = turn.entries(outgoingFileMap).size >= transfersMax;
    if (transfer === undefined && (isFull || isMoving(turn, row))) return beingMoved;
    const uploadUuid = row.upload_uuid;
    turn.setEntry(outgoingFileMap, id, { to, remoteIdentifier, uploadUuid, issuedMs, endsMs });
    turn.arm(keyed(timer, id), turn.nowMs + finalizedAfterMs, { id });
  }
  return { file: movingFile(row) };
}

const movingFile = (row: FileRow): MovingFile => ({
  remoteIdentifier: row.remote_identifier,
  uploadUuid: row.upload_uuid,
  storedUnder: row.stored_under,
  bytes: row.bytes,
  layout: row.layout,
  closedAt: row.closed_at,
  hop: row.hop,
});

export const applyPlan = (view: View, { remoteIdentifier, uploadUuid, hop }: MovingFile) => ({
  there: keys(file, [fileKey(view, remoteIdentifier)]),
  left: lookup(file, [{ upload_uuid: uploadUuid, hop }]),
});
interface ApplyReads {
  readonly there: KeysResult<typeof file>;
  /** The row at the source. If there is none, the move is long over. */
  readonly left: LookupResult<typeof file>;
}

/** Calls `refusalForCapacity` only if the file is not here yet. The caller counts the bytes if this is `applied`. */
export function applyFileTransfer(
  turn: Turn,
  moving: MovingFile,
  { there, left }: ApplyReads,
  refusalForCapacity: () => Refused | undefined,
): 'applied' | 'was here' | Refused {
  const hop = moving.hop + 1;
  const { uploadUuid: upload_uuid } = moving;
  const row = there.get(fileKey(turn, moving.remoteIdentifier));
  if (row?.upload_uuid === upload_uuid && row.hop === hop) return 'was here';
  if (turn.conflicting(file, { upload_uuid, hop }) !== undefined || left.rows.length === 0) return notMoved;
  if (row !== undefined) return identifierInUse;
  const refused = refusalForCapacity();
  if (refused !== undefined) return refused;
  if (!noteIncoming(turn, upload_uuid)) return beingMoved;
  putRow(turn, {
    remote_identifier: moving.remoteIdentifier,
    upload_uuid,
    hop,
    stored_under: moving.storedUnder,
    bytes: moving.bytes,
    layout: Buffer.from(moving.layout),
    closed_at: moving.closedAt,
  });
  return 'applied';
}

/** False if too many are not finalized. */
function noteIncoming(turn: Turn, uploadUuid: string): boolean {
  for (const [uuid, { sinceMs }] of turn.entries(incomingFileMap)) {
    if (sinceMs + incomingMostMs <= turn.nowMs) turn.removeEntry(incomingFileMap, uuid);
  }
  if (turn.entries(incomingFileMap).size >= incomingMax) return false;
  turn.setEntry(incomingFileMap, uploadUuid, { sinceMs: turn.nowMs });
  return true;
}

export function forgetIncoming(turn: Turn, uploadUuid: string): void {
  turn.removeEntry(incomingFileMap, uploadUuid);
}

export function finalizePlan(view: View, id: string): { readonly files: KeysPlan<typeof file> } {
  const transfer = view.entry(outgoingFileMap, id);
  return { files: keys(file, transfer === undefined ? [] : [fileKey(view, transfer.remoteIdentifier)]) };
}

export interface Finalizing {
  readonly id: string;
  /** `unknown`: the target has not answered. */
  readonly applied: boolean | 'unknown';
  readonly files: KeysResult<typeof file>;
  readonly owner: FileOwner;
  readonly timer: FinalizeTimer;
}

/** The message that the target has to get. */
export type FinalizedTransfer =
  | { readonly outcome: 'moved'; readonly to: OwnerOfFiles; readonly uploadUuid: string }
  | { readonly outcome: 'given up'; readonly to: OwnerOfFiles; readonly hop: number };

/** Undefined if the file stays, or if that was decided before. */
export function finalizeFileTransfer(
  turn: Turn,
  { id, applied, files, owner, timer }: Finalizing,
): FinalizedTransfer | undefined {
  const transfer = turn.entry(outgoingFileMap, id);
  if (transfer === undefined) return undefined;
  turn.removeEntry(outgoingFileMap, id);
  turn.disarm(keyed(timer, id));
  const { to, uploadUuid, remoteIdentifier, givenUpHop, ...token } = transfer;
  if (givenUpHop !== undefined && applied === 'unknown') return undefined;
  const key = fileKey(turn, remoteIdentifier);
  const row = files.get(key);
  if (row?.upload_uuid !== uploadUuid) return undefined;
  const next = { upload_uuid: uploadUuid, hop: row.hop + 1 };
  const conflicting = turn.conflicting(file, next);
  const isGone = applied === true || (conflicting !== undefined && conflicting.owner_uuid !== turn.self.id);
  if (isGone) {
    turn.remove(file, key);
    owner.quota.grow(-row.bytes);
    redeem(turn, { id, ...token }, 'move');
    return { outcome: 'moved', to, uploadUuid };
  }
  putRow(turn, { ...row, ...next });
  if (applied === false) return undefined;
  turn.setEntry(outgoingFileMap, id, { ...transfer, givenUpHop: next.hop });
  turn.arm(keyed(timer, id), turn.nowMs + abandonedMostMs, { id });
  return { outcome: 'given up', to, hop: next.hop };
}

/** Ends a transfer that was given up at this transfer version, unless it has begun again since. */
export function settleFile(
  turn: Turn,
  { id, hop }: { readonly id: string; readonly hop: number },
  timer: FinalizeTimer,
): void {
  if (turn.entry(outgoingFileMap, id)?.givenUpHop !== hop) return;
  turn.removeEntry(outgoingFileMap, id);
  turn.disarm(keyed(timer, id));
}
