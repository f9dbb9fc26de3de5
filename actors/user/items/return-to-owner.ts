/**
 * Takes back items from a vault that has ended (`actors/vault/items/return-to-owners.ts`).
 *
 * This is the arrival of a move (`actors/collection/move/departures.ts`) that no client has asked for. So the item keeps its
 * content and version, and it is taken even if the account is full.
 */
import { command, keys, type Turn, type View } from '../../../runtime/command.ts';
import { advance, head } from '../../collection/head.ts';
import { type ItemRow, isForwardingTombstone, item, transferVersionOf } from '../../collection/item.ts';
import { locationsPlan } from '../../collection/move/location-lookup.ts';
import { hasYetToArrive, type StoredReads } from '../../collection/sync-steps.ts';
import { itemsChanged, User } from '../contract.ts';
import { isActive } from '../profile.ts';
import { Items } from './contract.ts';

export const returnToOwner = command({
  ...Items.commands.returnToOwner,
  reads: (view, { items }) => ({
    stored: keys(
      item,
      items.map((row) => keyOf(view, row)),
      0,
    ),
    ...locationsPlan(items.map(({ uuid }) => uuid)),
  }),
  turn: (turn, { items }, reads) => {
    if (!isActive(turn)) return { isGone: true, arrived: [] };
    const before = turn.get(head);
    const arrived = items.filter((row) => arrive(turn, row, reads)).map(({ uuid }) => uuid);
    if (turn.get(head) !== before) turn.publish(User, itemsChanged(turn.self.id, turn.nowMicros));
    return { isGone: false, arrived };
  },
});

const keyOf = ({ self }: Pick<View, 'self'>, { uuid }: ItemRow) => ({ collection: self.id, uuid });

/** True: the item is here, by this call or an earlier one. */
function arrive(turn: Turn, row: ItemRow, reads: StoredReads): boolean {
  const hop = transferVersionOf(row) + 1;
  const here = reads.stored.get(keyOf(turn, row));
  if (here !== undefined && transferVersionOf(here) >= hop) return !isForwardingTombstone(here);
  if (!hasYetToArrive(turn, row, reads)) return false;
  const before = turn.get(head);
  const position = before.position + 1;
  const returned: ItemRow = {
    ...row,
    collection: turn.self.id,
    position,
    created_position: here?.created_position ?? position,
    owner_uuid: turn.self.id,
    shared_vault_uuid: null,
    last_edited_by_uuid: null,
    born: here?.born ?? null,
    hop,
    moved_to: null,
  };
  if (here === undefined) turn.insert(item, returned);
  else turn.put(item, returned);
  turn.set(head, advance(before, returned, here));
  return true;
}
