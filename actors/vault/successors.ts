/**
 * The successors of owners: who owns an owner's items in the vault once the owner's account was deleted. Ownership is
 * transferred in one commit, however many items there are: this map says at once whose they are. The rows follow in batches
 * (`items/hand-on.ts`); until then, and of revisions for good, a row bears the old owner's uuid.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';

const successorsMax = 200;

/** The successor of each deleted owner, by uuid: the user who has their items now. */
export const successorMap = sliceMap<string>({
  family: 'heir',
  format: 1,
  entriesMax: successorsMax,
  schema: z.string(),
});

/** To be asked wherever it matters whose an item of the vault is. */
export const successorOfOwner = (view: View, ownerUuid: string): string =>
  view.entry(successorMap, ownerUuid) ?? ownerUuid;

/** False where ownership was transferred more often than anybody needs. */
export function transferOwnership(turn: Turn, fromUuid: string, toUuid: string): boolean {
  const successors = [...turn.entries(successorMap)];
  if (successors.length >= successorsMax) return false;
  for (const [owner, successor] of successors)
    if (successor === fromUuid) turn.setEntry(successorMap, owner, toUuid);
  turn.setEntry(successorMap, fromUuid, toUuid);
  return true;
}
