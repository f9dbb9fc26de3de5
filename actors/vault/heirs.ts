/**
 * Who owns what an owner had in the vault, once their account was deleted. A survivor takes over in one commit, however many
 * items there are: this map says at once whose they are. The rows follow in batches (`items/hand-on.ts`); until then, and of
 * revisions for good, a row bears the old owner's uuid.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';

const heirsMax = 200;

/** For each deleted owner, by uuid: the user who has their items now. */
export const heirMap = sliceMap<string>({
  family: 'heir',
  format: 1,
  entriesMax: heirsMax,
  schema: z.string(),
});

/** To be asked wherever it matters whose an item of the vault is. */
export const heirOf = (view: View, ownerUuid: string): string => view.entry(heirMap, ownerUuid) ?? ownerUuid;

/** False where it has been handed on more often than anybody does. */
export function inherit(turn: Turn, fromUuid: string, toUuid: string): boolean {
  const heirs = [...turn.entries(heirMap)];
  if (heirs.length >= heirsMax) return false;
  for (const [owner, heir] of heirs) if (heir === fromUuid) turn.setEntry(heirMap, owner, toUuid);
  turn.setEntry(heirMap, fromUuid, toUuid);
  return true;
}
