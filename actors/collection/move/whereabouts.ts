/** Where items are: the rows that they have in any collection, found by their uuids. */
import { type LookupPlan, type LookupResult, lookup } from '../../../runtime/command.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { hopsOf, type ItemRow, isStub, item } from '../item.ts';

/** An item has one row for each collection that it was ever in. */
const rowsPerItem = 100;

type Plans = { readonly first: LookupPlan<typeof item>; readonly moved: LookupPlan<typeof item> };
export type Whereabouts = {
  readonly first: Pick<LookupResult<typeof item>, 'rows'>;
  readonly moved: Pick<LookupResult<typeof item>, 'rows'>;
};

/** In lower case. What has never moved is found by the row that keeps its uuid taken. */
export const whereaboutsPlan = (uuids: readonly string[]): Plans => ({
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
});

/** Between the commits of a move there are two. */
export function homesOf(rows: readonly ItemRow[]): ReadonlyMap<string, ItemRow> {
  const homes = new Map<string, ItemRow>();
  for (const row of rows) {
    const known = homes.get(row.uuid);
    if (!isStub(row) && (known === undefined || hopsOf(row) > hopsOf(known))) homes.set(row.uuid, row);
  }
  return homes;
}

type Placed = Pick<ItemRow, 'uuid' | 'collection' | 'hop'>;

const othersOf = ({ uuid, collection }: Placed, { first, moved }: Whereabouts): readonly ItemRow[] =>
  [...first.rows, ...moved.rows].filter((row) => row.uuid === uuid && row.collection !== collection);

/** Where the item went from here, or further: the row with the greatest hop, if this is another's. */
export function successorOf(row: Placed, whereabouts: Whereabouts): ItemRow | undefined {
  const [last] = othersOf(row, whereabouts).toSorted((a, b) => hopsOf(b) - hopsOf(a));
  return last !== undefined && hopsOf(last) > hopsOf(row) ? last : undefined;
}

/** The row that the item has in its home is this very one. */
export function isStillAt(row: Placed, whereabouts: Whereabouts): boolean {
  const { first, moved } = whereabouts;
  const found = [...first.rows, ...moved.rows].find(
    ({ uuid, collection }) => uuid === row.uuid && collection === row.collection,
  );
  return found !== undefined && !isStub(found) && hopsOf(found) === hopsOf(row);
}

/** Whether some collection that the item came through, these apart, has yet to conclude its departure. */
export const isAwaited = (row: Placed, whereabouts: Whereabouts, apartFrom?: string): boolean =>
  othersOf(row, whereabouts).some((other) => other.collection !== apartFrom && !isStub(other));

/** The timer concludes it within half a minute, whichever host has died. */
export const notConcluded = () =>
  new RetryableError('an earlier move of the item is not concluded yet', { outcome: 'none' });
