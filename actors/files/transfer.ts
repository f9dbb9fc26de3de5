/**
 * The transfer of files between owners (`actors/transfer.ts`, decision 36). No byte is copied: the row changes hands, and the
 * blobs keep their names. The source removes its row when it finalizes, and both sides leave the file as it is until then:
 *
 *     target   fileMoved    told by the commit that finalizes: from now on the file may change there
 *
 * Where the timer gives up, nobody knows whether a call to apply is still on its way:
 *
 *     source   give up      the row takes the next transfer version, and still nothing may change it
 *     target   fileGivenUp  told by that commit; a call to apply that reads after this finds no row with the old transfer version
 *     source   fileSettled  told by the commit of the target: from now on the file may change here
 *
 * - There is a row at every moment, so that the sweep never finds a blob that nobody names.
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
  type PlanResults,
  type Plans,
  type Turn,
  tell,
  timer,
  type View,
} from '../../runtime/command.ts';
import type { MessageShapes, Tells } from '../../runtime/contract.ts';
import { type SliceSource, sliceMap } from '../../runtime/slice.ts';
import type { ValetClaims } from '../identity/valet-tokens.ts';
import { type Refused, refuse } from '../reply.ts';
import {
  dropNote,
  type FinalizeTimer,
  hasNoMoreNotes,
  keepNote,
  rivalOf,
  transfersMax,
} from '../transfer.ts';
import type { fileMoveTellShapes } from './messages.ts';
import type { FileOwner } from './owner.ts';
import { redeem, redeemedOn } from './redeemed.ts';
import { putRow } from './state.ts';
import { type FileRow, file, fileKey } from './tables.ts';

const incomingMax = 200;
const incomingMaxMs = 86_400_000;
/** How long the source waits for a target that is gone and answers nothing. By then it has long been fenced. */
const abandonedMaxMs = 86_400_000;

export const ownerSchema = z.object({ kind: z.enum(['user', 'vault']), uuid: z.string() });
export type OwnerOfFiles = z.infer<typeof ownerSchema>;

/** The note of one transfer, by the id of the token. */
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
  if (incoming !== undefined && state.nowMs < incoming.sinceMs + incomingMaxMs) return true;
  return [...state.entries(outgoingFileMap).values()].some(({ uploadUuid }) => uploadUuid === upload_uuid);
}

/** `isOver`: the token has moved the file already. */
export type PreparedFileTransfer = { readonly file: MovingFile } | { readonly isOver: true };

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
    if (sinceMs + incomingMaxMs <= turn.nowMs) turn.removeEntry(incomingFileMap, uuid);
  }
  if (turn.entries(incomingFileMap).size >= incomingMax) return false;
  turn.setEntry(incomingFileMap, uploadUuid, { sinceMs: turn.nowMs });
  return true;
}

export function finalizePlan(view: View, id: string): { readonly files: KeysPlan<typeof file> } {
  const note = view.entry(outgoingFileMap, id);
  return { files: keys(file, note === undefined ? [] : [fileKey(view, note.remoteIdentifier)]) };
}

interface FinalizeReads {
  readonly files: KeysResult<typeof file>;
}

/** What a kind of owners brings to its moves, besides the shapes in its contract. */
interface FileMoves<P extends Plans> {
  readonly timers: { readonly finalizeOverdueFile: FinalizeTimer };
  readonly tells: MessageShapes<typeof fileMoveTellShapes>;
  /** Adds to `finalizePlan` what the other functions read. */
  readonly plan: (view: View, id: string) => P;
  readonly owner: (turn: Turn, reads: PlanResults<P>) => FileOwner;
  /** The tells of another owner. */
  readonly tellsOf: (
    turn: Turn,
    owner: { readonly kind: string; readonly uuid: string },
  ) => Tells<MessageShapes<typeof fileMoveTellShapes>>;
  /** Called in the commit by which a file leaves. */
  readonly hasLeft?: (turn: Turn, reads: PlanResults<P>) => void;
}

/** The source: what it prepares, and how it finalizes, after an answer of the target or by the timer without one. */
export function fileMoves<P extends Plans>({
  timers: { finalizeOverdueFile },
  tells,
  plan,
  owner,
  tellsOf,
  hasLeft,
}: FileMoves<P>) {
  const notes = { map: outgoingFileMap, timer: finalizeOverdueFile };

  function prepare(
    turn: Turn,
    claims: ValetClaims,
    row: FileRow | undefined,
    to: OwnerOfFiles,
  ): PreparedFileTransfer | Refused {
    const { id, remoteIdentifier, issuedMs, endsMs } = claims;
    if (redeemedOn(turn, claims) !== undefined) return { isOver: true };
    if (row === undefined) return nothingToMove;
    const before = turn.entry(outgoingFileMap, id);
    if (before === undefined && (hasNoMoreNotes(turn, outgoingFileMap) || isMoving(turn, row)))
      return beingMoved;
    if (before === undefined || before.givenUpHop !== undefined) {
      const note = { to, remoteIdentifier, uploadUuid: row.upload_uuid, issuedMs, endsMs };
      keepNote(turn, notes, { id, note });
    }
    return { file: movingFile(row) };
  }

  /** True: the file has moved by this. False if it stays, or if that was decided before. */
  function finalize(turn: Turn, id: string, applied: boolean | 'unknown', reads: PlanResults<P>): boolean {
    const note = turn.entry(outgoingFileMap, id);
    if (note === undefined) return false;
    dropNote(turn, notes, id);
    const { to, uploadUuid, remoteIdentifier, givenUpHop, ...token } = note;
    if (givenUpHop !== undefined && applied === 'unknown') return false;
    const key = fileKey(turn, remoteIdentifier);
    const row = (reads as unknown as FinalizeReads).files.get(key);
    if (row?.upload_uuid !== uploadUuid) return false;
    const next = { upload_uuid: uploadUuid, hop: row.hop + 1 };
    if (applied === true || rivalOf(turn, file, next) !== undefined) {
      turn.remove(file, key);
      owner(turn, reads).quota.grow(-row.bytes);
      redeem(turn, { id, ...token }, 'move');
      tellsOf(turn, to).fileMoved({ uploadUuid });
      hasLeft?.(turn, reads);
      return true;
    }
    putRow(turn, { ...row, ...next });
    if (applied === false) return false;
    keepNote(turn, notes, { id, note: { ...note, givenUpHop: next.hop }, forMs: abandonedMaxMs });
    tellsOf(turn, to).fileGivenUp({ id, hop: next.hop });
    return false;
  }

  return {
    prepare,
    plan,
    finalize,
    timer: timer(finalizeOverdueFile, {
      reads: (view, { id }) => plan(view, id),
      turn: (turn, { id }, reads) => {
        finalize(turn, id, 'unknown', reads);
      },
    }),
    tells: {
      fileMoved: tell(tells.fileMoved, (turn, { uploadUuid }) =>
        turn.removeEntry(incomingFileMap, uploadUuid),
      ),
      fileGivenUp: tell(tells.fileGivenUp, (turn, givenUp, { address: { kind, id } }) =>
        tellsOf(turn, { kind, uuid: id }).fileSettled(givenUp),
      ),
      fileSettled: tell(tells.fileSettled, (turn, { id, hop }) => {
        // The transfer may have begun again since.
        if (turn.entry(outgoingFileMap, id)?.givenUpHop === hop) dropNote(turn, notes, id);
      }),
    },
  };
}
