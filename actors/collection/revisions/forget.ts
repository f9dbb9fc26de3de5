/**
 * Removes the history of a deleted item later, if the deleting commit had too many revisions to remove. It spares revisions
 * that were kept after the deletion, as the item may have come back.
 */
import { z } from 'zod';
import { type KeysPlan, type KeysResult, keys, type Turn, type View } from '../../../runtime/command.ts';
import { slotKeys } from './slots.ts';
import { revision } from './table.ts';

export const forgetPayload = z.object({ itemUuid: z.string(), through: z.int() });
export type ForgetPayload = z.infer<typeof forgetPayload>;

export function forgetPlan(
  { self }: View,
  { itemUuid }: ForgetPayload,
): { found: KeysPlan<typeof revision> } {
  return { found: keys(revision, slotKeys(self.id, itemUuid), 0) };
}

export function forgetRevisions(
  turn: Turn,
  { itemUuid, through }: ForgetPayload,
  { found }: { readonly found: KeysResult<typeof revision> },
): void {
  for (const key of slotKeys(turn.self.id, itemUuid)) {
    const row = found.get(key);
    if (row !== undefined && row.end_offset <= through) turn.remove(revision, key);
  }
}
