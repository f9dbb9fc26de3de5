/** Tells the collections that a deleted item has been in to remove its remaining revisions (deleted-elsewhere.ts). */
import type { Turn } from '../../../runtime/command.ts';
import { Revisions } from '../../user/revisions/contract.ts';
import { VaultItems } from '../../vault/items/contract.ts';
import { type Locations, locatedRows, locationsPlan } from '../locations.ts';
import type { DeletedElsewhere } from './deleted-elsewhere.ts';

export const formerCollectionsPlan = ({ items }: DeletedElsewhere) =>
  locationsPlan(items.map(({ itemUuid }) => itemUuid));

export function tellFormerCollections(turn: Turn, deleted: DeletedElsewhere, locations: Locations): void {
  for (const { collection, isVault, payload } of placesOf(deleted, locations)) {
    if (collection === turn.self.id) continue;
    turn.tell(isVault ? VaultItems : Revisions, collection).deletedElsewhere(payload);
  }
}

/** For deletions that hosts of an earlier release report: these hosts do not tell vaults. */
export function tellFormerVaults(
  turn: Turn,
  deleted: DeletedElsewhere,
  locations: Locations,
  deletedBy: string,
): void {
  for (const { collection, isVault, payload } of placesOf(deleted, locations)) {
    if (isVault && collection !== deletedBy) turn.tell(VaultItems, collection).deletedElsewhere(payload);
  }
}

/** The collections that have rows of the items, and which of the items each has. */
function placesOf({ items }: DeletedElsewhere, locations: Locations) {
  const rows = locatedRows(locations);
  return [...new Set(rows.map((row) => row.collection))].map((collection) => {
    const there = rows.filter((row) => row.collection === collection);
    const uuids = new Set(there.map(({ uuid }) => uuid));
    return {
      collection,
      isVault: there.some((row) => row.shared_vault_uuid === collection),
      payload: { items: items.filter(({ itemUuid }) => uuids.has(itemUuid)) },
    };
  });
}
