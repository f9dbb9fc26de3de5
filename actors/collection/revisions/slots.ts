/**
 * The slots of an item's revisions. One ring is for revisions that its saves make. As many slots are for those copied from the
 * item that it duplicates.
 */

/** More revisions would help no user, and a removal of the item has to find each row. */
export const revisionsPerItemMax = 100;

const slotsMax = 2 * revisionsPerItemMax;

/** The slot of the n-th revision that a save has made, from 0. */
export const slotOfSave = (n: number): number => n % revisionsPerItemMax;
/** The slot of the n-th revision that is copied, below `revisionsPerItemMax`. */
export const slotOfCopy = (n: number): number => revisionsPerItemMax + n;

export interface SlotKey {
  readonly collection: string;
  readonly item_uuid: string;
  readonly slot: number;
}

export function slotKeys(collection: string, itemUuid: string, first = 0, end = slotsMax): SlotKey[] {
  return Array.from({ length: end - first }, (_, n) => ({
    collection,
    item_uuid: itemUuid.toLowerCase(),
    slot: first + n,
  }));
}

/** The slots that may be taken after so many saves have made a revision. */
export function usedSlotKeys(
  collection: string,
  itemUuid: string,
  saves: number,
  isDuplicate: boolean,
): SlotKey[] {
  const own = slotKeys(collection, itemUuid, 0, Math.min(saves, revisionsPerItemMax));
  return isDuplicate ? [...own, ...slotKeys(collection, itemUuid, revisionsPerItemMax)] : own;
}

const slotDigits = 2;

/** A random uuid whose last digits are the slot, so that a revision is found by its uuid alone. */
export const revisionUuid = (random: string, slot: number): string =>
  random.slice(0, -slotDigits) + slot.toString(16).padStart(slotDigits, '0');

export const slotOfUuid = (uuid: string): number => Number.parseInt(uuid.slice(-slotDigits), 16);
