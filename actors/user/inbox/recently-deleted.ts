/**
 * The uuids of entries that were deleted recently. Tells come in no order, so an entry may come after the tell that deletes it,
 * and is then recognised. There is room for the latest uuids. They include entries that came before their deletion, as the two
 * cannot always be told apart.
 */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';

const remembered = 200;

/** The oldest first. */
export const recentlyDeletedSlice = slice<{ readonly uuids: readonly string[] }>({
  name: 'inbox-gone',
  schema: z.object({ uuids: z.array(z.string()).readonly() }),
  initial: { uuids: [] },
});

export const isRecentlyDeleted = (view: View, uuid: string): boolean =>
  view.get(recentlyDeletedSlice).uuids.includes(uuid);

export function rememberDeleted(turn: Turn, uuids: readonly string[]): void {
  if (uuids.length === 0) return;
  const all = new Set([...turn.get(recentlyDeletedSlice).uuids, ...uuids]);
  turn.set(recentlyDeletedSlice, { uuids: [...all].slice(-remembered) });
}
