/**
 * How a file moves from one owner, its *source*, to another, its *target* (decision 36). No byte is copied: its row changes hands,
 * and its blobs keep their names.
 *
 *     source   depart     durable: which file, at which transfer version, where to, and a timer; its row stays as it is
 *     target   arrive     rights and room looked at; the row is written with the next transfer version: the file is there now
 *     source   conclude   if it has arrived, the row goes; if not, it takes the next transfer version here
 *     target   fileMoved  told by the commit that concludes: from now on the file may change there
 *
 * Where the timer gives up, nobody knows whether an arrival is still under way:
 *
 *     source   give up   the row takes the next transfer version, and still nothing may change it
 *     target   fileGivenUp   told by that commit; what is read for an arrival after this finds no row with the
 *                            old transfer version
 *     source   fileSettled   told by the commit of the target: from now on the file may change here
 *
 * - There is a row at every moment, so that the sweep never finds a blob that nobody names.
 * - (upload, hop) is unique on the server: of `arrive` and of what gives up here, one commit is rejected, however late it
 *   comes. The turn runs again, is shown the row in the way, and does the other thing.
 * - The caller of these steps may die after each. The timer concludes then without knowing what the target has done.
 * - An epoch fences a dead host at the activation of an actor, not at the claim of its shard. So a give-up is certain only once the
 *   target has committed after it: that commit comes after every earlier one of the target, and every former owner is fenced.
 *   Until then the row at the source keeps its transfer version taken.
 * - Nothing else happens to a file on its way: neither side deletes or replaces it before the move is concluded. So nothing
 *   becomes garbage that the other side still names.
 * - Bytes count at the target from `arrive` on, and at the source until `conclude`: twice for a moment, never not at all.
 * - The id of the departure is that of the valet token, which is redeemed with the commit that concludes.
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
import type { State } from '../../runtime/slice.ts';
import { sliceMap } from '../../runtime/slice.ts';
import type { ValetClaims } from '../identity/valet-tokens.ts';
import { type Refused, refuse } from '../reply.ts';
import { change, filesSlice } from './ledger.ts';
import type { Owner } from './owner.ts';
import { redeem, redeemedOn } from './redeemed.ts';
import { type FileRow, file } from './tables.ts';

const departuresMax = 100;
const arrivalsMax = 200;
/** Longer than any call is waited for. */
const concludedAfterMs = 30_000;
const arrivalMostMs = 86_400_000;
/** Until a target that is gone, and answers nothing, is no longer waited for. It has been fenced for long. */
const givenUpMostMs = 86_400_000;

export const ownerSchema = z.object({ kind: z.enum(['user', 'vault']), uuid: z.string() });
export type OwnerOfFiles = z.infer<typeof ownerSchema>;

/** By the id of the token. */
export const fileDepartureMap = sliceMap<{
  readonly to: OwnerOfFiles;
  readonly remoteIdentifier: string;
  readonly uploadUuid: string;
  readonly issuedMs: number;
  readonly endsMs: number;
  /** The transfer version that the row took when it was given up, until the target has heard of that. */
  readonly givenUpHop?: number | undefined;
}>({
  family: 'file-departure',
  format: 1,
  entriesMax: departuresMax,
  schema: z.object({
    to: ownerSchema,
    remoteIdentifier: z.string(),
    uploadUuid: z.string(),
    issuedMs: z.number(),
    endsMs: z.number(),
    givenUpHop: z.int().optional(),
  }),
});

/** By the uuid of the upload: what is here, and not concluded at its source. */
export const fileArrivalMap = sliceMap<{ readonly sinceMs: number }>({
  family: 'file-arrival',
  format: 1,
  entriesMax: arrivalsMax,
  schema: z.object({ sinceMs: z.number() }),
});

export const concludePayload = z.object({ id: z.string() });
type ConcludeTimer = MessageShape<z.infer<typeof concludePayload>>;

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
const isTaken = refuse.badRequest('There is a file of this identifier already.');
const givenUp: Refused = refuse.notNow('The file was not moved. Please try again.', 1_000);
export const beingMoved: Refused = refuse.notNow('The file is being moved. Please try again.', 5_000);

/** Whether neither side may change it. */
export function isMoving(state: State & { readonly nowMs: number }, { upload_uuid }: FileRow): boolean {
  const arrival = state.entry(fileArrivalMap, upload_uuid);
  if (arrival !== undefined && state.nowMs < arrival.sinceMs + arrivalMostMs) return true;
  return [...state.entries(fileDepartureMap).values()].some(({ uploadUuid }) => uploadUuid === upload_uuid);
}

/** `isOver`: the token has moved it. */
export type Departed = { readonly file: MovingFile } | { readonly isOver: true };

