/** Where an item is: the location lookup finds which collections have a row of it, by its uuid. */
import {
  type KeysPlan,
  type KeysResult,
  keys,
  type LookupPlan,
  type LookupResult,
  lookup,
  lookupLast,
  type View,
} from '../../runtime/command.ts';
import { RetryableError } from '../../runtime/errors.ts';
import { isUuid } from './incoming.ts';
import { type ItemRow, isForwardingTombstone, item, itemKey, transferVersionOf } from './item.ts';

/** Rows of one item that a look-up reads, at most. An item has a row in each collection that it was ever in. */
const rowsPerItem = 100;

export type LocationPlans = {
  readonly first: LookupPlan<typeof item>;
  readonly moved: LookupPlan<typeof item>;
};
export type Locations = {
  readonly first: Pick<LookupResult<typeof item>, 'rows'>;
  readonly moved: Pick<LookupResult<typeof item>, 'rows'>;
};

const noLocations: LocationPlans = { first: lookup(item, [], 0), moved: lookup(item, [], 0) };

/** `uuids` in lower case. An item that has never moved is found by its uuid reservation. */
export const locationsPlan = (uuids: readonly string[]): LocationPlans =>
  uuids.length === 0
    ? noLocations
    : {
        first: lookup(
          item,
          uuids.map((uuid) => ({ uuid, born: true })),
          uuids.length,
        ),
        // The row in the owning collection has the greatest transfer version, so it is among the last ones.
        moved: lookupLast(
          item,
          uuids.map((uuid) => ({ uuid })),
          rowsPerItem,
        ),
      };

export const locatedRows = ({ first, moved }: Locations): readonly ItemRow[] => [
  ...first.rows,
  ...moved.rows,
];

/** Keyed by uuid, the row in the owning collection. Between the commits of a move two collections have one; the later counts. */
export function owningRowsOf(locations: Locations): ReadonlyMap<string, ItemRow> {
  const owningRows = new Map<string, ItemRow>();
  for (const row of locatedRows(locations)) {
    const known = owningRows.get(row.uuid);
    if (
      !isForwardingTombstone(row) &&
      (known === undefined || transferVersionOf(row) > transferVersionOf(known))
    )
      owningRows.set(row.uuid, row);
  }
  return owningRows;
}

type Located = Pick<ItemRow, 'uuid' | 'collection' | 'hop'>;

const othersOf = ({ uuid, collection }: Located, locations: Locations): readonly ItemRow[] =>
  locatedRows(locations).filter((row) => row.uuid === uuid && row.collection !== collection);

/** The item's row with the greatest transfer version, if that is in another collection. */
export function successorOf(row: Located, locations: Locations): ItemRow | undefined {
  const [last] = othersOf(row, locations).toSorted((a, b) => transferVersionOf(b) - transferVersionOf(a));
  return last !== undefined && transferVersionOf(last) > transferVersionOf(row) ? last : undefined;
}

/** Whether this is the item's row in its owning collection. */
export function isStillAt(row: Located, locations: Locations): boolean {
  const found = locatedRows(locations).find(
    ({ uuid, collection }) => uuid === row.uuid && collection === row.collection,
  );
  return (
    found !== undefined &&
    !isForwardingTombstone(found) &&
    transferVersionOf(found) === transferVersionOf(row)
  );
}

/** Whether a third collection, which the item came through, has not finalized its transfer yet. */
export const isAwaited = (row: Located, locations: Locations, apartFrom?: string): boolean =>
  othersOf(row, locations).some((other) => other.collection !== apartFrom && !isForwardingTombstone(other));

/** The timer finalizes it within half a minute, whichever host has died. */
export const notFinalized = () =>
  new RetryableError('an earlier transfer of the item is not finalized yet', { outcome: 'none' });

/** One item of a collection. An item that has left, or may be leaving, is not found. */
export interface OneItemReads extends Locations {
  readonly found: KeysResult<typeof item>;
}
type OneItemPlan = { readonly found: KeysPlan<typeof item> } & LocationPlans;

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
