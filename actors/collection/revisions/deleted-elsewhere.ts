/**
 * Removes what is left of the history of a deleted item in the other collections that the item came through.
 *
 *     deletion   the collection removes its own revisions. If the item has moved before, the same commit tells the collection
 *                itself (`deletedHere`)
 *     look-up    it looks up which other collections the item came through, and tells each (tell-elsewhere.ts)
 *     elsewhere  each removes its own (`deletedElsewhere`). A user also passes it on to vaults, for hosts of an earlier release
 *
 * - The item may have been saved again, and moved back, before the tell arrives. The time of its saves grows wherever it is, and a
 *   save after the deletion is in a later millisecond (`stamp`). So only revisions from before the deletion are removed.
 * - A collection that has not finalized the transfer of the item yet still holds a revision, and would write it later. The tell
 *   waits for that.
 * - It does not depend on the owner of the item. Their account may be gone, and the item may stay in a vault of others.
 * - A crash leaves the tell.
 */
import { z } from 'zod';
import { type KeysPlan, type KeysResult, keys, type Turn, type View } from '../../../runtime/command.ts';
import { type ItemRow, isForwardingTombstone, item, itemKey, transferVersionOf } from '../item.ts';
import { notFinalized } from '../locations.ts';
import { archivedRevisions } from './held.ts';
import { type SlotKey, usedSlotKeys } from './slots.ts';
import { revision } from './table.ts';

const deletedItem = z.object({
  itemUuid: z.string(),
  /** How many revisions its saves had made. */
  revisions: z.int(),
  isDuplicate: z.boolean(),
  deletedMicros: z.int(),
});
export type DeletedItem = z.infer<typeof deletedItem>;

export const deletedElsewherePayload = z.object({ items: z.array(deletedItem).readonly() });
export type DeletedElsewhere = z.infer<typeof deletedElsewherePayload>;

/** Slots that one tell reads, unless a single item has more. */
const slotsMax = 1_000;

const slotsOf = (collection: string, { itemUuid, revisions, isDuplicate }: DeletedItem): readonly SlotKey[] =>
  usedSlotKeys(collection, itemUuid, revisions, isDuplicate);

/** Undefined: no other collection has revisions of the item. */
export function deletedOf(tombstone: ItemRow, replaced: ItemRow): DeletedItem | undefined {
  const revisions = archivedRevisions(replaced);
  const isDuplicate = tombstone.duplicate_of !== null;
  if (transferVersionOf(tombstone) === 0 || (revisions === 0 && !isDuplicate)) return undefined;
  return {
    itemUuid: tombstone.uuid,
    revisions,
    isDuplicate,
    deletedMicros: tombstone.updated_at_timestamp,
  };
}

/** Splits the items into tells, each of which reads at most `slotsMax` slots. */
export function inTells(deleted: readonly DeletedItem[]): readonly DeletedElsewhere[] {
  const tells: DeletedItem[][] = [];
  let slots = slotsMax;
  for (const each of deleted) {
    const more = slotsOf('', each).length;
    if (slots + more > slotsMax) {
      tells.push([]);
      slots = 0;
    }
    tells.at(-1)?.push(each);
    slots += more;
  }
  return tells.map((items) => ({ items }));
}

interface RemainingReads {
  readonly found: KeysResult<typeof revision>;
  readonly here: KeysResult<typeof item>;
}

/** Without ciphertext. */
export function remainingRevisionsPlan(
  view: View,
  { items }: DeletedElsewhere,
): { readonly found: KeysPlan<typeof revision>; readonly here: KeysPlan<typeof item> } {
  return {
    found: keys(
      revision,
      items.flatMap((each) => slotsOf(view.self.id, each)),
      0,
    ),
    here: keys(
      item,
      items.map((each) => itemKey(view, each.itemUuid)),
      0,
    ),
  };
}

/** @throws RetryableError while a transfer of one of the items is not finalized here */
export function removeRemainingRevisions(
  turn: Turn,
  { items }: DeletedElsewhere,
  { found, here }: RemainingReads,
): void {
  for (const each of items) {
    const row = here.get(itemKey(turn, each.itemUuid));
    const isLeaving = row !== undefined && !isForwardingTombstone(row);
    if (isLeaving && row.updated_at_timestamp < each.deletedMicros) throw notFinalized();
    for (const key of slotsOf(turn.self.id, each)) {
      const made = found.get(key)?.created_at;
      if (made !== undefined && made * 1_000 <= each.deletedMicros) turn.remove(revision, key);
    }
  }
}
