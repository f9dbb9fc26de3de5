/**
 * Moves an item from one collection, its *source*, to another, its *target* (decision 35). It has one owning collection at any
 * moment: the one whose row of the uuid has the greatest transfer version (the column `hop`).
 *
 *     source   prepare    commits which items may leave, at which transfer version, and a timer; their rows stay
 *     target   apply      checks rights, fields and capacity, then writes the row with the next transfer version: from this
 *                         commit on the target is the owning collection
 *     source   finalize   leaves a forwarding tombstone if the target applied the item; if not, its own row takes the next
 *                         transfer version, which ends the transfer
 *
 * - (uuid, hop) is unique on the server. `apply` and any commit that ends the transfer at the source write the same pair, so one
 *   of the two is rejected. No clock decides that, and no answer is needed.
 * - The unique key blocks a write only while a row holds it. So a row keeps its transfer version until every other row of the item
 *   is a forwarding tombstone. Until then the source does not give it the next one, and no later transfer replaces it. A caller
 *   that still has to finalize then finds the next transfer version taken. `apply` first looks for the row at its source, so a call
 *   that comes after all of that writes nothing.
 * - The caller may die after each step. The timer then finalizes without knowing what the target did: it takes the next
 *   transfer version. If another row has that version, the commit is rejected and shows that row. The turn then runs again and leaves
 *   a forwarding tombstone instead. Nothing repeats `apply`: the client got no answer and sends the item again.
 * - A save of an item that is being transferred takes the next transfer version too. So it comes first, or it finds the item
 *   gone.
 * - Between `apply` and `finalize` there are two rows. A reader of both gives the newer one.
 */
import { z } from 'zod';
import {
  type KeysPlan,
  type KeysResult,
  keys,
  type Turn,
  timer,
  type View,
} from '../../../runtime/command.ts';
import { keyed, type MessageShape } from '../../../runtime/contract.ts';
import { OverloadedError } from '../../../runtime/errors.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { type Head, head, headAfterWrite } from '../head.ts';
import {
  forwardingTombstoneOf,
  type ItemRow,
  isForwardingTombstone,
  isWhole,
  item,
  transferVersionOf,
} from '../item.ts';
import { archiveRevision, holdsRevision } from '../revisions/held.ts';
import { scheduleTrim, type TrimTimer } from '../revisions/usage.ts';
import { ItemSettings } from '../settings.ts';
import { isAwaited, type Locations, locationsPlan, successorOf } from './location-lookup.ts';

const transfersMax = 100;
/** Longer than any call is waited for. */
const finalizedAfterMs = 30_000;
/** Pause before the timer looks again whether earlier transfers of the items are finalized. */
const awaitedPauseMs = 5_000;

/** The items of one transfer, by its id. */
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

export const finalizePayload = z.object({ id: z.string() });
export type FinalizeTimer = MessageShape<z.infer<typeof finalizePayload>>;
interface FinalizeTimers {
  readonly finalizeOverdueTransfer: FinalizeTimer;
  readonly trimRevisions: TrimTimer;
}

/** Begins to transfer the items of these rows, which the turn has read. Returns the id of the transfer. */
export function prepareTransfer(
  turn: Turn,
  { to, isRemoval }: Pick<OutgoingTransfer, 'to' | 'isRemoval'>,
  rows: readonly ItemRow[],
  message: FinalizeTimer,
): string {
  if (turn.entries(outgoingTransferMap).size >= transfersMax) {
    throw new OverloadedError('too many items of this collection are on their way');
  }
  const id = turn.random.uuid();
  const hops = Object.fromEntries(rows.map((row) => [row.uuid, transferVersionOf(row)]));
  turn.setEntry(outgoingTransferMap, id, { to, ...(isRemoval && { isRemoval }), hops });
  turn.arm(keyed(message, id), turn.nowMs + finalizedAfterMs, { id });
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

/** The row of another collection with the next transfer version, once a commit was rejected because of it. */
export function conflictingTransfer(
  view: View,
  row: Pick<ItemRow, 'uuid' | 'collection' | 'hop'>,
): ItemRow | undefined {
  const conflicting = view.conflicting(item, { uuid: row.uuid, hop: transferVersionOf(row) + 1 });
  return conflicting?.collection === row.collection ? undefined : conflicting;
}

export interface FinalizeReads extends Locations {
  readonly gone: KeysResult<typeof item>;
  readonly left: KeysResult<typeof item>;
}
type FinalizePlans = {
  readonly gone: KeysPlan<typeof item>;
  readonly left: KeysPlan<typeof item>;
} & ReturnType<typeof locationsPlan>;

/** Rows of applied items are read with their ciphertext too, as their revisions stay here. */
export function finalizePlan(view: View, id: string, applied: readonly string[] = []): FinalizePlans {
  const collection = view.self.id;
  const { bytes } = view.use(ItemSettings).turnLimits;
  const uuids = Object.keys(view.entry(outgoingTransferMap, id)?.hops ?? {});
  const left = uuids.filter((uuid) => !applied.includes(uuid));
  const keysOf = (of: readonly string[]) => of.map((uuid) => ({ collection, uuid }));
  return {
    gone: keys(item, keysOf(uuids.filter((uuid) => applied.includes(uuid))), bytes),
    left: keys(item, keysOf(left), bytes),
    ...locationsPlan(left),
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
  const message = timers.finalizeOverdueTransfer;
  const transfer = turn.entry(outgoingTransferMap, id);
  if (transfer === undefined) return [];
  const before = turn.get(head);
  let after = before;
  const left: Record<string, number> = {};
  let pauseMs = awaitedPauseMs;
  let isStored = false;
  const tombstones: ItemRow[] = [];
  for (const [uuid, hops] of Object.entries(transfer.hops)) {
    const isGone = applied.includes(uuid);
    const row = (isGone ? reads.gone : reads.left).get({ collection: turn.self.id, uuid });
    if (row === undefined || isForwardingTombstone(row) || transferVersionOf(row) !== hops) continue;
    const target = isGone
      ? transfer.to
      : (conflictingTransfer(turn, row) ?? successorOf(row, reads))?.collection;
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
  if (Object.keys(left).length > 0) {
    turn.setEntry(outgoingTransferMap, id, { ...transfer, hops: left });
    turn.arm(keyed(message, id), turn.nowMs + pauseMs, { id });
    return tombstones;
  }
  turn.removeEntry(outgoingTransferMap, id);
  turn.disarm(keyed(message, id));
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
  timer({
    ...timers.finalizeOverdueTransfer,
    reads: (view, { id }) => finalizePlan(view, id),
    turn: (turn, { id }, reads) => {
      finalizeTransfer({ turn, id, applied: [], reads, timers });
    },
  });
