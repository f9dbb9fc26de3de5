/**
 * Tells the sockets of members that items have changed, and notifies members of items that leave the vault or come back to it
 * (docs/protocol/inbox.md, "Notifications"). Each notification is in the commit that causes it: the one that leaves the forwarding
 * tombstone, or the one that saves the item.
 */
import { type KeysResult, type RangeResult, range, type Turn, type View } from '../../../runtime/command.ts';
import { type Head, head } from '../../collection/head.ts';
import { type ItemRow, type item, transferVersionOf } from '../../collection/item.ts';
import {
  type FinalizeReads,
  finalizePlan,
  finalizeTransfer,
  outgoingTransferMap,
} from '../../collection/transfer.ts';
import { Inbox } from '../../user/inbox/contract.ts';
import { Vault, type VaultItemsChanged } from '../contract.ts';
import { memberUuidsPlan } from '../member-list.ts';
import { memberTable } from '../tables.ts';
import { VaultItems } from './contract.ts';

interface NotifyingActor {
  readonly by?: string | undefined;
  readonly sessionUuid?: string | undefined;
}

/** An event tells members that items have changed, so that a save costs the same however many members there are. */
export function notifyMembers(turn: Turn, before: Head, { by, sessionUuid }: NotifyingActor = {}): void {
  if (turn.get(head) === before) return;
  const changed: VaultItemsChanged = {
    event: 'items-changed',
    timestamp: turn.nowMicros,
    ...(by !== undefined && { by }),
    ...(sessionUuid !== undefined && { session: sessionUuid }),
  };
  turn.publish(Vault, changed);
}

type Members = RangeResult<typeof memberTable>;

const nobody = range(memberTable, { after: 0, through: 0, limit: 0 });
const isRemoval = (view: View, id: string): boolean =>
  view.entry(outgoingTransferMap, id)?.isRemoval === true;

export const finalizeTransferOutPlan = (view: View, id: string, applied: readonly string[] = []) => ({
  ...finalizePlan(view, id, applied),
  members: isRemoval(view, id) ? memberUuidsPlan(view) : nobody,
});

/** Finalizes a transfer out of the vault. */
export function finalizeTransferOut({
  turn,
  id,
  applied = [],
  reads: { members, ...reads },
  by,
}: {
  readonly turn: Turn;
  readonly id: string;
  readonly applied?: readonly string[] | undefined;
  readonly reads: FinalizeReads & { readonly members: Members };
  readonly by?: string | undefined;
}): void {
  const before = turn.get(head);
  const toNotify = isRemoval(turn, id) ? members.rows : [];
  const gone = finalizeTransfer({
    turn,
    id,
    applied,
    reads,
    timers: VaultItems.timers,
  });
  // The target tells the devices of the user who has moved the items.
  notifyMembers(turn, before, { by });
  if (gone.length === 0) return;
  const itemUuids = gone.map(({ uuid }) => uuid);
  const at = turn.get(head).position;
  for (const { member } of toNotify) {
    turn.tell(Inbox, member).itemsRemoved({ vaultUuid: turn.self.id, itemUuids, at });
  }
}

/** Which of the incoming items have been in this vault before. Call it before they are saved. */
export const previouslyHere = (
  { self }: Pick<View, 'self'>,
  incoming: ReadonlyMap<string, ItemRow>,
  stored: KeysResult<typeof item>,
): ReadonlySet<string> => {
  const returning = [...incoming.values()].filter((row) => {
    const before = stored.get({ collection: self.id, uuid: row.uuid });
    return before !== undefined && transferVersionOf(before) <= transferVersionOf(row);
  });
  return new Set(returning.map(({ uuid }) => uuid));
};

/** Members who have removed such an item get it again. */
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
