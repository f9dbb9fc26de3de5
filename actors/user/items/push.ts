/**
 * What a save has the user's other devices told (docs/protocol/sockets.md, "Pushed items").
 *
 * Always that something has changed, and where it is little, also what: the push says from which token to which it
 * leads, and the client that stands exactly there may take it for the sync. No client says whether it knows pushes. One
 * that does not takes no notice of them, which is why the plain frame always goes along.
 *
 * A turn saves one run of positions, and whatever else comes to the user, items or inbox, takes positions of its own. So
 * the token of the head before the turn is the token of those who had everything, and who applies the push has
 * everything up to the head after it.
 */
import type { Turn } from '../../../runtime/command.ts';
import type { Head } from '../../collection/head.ts';
import type { ItemRow } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { ItemSettings } from '../../collection/settings.ts';
import type { Progress } from '../../collection/sync-steps.ts';
import { tokenAt } from '../../collection/token.ts';
import { User } from '../contract.ts';
import { itemsChanged, itemsPushed } from '../events.ts';

const pushedItemsMax = 50;
/** Several of these fit a socket that reads slowly; what is larger is a sync's. */
const pushedBytesMax = 16 * 1024;

export function tellOtherDevices(turn: Turn, before: Head, after: Progress, sessionUuid: string): void {
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

/** As the turn has left them, each once: what it has merely recognised lies before. */
function rowsBehind(position: number, { saved }: Progress): readonly ItemRow[] {
  const last = new Map(saved.map(({ row }) => [row.uuid, row]));
  return [...last.values()]
    .filter((row) => row.position > position)
    .toSorted((a, b) => a.position - b.position);
}
