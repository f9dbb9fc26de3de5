/** The collections that deleted items came through hear of it (deleted-elsewhere.ts). */
import type { Turn } from '../../../runtime/command.ts';
import { Revisions } from '../../user/revisions/contract.ts';
import { VaultItems } from '../../vault/items/contract.ts';
import { type Locations, locationsPlan } from '../transfer/location-lookup.ts';
import type { DeletedElsewhere } from './deleted-elsewhere.ts';

export const elsewherePlan = ({ items }: DeletedElsewhere) =>
  locationsPlan(items.map(({ itemUuid }) => itemUuid));

export function tellElsewhere(turn: Turn, { items }: DeletedElsewhere, { first, moved }: Locations): void {
  const rows = [...first.rows, ...moved.rows].filter(({ collection }) => collection !== turn.self.id);
  for (const collection of new Set(rows.map((row) => row.collection))) {
    const there = rows.filter((row) => row.collection === collection);
    const uuids = new Set(there.map(({ uuid }) => uuid));
    const payload = { items: items.filter(({ itemUuid }) => uuids.has(itemUuid)) };
    const isVault = there.some((row) => row.shared_vault_uuid === collection);
    turn.tell(isVault ? VaultItems : Revisions, collection).deletedElsewhere(payload);
  }
}
