/**
 * Writes the new owner into the items after a survivor has taken over, so that members see it by their next syncs. The
 * take-over itself is one commit (`actors/vault/successors.ts`). This timer then writes the items, as many at once as one turn
 * saves. Each gets a new position and keeps everything else, its version included, so that saves in progress still succeed.
 *
 *     scan    the items after a position; those whose owner has a successor are written
 *     again   from the beginning, as long as items were passed over because they may be leaving
 *
 * A crash leaves the timer of the last page, whose turn skips the items that are written already. In a vault that has ended
 * meanwhile the items return to their owners (`return-to-owners.ts`); that job asks for successors itself.
 */
import {
  type RangePlan,
  type RangeResult,
  range,
  type Turn,
  timer,
  type View,
} from '../../../runtime/command.ts';
import { head, headAfterWrite } from '../../collection/head.ts';
import { type ItemRow, item, transferVersionOf } from '../../collection/item.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { outgoingTransferVersions } from '../../collection/transfer.ts';
import { statusSlice } from '../state.ts';
import { successorOfOwner } from '../successors.ts';
import { VaultItems } from './contract.ts';
import { notifyMembers } from './notify.ts';

const { handItemsOn } = VaultItems.timers;

/** Members learn of the new owner within this time, before the items change. */
const pauseMs = 5_000;
/** Longer than a transfer lasts. */
const awaitedPauseMs = 60_000;

export function handItemsOnSoon(turn: Turn): void {
  turn.arm(handItemsOn, turn.nowMs + pauseMs, { after: 0, isAwaiting: false });
}

interface Reads {
  readonly page: RangeResult<typeof item>;
}

function pagePlan(
  view: View,
  { after }: { readonly after: number },
): { readonly page: RangePlan<typeof item> } {
  const { items, bytes } = view.use(ItemSettings).turnLimits;
  const through = view.get(head).position;
  return { page: range(item, { after, through, limit: items, budgetBytes: bytes, subset: 'present' }) };
}

export const handItemsOnTimer = timer(handItemsOn, {
  reads: pagePlan,
  turn: (turn, { isAwaiting }, { page }: Reads) => {
    if (turn.get(statusSlice) !== 'open') return;
    const moving = outgoingTransferVersions(turn);
    const isLeaving = (row: ItemRow) => moving.get(row.uuid) === transferVersionOf(row);
    const handedOn = page.rows.filter(({ owner_uuid: owner }) => successorOfOwner(turn, owner) !== owner);
    writeNewOwners(
      turn,
      handedOn.filter((row) => !isLeaving(row)),
    );
    const awaits = isAwaiting || handedOn.some(isLeaving);
    if (!page.complete) turn.arm(handItemsOn, turn.nowMs, { after: page.upTo, isAwaiting: awaits });
    else if (awaits) turn.arm(handItemsOn, turn.nowMs + awaitedPauseMs, { after: 0, isAwaiting: false });
  },
});

function writeNewOwners(turn: Turn, rows: readonly ItemRow[]): void {
  const before = turn.get(head);
  let after = before;
  for (const row of rows) {
    const next = { ...row, owner_uuid: successorOfOwner(turn, row.owner_uuid), position: after.position + 1 };
    turn.put(item, next);
    after = headAfterWrite(after, next, row);
  }
  if (after === before) return;
  turn.set(head, after);
  notifyMembers(turn, before);
}
