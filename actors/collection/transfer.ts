/**
 * The transfer of items between collections (`actors/transfer.ts`, decision 35). The source keeps a *forwarding tombstone*.
 *
 * - A row keeps its transfer version until every other row of the item is a forwarding tombstone. Until then the source does not
 *   give it the next one, and no later transfer replaces it. A caller that still has to finalize then finds the next transfer
 *   version taken.
 * - A save of an item that is being transferred takes the next transfer version too. So it comes first, or it finds the item
 *   gone.
 * - Between `apply` and `finalize` there are two rows. A reader of both gives the newer one.
 */
import { z } from 'zod';
import { type KeysPlan, type KeysResult, keys, type Turn, timer, type View } from '../../runtime/command.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import { sliceMap } from '../../runtime/slice.ts';
import {
  dropNote,
  type FinalizeTimer,
  hasNoMoreNotes,
  keepNote,
  rivalOf,
  transfersMax,
} from '../transfer.ts';
import { type Head, head, headAfterWrite } from './head.ts';
import {
  forwardingTombstoneOf,
  type ItemRow,
  isForwardingTombstone,
  isWhole,
  item,
  transferVersionOf,
} from './item.ts';
import {
  isAwaited,
  isStillAt,
  type LocationPlans,
  type Locations,
  locationsPlan,
  notFinalized,
  successorOf,
} from './locations.ts';
import { archiveRevision, holdsRevision } from './revisions/held.ts';
import { scheduleTrim, type TrimTimer } from './revisions/usage.ts';
import { ItemSettings } from './settings.ts';

/** Pause before the timer looks again whether earlier transfers of the items are finalized. */
const awaitedPauseMs = 5_000;

/** The note of one transfer, by its id. */
export interface OutgoingTransfer {
  readonly to: string;
  /** Out of a vault, to the owner of the items. */
  readonly isRemoval?: boolean | undefined;
  /** The transfer version of each, by uuid. */
  readonly hops: Readonly<Record<string, number>>;
}

export const outgoingTransferMap = sliceMap<OutgoingTransfer>({
  family: 'outgoing-transfer',
  entriesMax: transfersMax,
  schema: z.object({
    to: z.string(),
    isRemoval: z.boolean().optional(),
    hops: z.record(z.string(), z.int()),
  }),
});

interface FinalizeTimers {
  readonly finalizeOverdueTransfer: FinalizeTimer;
  readonly trimRevisions: TrimTimer;
}

/** Begins to transfer the items of these rows, which the turn has read. Returns the id of the transfer. */
export function prepareTransfer(
  turn: Turn,
  { to, isRemoval }: Pick<OutgoingTransfer, 'to' | 'isRemoval'>,
  rows: readonly ItemRow[],
  timer: FinalizeTimer,
): string {
  if (hasNoMoreNotes(turn, outgoingTransferMap)) {
    throw new OverloadedError('too many items of this collection are on their way');
  }
  const id = turn.random.uuid();
  const hops = Object.fromEntries(rows.map((row) => [row.uuid, transferVersionOf(row)]));
  const note = { to, ...(isRemoval && { isRemoval }), hops };
  keepNote(turn, { map: outgoingTransferMap, timer }, { id, note });
  return id;
}

/** The transfer versions of the items that may be leaving, by uuid. */
export function outgoingTransferVersions(view: View): ReadonlyMap<string, number> {
  const transfers = view.entries(outgoingTransferMap);
  if (transfers.size === 0) return nothing;
  const greatest = new Map<string, number>();
  for (const { hops } of transfers.values()) {
    for (const [uuid, each] of Object.entries(hops))
      greatest.set(uuid, Math.max(each, greatest.get(uuid) ?? 0));
  }
  return greatest;
}

const nothing: ReadonlyMap<string, number> = new Map();

/** The row of the collection that has the item now, as far as the turn knows. */
const rowAtTarget = (view: View, row: ItemRow, locations: Locations): ItemRow | undefined =>
  rivalOf(view, item, { uuid: row.uuid, hop: transferVersionOf(row) + 1 }) ?? successorOf(row, locations);

/**
 * A save of an item that may be leaving takes the next transfer version, which ends the transfer. If the target has applied it
 * meanwhile, the commit is rejected, and the turn that runs again finds the item there. A turn that writes nothing has no such
 * fence, so it looks for the target's row first.
 */
export function fenced(turn: Turn, row: ItemRow | undefined, locations: Locations): ItemRow | undefined {
  if (row === undefined || row.collection !== turn.self.id || isForwardingTombstone(row)) return row;
  if (outgoingTransferVersions(turn).get(row.uuid) !== transferVersionOf(row)) return row;
  const successor = rowAtTarget(turn, row, locations);
  if (successor === undefined && isAwaited(row, locations)) throw notFinalized();
  return successor ?? { ...row, hop: transferVersionOf(row) + 1 };
}

