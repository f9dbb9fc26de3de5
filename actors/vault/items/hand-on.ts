/**
 * What the items of a vault say once a survivor has taken over: the old owner's are the survivor's, for every member and by
 * their next syncs. The take-over itself is one commit (`actors/vault/successors.ts`); this timer then writes the items, as
 * many at once as one turn saves, each under a new position and with everything else as it was, so that what members are
 * about to save still fits.
 *
 *     scan    the items after a position; those whose owner has a successor are written
 *     again   from the beginning, as long as there are items on their way to another collection, which are passed over
 *
 * A crash leaves the timer of the last page, whose turn finds what is written already. In a vault that has ended meanwhile the
 * items return to their owners (`return-to-owners.ts`), which looks at successors itself.
 */
import {
  type RangePlan,
  type RangeResult,
  range,
  type Turn,
  timer,
  type View,
} from '../../../runtime/command.ts';
import { advance, head } from '../../collection/head.ts';
import { type ItemRow, item, transferVersionOf } from '../../collection/item.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { outgoingTransferVersions } from '../../collection/transfer/transfer.ts';
import { Vault } from '../contract.ts';
import { standingSlice } from '../standing.ts';
import { successorOfOwner } from '../successors.ts';
import { notifyMembers } from './notify-members.ts';

const { handItemsOn } = Vault.timers;

/** Members hear of their new owner first. */
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

export const handItemsOnTimer = timer({
  ...handItemsOn,
  missed: 'fire-once',
  reads: pagePlan,
  turn: (turn, { isAwaiting }, { page }: Reads) => {
    if (turn.get(standingSlice) !== 'open') return;
    const moving = outgoingTransferVersions(turn);
    const isLeaving = (row: ItemRow) => moving.get(row.uuid) === transferVersionOf(row);
    const handedOn = page.rows.filter(({ owner_uuid: owner }) => successorOfOwner(turn, owner) !== owner);
    writeAs(
      turn,
      handedOn.filter((row) => !isLeaving(row)),
    );
    const awaits = isAwaiting || handedOn.some(isLeaving);
    if (!page.complete) turn.arm(handItemsOn, turn.nowMs, { after: page.upTo, isAwaiting: awaits });
    else if (awaits) turn.arm(handItemsOn, turn.nowMs + awaitedPauseMs, { after: 0, isAwaiting: false });
  },
});

function writeAs(turn: Turn, rows: readonly ItemRow[]): void {
  const before = turn.get(head);
  let after = before;
  for (const row of rows) {
    const next = { ...row, owner_uuid: successorOfOwner(turn, row.owner_uuid), position: after.position + 1 };
    turn.put(item, next);
    after = advance(after, next, row);
  }
  if (after === before) return;
  turn.set(head, after);
  notifyMembers(turn, before);
}
