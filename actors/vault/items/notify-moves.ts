/**
 * Notifies members of items that leave the vault and come to it (docs/protocol/inbox.md, "Notifications"), in the commit
 * that makes it so: of a removal with the forwarding tombstone, and of an item that is here again with its arrival.
 */
import { type KeysResult, type RangeResult, range, type Turn, type View } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { type ItemRow, type item, transferVersionOf } from '../../collection/item.ts';
import {
  type ConcludeReads,
  conclude,
  concludePlan,
  departureMap,
} from '../../collection/move/departures.ts';
import { Inbox } from '../../user/inbox/contract.ts';
import { Vault } from '../contract.ts';
import { memberUuidsPlan } from '../member-list.ts';
import { memberTable } from '../tables.ts';
import { notifyMembers } from './notify-members.ts';

type Members = RangeResult<typeof memberTable>;

const nobody = range(memberTable, { after: 0, through: 0, limit: 0 });
const isRemoval = (view: View, id: string): boolean => view.entry(departureMap, id)?.isRemoval === true;

export const leavePlan = (view: View, id: string, arrived: readonly string[] = []) => ({
  ...concludePlan(view, id, arrived),
  members: isRemoval(view, id) ? memberUuidsPlan(view) : nobody,
});

/** Concludes a departure. */
export function leave({
  turn,
  id,
  arrived = [],
  reads: { members, ...reads },
  by,
}: {
  readonly turn: Turn;
  readonly id: string;
  readonly arrived?: readonly string[] | undefined;
  readonly reads: ConcludeReads & { readonly members: Members };
  readonly by?: string | undefined;
}): void {
  const before = turn.get(head);
  const toNotify = isRemoval(turn, id) ? members.rows : [];
  const gone = conclude({ turn, id, arrived, reads, timer: Vault.timers.concludeDeparture });
  // The devices of the user who has moved it hear of the arrival.
  notifyMembers(turn, before, { by });
  if (gone.length === 0) return;
  const itemUuids = gone.map(({ uuid }) => uuid);
  const at = turn.get(head).position;
  for (const { member } of toNotify) {
    turn.tell(Inbox, member).itemsRemoved({ vaultUuid: turn.self.id, itemUuids, at });
  }
}

/** What was here before of the items that are about to arrive. Ask before they are saved. */
export const returning = (
  { self }: Pick<View, 'self'>,
  arriving: ReadonlyMap<string, ItemRow>,
  stored: KeysResult<typeof item>,
): ReadonlySet<string> => {
  const back = [...arriving.values()].filter((row) => {
    const before = stored.get({ collection: self.id, uuid: row.uuid });
    return before !== undefined && transferVersionOf(before) <= transferVersionOf(row);
  });
  return new Set(back.map(({ uuid }) => uuid));
};

export function notifyRejoined(
  turn: Turn,
  by: string,
  itemUuids: readonly string[],
  members: Members['rows'],
): void {
  if (itemUuids.length === 0) return;
  const at = turn.get(head).position;
  for (const { member } of members) {
    turn.tell(Inbox, member).itemsRejoined({ vaultUuid: turn.self.id, itemUuids, byYou: member === by, at });
  }
}
