/**
 * Saves items in the collection of a vault (docs/protocol/sync.md, "Items of vaults"). The actor of the saving user sends these
 * commands. The turn reads the membership of that user, so their current permission decides.
 *
 *     vault that lives   a member saves as their permission allows
 *     vault that ended   nobody is a member any more. Owners may still delete, and repeat saves from before the end
 *
 * Each command is one commit, and a repeat finds what was saved. So a crash loses nothing.
 */
import {
  command,
  type KeysPlan,
  type KeysResult,
  keys,
  type Turn,
  type View,
} from '../../../runtime/command.ts';
import type { Conflict } from '../../collection/conflicts.ts';
import { head, itemsThrough } from '../../collection/head.ts';
import { isUuid } from '../../collection/incoming.ts';
import { type ItemRow, isForwardingTombstone, item, itemKey } from '../../collection/item.ts';
import { type ClientItem, fingerprintOfSave } from '../../collection/item-fields.ts';
import { notMember } from '../../collection/save.ts';
import { uuidsToRead } from '../../collection/save-items.ts';
import { isLegacy, type SyncRequest } from '../../collection/sync-contract.ts';
import { emptyProgress, saveBatch, storedPlan } from '../../collection/sync-steps.ts';
import type { StoredReads } from '../../collection/transfer.ts';
import type { Permission } from '../../inbox-entries.ts';
import { type Answer, isRefused } from '../../reply.ts';
import { memberKey, memberUuidsPlan } from '../member-list.ts';
import { statusSlice } from '../state.ts';
import { successorOfOwner } from '../successors.ts';
import { memberTable } from '../tables.ts';
import { type SaveResult, VaultItems } from './contract.ts';
import {
  finalizeTransferOut,
  finalizeTransferOutPlan,
  notifyMembers,
  notifyRejoined,
  previouslyHere,
} from './notify.ts';

interface SaverFields {
  readonly by: string;
  readonly sessionUuid: string;
  readonly snjsVersion: string | null;
  readonly api?: string | null | undefined;
}

const memberPlan = (view: View, { by }: SaverFields) => ({
  member: keys(memberTable, [memberKey(view, by)]),
});
const requestOf = ({ api, snjsVersion }: SaverFields): SyncRequest => ({ api, snjs_version: snjsVersion });

interface Reads extends StoredReads {
  readonly member: KeysResult<typeof memberTable>;
}

export const saveItems = command(VaultItems.commands.saveItems, {
  reads: (view, request) => ({
    ...memberPlan(view, request),
    ...storedPlan({ view, request: requestOf(request), items: request.items }),
    remaining: remainingRowsPlan(view, request.items),
  }),
  turn: (turn, request, { remaining, ...reads }) => {
    const save = { turn, saver: request, items: request.items, reads };
    return turn.get(statusSlice) === 'ended' ? saveInEndedVault(save, remaining) : saveByMember(save);
  },
});

export const applyItemTransfer = command(VaultItems.commands.applyItemTransfer, {
  reads: (view, request) => ({
    ...memberPlan(view, request),
    ...storedPlan({
      view,
      request: requestOf(request),
      items: sentOf(request),
      incoming: rowsOf(request),
    }),
    members: memberUuidsPlan(view),
  }),
  turn: (turn, request, { members, ...reads }) => {
    const save = { turn, saver: request, items: sentOf(request), reads };
    if (turn.get(statusSlice) === 'ended') return saveInEndedVault(save);
    const incoming = rowsOf(request);
    const returning = previouslyHere(turn, incoming, reads.stored);
    const result = saveByMember({ ...save, incoming });
    if (isRefused(result)) return result;
    const rejoined = result.ok.saved.map(({ row }) => row.uuid).filter((uuid) => returning.has(uuid));
    notifyRejoined(turn, request.by, rejoined, members.rows);
    return result;
  },
});

type Incoming = { readonly items: readonly { readonly row: ItemRow; readonly sent: ClientItem }[] };
const sentOf = ({ items }: Incoming): readonly ClientItem[] => items.map(({ sent }) => sent);
const rowsOf = ({ items }: Incoming): ReadonlyMap<string, ItemRow> =>
  new Map(items.map(({ row }) => [row.uuid, row]));

interface VaultSave {
  readonly turn: Turn;
  readonly saver: SaverFields;
  readonly items: readonly ClientItem[];
  readonly reads: StoredReads;
  readonly incoming?: ReadonlyMap<string, ItemRow> | undefined;
}

function saveByMember(save: VaultSave & { readonly reads: Reads }): Answer<SaveResult> {
  const { turn, saver, reads } = save;
  const permission = (reads.member.get(memberKey(turn, saver.by))?.permission ?? null) as Permission | null;
  return saveWithPermission(save, permission);
}