export function departFile({
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
  readonly timer: ConcludeTimer;
}): Departed | Refused {
  const { id, remoteIdentifier, issuedMs, endsMs } = claims;
  if (redeemedOn(turn, claims) !== undefined) return { isOver: true };
  if (row === undefined) return nothingToMove;
  const departure = turn.entry(fileDepartureMap, id);
  if (departure === undefined || departure.givenUpHop !== undefined) {
    const isFull = turn.entries(fileDepartureMap).size >= departuresMax;
    if (departure === undefined && (isFull || isMoving(turn, row))) return beingMoved;
    const uploadUuid = row.upload_uuid;
    turn.setEntry(fileDepartureMap, id, { to, remoteIdentifier, uploadUuid, issuedMs, endsMs });
    turn.arm(keyed(timer, id), turn.nowMs + concludedAfterMs, { id });
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

const keyOf = ({ self }: Pick<View, 'self'>, remoteIdentifier: string) => ({
  owner_uuid: self.id,
  remote_identifier: remoteIdentifier,
});

export const arrivalPlan = (view: View, { remoteIdentifier, uploadUuid, hop }: MovingFile) => ({
  there: keys(file, [keyOf(view, remoteIdentifier)]),
  left: lookup(file, [{ upload_uuid: uploadUuid, hop }]),
});
interface ArrivalReads {
  readonly there: KeysResult<typeof file>;
  /** At its source. Where there is none, the move is long over. */
  readonly left: LookupResult<typeof file>;
}

/** `lacksRoom` is asked only for what is not here yet. The caller lets the bytes count if it `arrived`. */
export function arriveFile(
  turn: Turn,
  moving: MovingFile,
  { there, left }: ArrivalReads,
  lacksRoom: () => Refused | undefined,
): 'arrived' | 'was here' | Refused {
  const hop = moving.hop + 1;
  const { uploadUuid: upload_uuid } = moving;
  const row = there.get(keyOf(turn, moving.remoteIdentifier));
  if (row?.upload_uuid === upload_uuid && row.hop === hop) return 'was here';
  if (turn.conflicting(file, { upload_uuid, hop }) !== undefined || left.rows.length === 0) return givenUp;
  if (row !== undefined) return isTaken;
  const refused = lacksRoom();
  if (refused !== undefined) return refused;
  if (!noteArrival(turn, upload_uuid)) return beingMoved;
  const sequence = turn.get(filesSlice).sequence + 1;
  turn.put(file, {
    ...keyOf(turn, moving.remoteIdentifier),
    sequence,
    upload_uuid,
    hop,
    stored_under: moving.storedUnder,
    bytes: moving.bytes,
    layout: Buffer.from(moving.layout),
    closed_at: moving.closedAt,
  });
  change(turn, { sequence });
  return 'arrived';
}

/** False where too many are not concluded. */
function noteArrival(turn: Turn, uploadUuid: string): boolean {
  for (const [uuid, { sinceMs }] of turn.entries(fileArrivalMap)) {
    if (sinceMs + arrivalMostMs <= turn.nowMs) turn.removeEntry(fileArrivalMap, uuid);
  }
  if (turn.entries(fileArrivalMap).size >= arrivalsMax) return false;
  turn.setEntry(fileArrivalMap, uploadUuid, { sinceMs: turn.nowMs });
  return true;
}

export function forgetArrival(turn: Turn, uploadUuid: string): void {
  turn.removeEntry(fileArrivalMap, uploadUuid);
}

export function concludePlan(view: View, id: string): { readonly files: KeysPlan<typeof file> } {
  const departure = view.entry(fileDepartureMap, id);
  return { files: keys(file, departure === undefined ? [] : [keyOf(view, departure.remoteIdentifier)]) };
}

export interface Concluding {
  readonly id: string;
  /** `unknown`: nobody has heard from the target. */
  readonly arrived: boolean | 'unknown';
  readonly files: KeysResult<typeof file>;
  readonly owner: Owner;
  readonly timer: ConcludeTimer;
}

/** What the target is to be told. */
export type Concluded =
  | { readonly outcome: 'moved'; readonly to: OwnerOfFiles; readonly uploadUuid: string }
  | { readonly outcome: 'given up'; readonly to: OwnerOfFiles; readonly hop: number };

/** Undefined: it stays, or that was decided before. */
export function concludeFile(
  turn: Turn,
  { id, arrived, files, owner, timer }: Concluding,
): Concluded | undefined {
  const departure = turn.entry(fileDepartureMap, id);
  if (departure === undefined) return undefined;
  turn.removeEntry(fileDepartureMap, id);
  turn.disarm(keyed(timer, id));
  const { to, uploadUuid, remoteIdentifier, givenUpHop, ...token } = departure;
  if (givenUpHop !== undefined && arrived === 'unknown') return undefined;
  const key = keyOf(turn, remoteIdentifier);
  const row = files.get(key);
  if (row?.upload_uuid !== uploadUuid) return undefined;
  const next = { upload_uuid: uploadUuid, hop: row.hop + 1 };
  const elsewhere = turn.conflicting(file, next);
  const isGone = arrived === true || (elsewhere !== undefined && elsewhere.owner_uuid !== turn.self.id);
  if (isGone) {
    turn.remove(file, key);
    owner.quota.grow(-row.bytes);
    redeem(turn, { id, ...token }, 'move');
    return { outcome: 'moved', to, uploadUuid };
  }
  const sequence = turn.get(filesSlice).sequence + 1;
  turn.put(file, { ...row, ...next, sequence });
  change(turn, { sequence });
  if (arrived === false) return undefined;
  turn.setEntry(fileDepartureMap, id, { ...departure, givenUpHop: next.hop });
  turn.arm(keyed(timer, id), turn.nowMs + givenUpMostMs, { id });
  return { outcome: 'given up', to, hop: next.hop };
}

/** The target has heard that the move was given up at this transfer version. It may have begun again since. */
export function settleFile(
  turn: Turn,
  { id, hop }: { readonly id: string; readonly hop: number },
  timer: ConcludeTimer,
): void {
  if (turn.entry(fileDepartureMap, id)?.givenUpHop !== hop) return;
  turn.removeEntry(fileDepartureMap, id);
  turn.disarm(keyed(timer, id));
}