export interface FinalizeReads extends Locations {
  readonly leaving: KeysResult<typeof item>;
}
type FinalizePlans = { readonly leaving: KeysPlan<typeof item> } & LocationPlans;

/** Rows of applied items are read with their ciphertext too, as their revisions stay here. */
export function finalizePlan(view: View, id: string, applied: readonly string[] = []): FinalizePlans {
  const collection = view.self.id;
  const uuids = Object.keys(view.entry(outgoingTransferMap, id)?.hops ?? {});
  return {
    leaving: keys(
      item,
      uuids.map((uuid) => ({ collection, uuid })),
      view.use(ItemSettings).turnLimits.bytes,
    ),
    ...locationsPlan(uuids.filter((uuid) => !applied.includes(uuid))),
  };
}

/**
 * Ends a transfer for as many of its items as one turn reads; the timer does the rest. Returns the rows that became
 * forwarding tombstones.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the cases of a transfer are decided in one order.
export function finalizeTransfer({
  turn,
  id,
  applied,
  reads,
  timers,
}: {
  readonly turn: Turn;
  readonly id: string;
  readonly applied: readonly string[];
  readonly reads: FinalizeReads;
  readonly timers: FinalizeTimers;
}): readonly ItemRow[] {
  const notes = { map: outgoingTransferMap, timer: timers.finalizeOverdueTransfer };
  const transfer = turn.entry(outgoingTransferMap, id);
  if (transfer === undefined) return [];
  const before = turn.get(head);
  let after = before;
  const left: Record<string, number> = {};
  let pauseMs = awaitedPauseMs;
  let isStored = false;
  const tombstones: ItemRow[] = [];
  for (const [uuid, hops] of Object.entries(transfer.hops)) {
    const row = reads.leaving.get({ collection: turn.self.id, uuid });
    if (row === undefined || isForwardingTombstone(row) || transferVersionOf(row) !== hops) continue;
    const target = applied.includes(uuid) ? transfer.to : rowAtTarget(turn, row, reads)?.collection;
    const isUnread = !isWhole(row) && (target === undefined || holdsRevision(row));
    if (isUnread || (target === undefined && isAwaited(row, reads))) {
      left[uuid] = hops;
      if (isUnread) pauseMs = 0;
      continue;
    }
    if (target !== undefined && archiveRevision(turn, row)) isStored = true;
    const next =
      target === undefined ? stays(row, after) : forwardingTombstoneOf(row, target, after.position + 1);
    turn.put(item, next);
    after = headAfterWrite(after, next, row);
    if (target !== undefined) tombstones.push(next);
  }
  if (after !== before) turn.set(head, after);
  if (isStored) scheduleTrim(turn, timers.trimRevisions);
  if (Object.keys(left).length === 0) dropNote(turn, notes, id);
  else keepNote(turn, notes, { id, note: { ...transfer, hops: left }, forMs: pauseMs });
  return tombstones;
}

/** The same version of the item. Its new transfer version keeps a late `apply` out. */
const stays = (row: ItemRow, { position }: Head): ItemRow => ({
  ...row,
  position: position + 1,
  hop: transferVersionOf(row) + 1,
});

/** Finalizes a transfer whose caller died, or waited too long. */
export const finalizeTimer = (timers: FinalizeTimers) =>
  timer(timers.finalizeOverdueTransfer, {
    reads: (view, { id }) => finalizePlan(view, id),
    turn: (turn, { id }, reads) => {
      finalizeTransfer({ turn, id, applied: [], reads, timers });
    },
  });

/** The stored rows of the sent items here, and for those that are being transferred, their rows in any collection. */
export interface StoredReads extends Locations {
  readonly stored: KeysResult<typeof item>;
}

/** Whether the item has not been here since the transfer began, and nothing has ended the transfer. */
export function canApply(turn: Turn, row: ItemRow, reads: StoredReads): boolean {
  const { uuid } = row;
  const here = reads.stored.get({ collection: turn.self.id, uuid });
  if (here !== undefined && transferVersionOf(here) > transferVersionOf(row)) return false;
  const conflicting = turn.conflicting(item, { uuid, hop: transferVersionOf(row) + 1 });
  if (conflicting !== undefined || !isStillAt(row, reads)) return false;
  if (isAwaited({ ...row, collection: turn.self.id }, reads, row.collection)) throw notFinalized();
  return true;
}
