/** One item of a collection by its uuid. An item that has left, or may be leaving, is not found. */
import { type KeysPlan, type KeysResult, keys, type View } from '../../runtime/command.ts';
import { isUuid } from './incoming.ts';
import { type ItemRow, isForwardingTombstone, item, itemKey } from './item.ts';
import { type Locations, locationsPlan, successorOf } from './transfer/location-lookup.ts';

export interface OneItemReads extends Locations {
  readonly found: KeysResult<typeof item>;
}
type OneItemPlan = { readonly found: KeysPlan<typeof item> } & ReturnType<typeof locationsPlan>;

export const oneItemPlan = (view: View, uuid: string): OneItemPlan => ({
  found: keys(item, isUuid(uuid) ? [itemKey(view, uuid)] : []),
  ...locationsPlan(isUuid(uuid) ? [uuid.toLowerCase()] : []),
});

export function itemHere(view: View, uuid: string, { found, ...moved }: OneItemReads): ItemRow | undefined {
  const row = isUuid(uuid) ? found.get(itemKey(view, uuid)) : undefined;
  return row !== undefined && !isForwardingTombstone(row) && successorOf(row, moved) === undefined
    ? row
    : undefined;
}
