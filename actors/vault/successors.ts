/**
 * The successors of deleted owners. One commit transfers ownership, however many items there are: from then on this map says
 * who owns them. The items' rows follow in batches (`items/hand-on.ts`). Until then a row has the old owner's uuid, and rows of
 * revisions keep it for good.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';

const successorsMax = 200;

/** The user who owns the items of a deleted owner now, by the uuid of that owner. */
export const successorMap = sliceMap<string>({
  family: 'heir',
  entriesMax: successorsMax,
  schema: z.string(),
});

/** The present owner. Every check of an item's owner has to ask this. */
export const successorOfOwner = (view: View, ownerUuid: string): string =>
  view.entry(successorMap, ownerUuid) ?? ownerUuid;

/** False if ownership was transferred too often. */
export function transferOwnership(turn: Turn, fromUuid: string, toUuid: string): boolean {
  const successors = [...turn.entries(successorMap)];
  if (successors.length >= successorsMax) return false;
  for (const [owner, successor] of successors)
    if (successor === fromUuid) turn.setEntry(successorMap, owner, toUuid);
  turn.setEntry(successorMap, fromUuid, toUuid);
  return true;
}
