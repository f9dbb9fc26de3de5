/**
 * Removes items without leaving a tombstone. An item that ever moved, or may be moving, leaves a forwarding tombstone, which
 * keeps its uuid taken. Otherwise another account could take the uuid, and the item's other rows would look like theirs.
 */
import type { Turn } from '../../runtime/command.ts';
import { advance, head, without } from './head.ts';
import {
  forwardingTombstoneOf,
  type ItemRow,
  isForwardingTombstone,
  item,
  transferVersionOf,
} from './item.ts';
import { outgoingTransferVersions } from './transfer/transfer.ts';

/** Rows that were read with their `purgeColumns`. */
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
    const tombstone = forwardingTombstoneOf(row, collection, after.position + 1);
    turn.put(item, tombstone);
    after = advance(after, tombstone, row);
  }
  if (after !== turn.get(head)) turn.set(head, after);
}
