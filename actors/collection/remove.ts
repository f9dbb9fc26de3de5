/**
 * Removes items outright. Only an item that ever moved, or may be moving, leaves a forwarding tombstone, which keeps its uuid taken.
 * Otherwise another account could take the uuid. Rows of the item in other collections would then seem to belong to the new owner's
 * item.
 */
import type { Turn } from '../../runtime/command.ts';
import { head, headAfterWrite, without } from './head.ts';
import {
  forwardingTombstoneOf,
  type ItemRow,
  isForwardingTombstone,
  item,
  transferVersionOf,
} from './item.ts';
import { outgoingTransferVersions } from './transfer.ts';

/** `rows` need only `purgeColumns`. */
export function removeItems(turn: Turn, rows: readonly ItemRow[]): void {
  const moving = outgoingTransferVersions(turn);
  let after = turn.get(head);
  for (const row of rows) {
    if (isForwardingTombstone(row)) continue;
    const { collection, uuid } = row;
    if (transferVersionOf(row) === 0 && !moving.has(uuid)) {
      turn.remove(item, { collection, uuid });
      after = without(after, row);
      continue;
    }
    // `moved_to` names the collection itself, because the item has moved nowhere.
    const tombstone = forwardingTombstoneOf(row, collection, after.position + 1);
    turn.put(item, tombstone);
    after = headAfterWrite(after, tombstone, row);
  }
  if (after !== turn.get(head)) turn.set(head, after);
}
