/**
 * The end of items, without a tombstone. One that ever moved, or may be moving, leaves a stub: its other rows are told from a stranger's
 * only as long as its uuid stays taken.
 */
import type { Turn } from '../../runtime/command.ts';
import { advance, head, without } from './head.ts';
import { hopsOf, type ItemRow, isStub, item, stubOf } from './item.ts';
import { departingHops } from './move/departures.ts';

/** Rows that were read with their `stubColumns`. */
export function removeItems(turn: Turn, rows: readonly ItemRow[]): void {
  const departing = departingHops(turn);
  let after = turn.get(head);
  for (const row of rows) {
    if (isStub(row)) continue;
    const { collection, uuid } = row;
    if (hopsOf(row) === 0 && !departing.has(uuid)) {
      turn.remove(item, { collection, uuid });
      after = without(after, row);
      continue;
    }
    const stub = stubOf(row, collection, after.position + 1);
    turn.put(item, stub);
    after = advance(after, stub, row);
  }
  if (after !== turn.get(head)) turn.set(head, after);
}
