/** The location lookup: which collections have a row of an item, found by its uuid. */
import { type LookupPlan, type LookupResult, lookup } from '../../../runtime/command.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { type ItemRow, isForwardingTombstone, item, transferVersionOf } from '../item.ts';

/** An item has one row for each collection that it was ever in. */
const rowsPerItem = 100;

type LocationPlans = { readonly first: LookupPlan<typeof item>; readonly moved: LookupPlan<typeof item> };
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
        moved: lookup(
          item,
          uuids.map((uuid) => ({ uuid })),
          uuids.length * rowsPerItem,
        ),
      };

/** Keyed by uuid, the row in the owning collection. Between the commits of a move two collections have one; the later counts. */
export function owningRowsOf(rows: readonly ItemRow[]): ReadonlyMap<string, ItemRow> {
  const owningRows = new Map<string, ItemRow>();
  for (const row of rows) {
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

const othersOf = ({ uuid, collection }: Located, { first, moved }: Locations): readonly ItemRow[] =>
  [...first.rows, ...moved.rows].filter((row) => row.uuid === uuid && row.collection !== collection);

/** The item's row with the greatest transfer version, if that is in another collection. */
export function successorOf(row: Located, locations: Locations): ItemRow | undefined {
  const [last] = othersOf(row, locations).toSorted((a, b) => transferVersionOf(b) - transferVersionOf(a));
  return last !== undefined && transferVersionOf(last) > transferVersionOf(row) ? last : undefined;
}

/** Whether this is the item's row in its owning collection. */
export function isStillAt(row: Located, locations: Locations): boolean {
  const { first, moved } = locations;
  const found = [...first.rows, ...moved.rows].find(
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