function saveWithPermission(
  { turn, saver, items, reads, incoming }: VaultSave,
  permission: Permission | null,
): Answer<SaveResult> {
  const vault = { permission, owns: (ownerUuid: string) => successorOfOwner(turn, ownerUuid) === saver.by };
  const request = requestOf(saver);
  const batch = {
    request,
    items,
    reads: { ...reads, stored: withSuccessors(turn, reads.stored) },
    by: { userUuid: saver.by, sessionUuid: saver.sessionUuid, readOnly: false, vault },
    timers: VaultItems.timers,
    ...(incoming && { incoming }),
  };
  const before = turn.get(head);
  const progress = saveBatch(turn, batch, emptyProgress(turn));
  if (isRefused(progress)) return progress;
  notifyMembers(turn, before, saver);
  const { saved, conflicts, transfers, notHere } = progress;
  const savedRows = isLegacy(request)
    ? saved
    : saved.map(({ row, uuid }) => ({ uuid, row: withoutContent(row) }));
  const passed = {
    collection: turn.self.id,
    before: itemsThrough(before),
    after: itemsThrough(turn.get(head)),
  };
  return { ok: { saved: savedRows, conflicts, transfers, notHere, passed } };
}

/** The reply leaves out the content, because the client has just sent it. Replies to legacy clients contain it. */
const withoutContent = (row: ItemRow): ItemRow => ({ ...row, content: null });

/** Replaces deleted owners by their successors, because `hand-on.ts` changes the stored rows only later. */
const withSuccessors = (view: View, stored: KeysResult<typeof item>): KeysResult<typeof item> => ({
  get: (key) => {
    const row = stored.get(key);
    return row && { ...row, owner_uuid: successorOfOwner(view, row.owner_uuid) };
  },
});

/**
 * Saves in a vault that has ended, and so has no members any more. Owners may still send:
 *
 *     a tombstone   a client that ends a vault then deletes its items, and still names the vault
 *     a repeat      the save was committed before the end, and its answer was lost. If the repeat were refused, the client would
 *                   make a conflict copy of its own save
 *
 * If the item has already returned to its owner, both are passed on to the owner's collection. `remaining` has the rows that are
 * still in this vault. It is absent if the items come from another collection.
 */
function saveInEndedVault(save: VaultSave, remaining?: KeysResult<typeof item>): Answer<SaveResult> {
  const { turn, saver, items } = save;
  const here = remaining && withSuccessors(turn, remaining);
  const routed = items.map((sent) => {
    const row = isUuid(sent.uuid) ? here?.get(itemKey(turn, sent.uuid)) : undefined;
    return { sent, destination: destinationOf(saver, sent, row) };
  });
  const itemsFor = (to: SaveDestination) =>
    routed.filter(({ destination }) => destination === to).map(({ sent }) => sent);
  const result = saveWithPermission({ ...save, items: itemsFor('here') }, 'admin');
  if (isRefused(result)) return result;
  const { saved, conflicts, notHere, ...rest } = result.ok;
  const refused = itemsFor('refused').map((sent) => notMember(sent, saver.by));
  return {
    ok: {
      ...rest,
      saved: saved.map(({ row, uuid }) => ({ uuid, row: withoutVaultFields(row) })),
      conflicts: [...conflicts.map(conflictWithoutVaultFields), ...refused],
      notHere: [...notHere, ...itemsFor('with-owner')],
      orphaned: itemsFor('orphaned'),
    },
  };
}

type SaveDestination = 'here' | 'with-owner' | 'orphaned' | 'refused';

/**
 * The rows of all items that were sent, without content. `storedPlan` reads no row of an item that claims to be new. In an ended
 * vault such an item may be a repeat, so its row is read too.
 */
function remainingRowsPlan(view: View, items: readonly ClientItem[]): KeysPlan<typeof item> {
  const uuids = view.get(statusSlice) === 'ended' ? [...uuidsToRead(items, true)] : [];
  return keys(
    item,
    uuids.map((uuid) => itemKey(view, uuid)),
    0,
  );
}

/** `row` is the item's row in this vault, which may be a forwarding tombstone. */
function destinationOf(
  { by, sessionUuid }: SaverFields,
  sent: ClientItem,
  row: ItemRow | undefined,
): SaveDestination {
  const isOwn = row?.owner_uuid === by;
  const isHere = row !== undefined && !isForwardingTombstone(row);
  if (sent.deleted === true) return !isHere ? 'orphaned' : isOwn ? 'here' : 'refused';
  if (!isOwn) return 'refused';
  if (!isHere) return 'with-owner';
  return row.fingerprint.equals(fingerprintOfSave(sessionUuid, sent)) ? 'here' : 'refused';
}

/** The item as it will be once it has returned to its owner. */
const withoutVaultFields = <T extends Pick<ItemRow, 'shared_vault_uuid' | 'last_edited_by_uuid'>>(
  item: T,
): T => ({
  ...item,
  shared_vault_uuid: null,
  last_edited_by_uuid: null,
});

const conflictWithoutVaultFields = ({ server_item, ...conflict }: Conflict): Conflict => ({
  ...conflict,
  ...(server_item && { server_item: withoutVaultFields(server_item) }),
});

export const finalizeItemTransfer = command(VaultItems.commands.finalizeItemTransfer, {
  reads: (view, { id, applied }) => finalizeTransferOutPlan(view, id, applied),
  turn: (turn, { id, applied, by }, reads) => {
    finalizeTransferOut({ turn, id, applied, reads, by });
    return {};
  },
});
