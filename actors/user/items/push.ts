/**
 * Tells the user's other devices of a save (docs/protocol/sockets.md, "Pushed items").
 *
 * They always hear that something has changed. A small save is pushed with its items. The push leads from one token to another,
 * and a client with exactly the first token may take it for a sync. No client says whether it knows pushes. One that does not
 * ignores them, and syncs because of the plain frame.
 *
 * A turn saves one run of positions; everything else that comes to the user takes other positions. So a client whose token is
 * the head before the turn had everything. With the push it has everything up to the head after the turn.
 */
import type { Turn } from '../../../runtime/command.ts';
import type { Head } from '../../collection/head.ts';
import type { ItemRow } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { ItemSettings } from '../../collection/settings.ts';
import type { Progress } from '../../collection/sync-steps.ts';
import { tokenAt } from '../../collection/token.ts';
import { itemsChanged, itemsPushed, User } from '../contract.ts';

const pushedItemsMax = 50;
/** A slow socket holds several pushes of this size. Larger ones are left to a sync. */
const pushedBytesMax = 16 * 1024;

export function notifyOtherDevices(turn: Turn, before: Head, after: Progress, sessionUuid: string): void {
  const { self, nowMicros } = turn;
  turn.publish(User, () => itemsChanged(self.id, nowMicros, sessionUuid));
  const rows = rowsBehind(before.position, after);
  const bytes = rows.reduce((sum, row) => sum + row.size, 0);
  if (rows.length > pushedItemsMax || bytes > pushedBytesMax) return;
  const { generation } = turn.use(ItemSettings);
  const tokenOf = (head: Head) => tokenAt(self.id, generation, head, head.position);
  turn.publish(User, () =>
    itemsPushed({
      userUuid: self.id,
      sessionUuid,
      timestamp: nowMicros,
      syncToken: tokenOf(after.head),
      baseSyncToken: tokenOf(before),
      items: rows.map((row) => fullItem(row)),
    }),
  );
}

/** Each row once, as the turn left it. A repeat that was only recognised has a position from before the turn. */
function rowsBehind(position: number, { saved }: Progress): readonly ItemRow[] {
  const last = new Map(saved.map(({ row }) => [row.uuid, row]));
  return [...last.values()]
    .filter((row) => row.position > position)
    .toSorted((a, b) => a.position - b.position);
}
