/**
 * Takes back items from a vault that has ended (`actors/vault/items/return-to-owners.ts`). It applies a transfer
 * (`actors/collection/transfer.ts`) that no client has asked for. So the item keeps its content and version, and even
 * a full account takes it.
 */
import { command, keys, type Turn } from '../../../runtime/command.ts';
import { head, headAfterWrite } from '../../collection/head.ts';
import {
  arrivedRowOf,
  type ItemRow,
  isForwardingTombstone,
  isWhole,
  item,
  itemKey,
  transferVersionOf,
} from '../../collection/item.ts';
import { locationsPlan } from '../../collection/locations.ts';
import { archiveRevision, holdsRevision } from '../../collection/revisions/held.ts';
import { scheduleTrim } from '../../collection/revisions/usage.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { canApply, type StoredReads } from '../../collection/transfer.ts';
import { itemsChanged, User } from '../contract.ts';
import { isActive } from '../profile.ts';
import { collectionTimers, Items } from './contract.ts';

export const returnToOwner = command(Items.commands.takeBack, {
  reads: (view, { items }) => ({
    stored: keys(
      item,
      items.map((row) => itemKey(view, row.uuid)),
      view.use(ItemSettings).turnLimits.bytes,
    ),
    ...locationsPlan(items.map(({ uuid }) => uuid)),
  }),
  turn: (turn, { items }, reads) => {
    if (!isActive(turn)) return { isGone: true, applied: [] };
    const before = turn.get(head);
    const applied = items.filter((row) => apply(turn, row, reads)).map(({ uuid }) => uuid);
    if (turn.get(head) !== before) turn.publish(User, itemsChanged(turn.self.id, turn.nowMicros));
    return { isGone: false, applied };
  },
});

/** True: the item is here, by this call or an earlier one. */
function apply(turn: Turn, row: ItemRow, reads: StoredReads): boolean {
  const here = reads.stored.get(itemKey(turn, row.uuid));
  if (here !== undefined && transferVersionOf(here) > transferVersionOf(row))
    return !isForwardingTombstone(here);
  if (!canApply(turn, row, reads)) return false;
  if (here !== undefined && holdsRevision(here) && !isWhole(here)) return false;
  const before = turn.get(head);
  const own = { collection: turn.self.id, owner_uuid: turn.self.id, position: before.position + 1 };
  const ofNoVault = { shared_vault_uuid: null, last_edited_by_uuid: null };
  const returned = arrivedRowOf({ ...row, ...own, ...ofNoVault, moved_to: null }, here);
  if (here === undefined) turn.insert(item, returned);
  else turn.put(item, returned);
  if (here !== undefined && archiveRevision(turn, here)) scheduleTrim(turn, collectionTimers.trimRevisions);
  turn.set(head, headAfterWrite(before, returned, here));
  return true;
}
