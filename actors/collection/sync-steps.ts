/**
 * The steps of a sync: the plans, the page, the save of one batch, and the answer. They run in turns of the actor whose id is
 * the collection's, whichever user saves there.
 */
import { type KeysPlan, keys, type RangeResult, type Turn, type View } from '../../runtime/command.ts';
import type { Refused } from '../reply.ts';
import type { FinalizeTimer } from '../transfer.ts';
import { type Conflict, syncConflict } from './conflicts.ts';
import { type Head, head, outgrows, quotaExceeded } from './head.ts';
import { type ItemRow, isForwardingTombstone, isWhole, item, transferVersionOf } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { locationsPlan } from './locations.ts';
import { changesPlan, frontPlan, type ItemPage, itemPageOf, pageItems, tokensOf } from './retrieve.ts';
import { withNewRevision } from './revisions/held.ts';
import { keepHistory, type RevisionTimers } from './revisions/keep.ts';
import type { Saver } from './save.ts';
import {
  computeSaves,
  type MovingItem,
  type SavedEntry,
  type StoredState,
  uuidsToRead,
} from './save-items.ts';
import { ItemSettings } from './settings.ts';
import {
  isLegacy,
  isVaultExclusive,
  legacyReply,
  modernReply,
  type SharedVault,
  type SyncReply,
  type SyncRequest,
} from './sync-contract.ts';
import { type Cursor, type Start, startOf } from './token.ts';
import { canApply, fenced, outgoingTransferVersions, prepareTransfer, type StoredReads } from './transfer.ts';

type ItemRows = RangeResult<typeof item>;

export interface PageReads {
  readonly changes: ItemRows;
  readonly front: ItemRows;
}

/** The part of a sync's answer that concerns vaults, apart from their items. */
export interface VaultPart {
  /** The client's cursors in the vaults after this sync. */
  readonly cursors: readonly Cursor[];
  readonly shared: readonly SharedVault[];
}
export const noVaults: VaultPart = { cursors: [], shared: [] };

/** How far a sync has come. */
export interface SyncProgress {
  readonly vaults: VaultPart;
  readonly page: ItemPage;
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  readonly transfers: readonly PreparedItemTransfer[];
  /** Sent items that are not in this collection. */
  readonly notHere: readonly ClientItem[];
  /** What is left of `storedBytesMax`. */
  readonly remainingBytes: number;
  /** Once the client has this page and its own saves, it has everything up to this position. */
  readonly end: number;
  /** The head after the last turn. */
  readonly head: Head;
}

export function syncPagePlans(view: View, request: SyncRequest) {
  const now = view.get(head);
  const limits = { items: pageItems(request.limit), bytes: view.use(ItemSettings).transferLimitBytes };
  const start = isVaultExclusive(request) ? nothingAfter(now) : startAt(view, request);
  return { changes: changesPlan(start, now, limits), front: frontPlan(start, now) };
}

/** A sync before it has saved anything. */
export function beginSync(view: View, request: SyncRequest, reads: PageReads): SyncProgress {
  return progressOf(view, pageIn(view, request, reads, startAt(view, request)));
}

/** A sync that returns nothing. */
export function emptyProgress(view: View): SyncProgress {
  return progressOf(view, { rows: [], reached: view.get(head).position, complete: true });
}

const progressOf = (view: View, page: ItemPage): SyncProgress => ({
  vaults: noVaults,
  page,
  saved: [],
  conflicts: [],
  transfers: [],
  notHere: [],
  remainingBytes: view.use(ItemSettings).storedBytesMax,
  end: page.reached,
  head: view.get(head),
});

function pageIn(view: View, request: SyncRequest, reads: PageReads, start: Start): ItemPage {
  // A request for vaults alone gets none of the user's own items, so their cursor stays where it was.
  if (isVaultExclusive(request)) return { rows: [], reached: start.after, complete: true };
  return itemPageOf({
    changes: reads.changes,
    front: reads.front,
    start,
    bound: view.get(head).position,
    moving: outgoingTransferVersions(view),
  });
}

export function storedPlan({
  view,
  request,
  items,
  remainingBytes = view.use(ItemSettings).storedBytesMax,
  incoming = noRows,
}: {
  readonly view: View;
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  readonly remainingBytes?: number | undefined;
  readonly incoming?: ReadonlyMap<string, ItemRow> | undefined;
}): StoredPlans {
  const collection = view.self.id;
  const moving = outgoingTransferVersions(view);
  const incomingUuids = moving.size === 0 ? none : uuidsToRead(items, true, () => true);
  const isNeeded = (uuid: string) => incoming.has(uuid) || wasRejected(view, uuid);
  const uuids = [...uuidsToRead(items, isLegacy(request), isNeeded)];
  const isFew = uuids.length <= wholeRowsMax && remainingBytes === view.use(ItemSettings).storedBytesMax;
  const stored = keys(
    item,
    uuids.map((uuid) => ({ collection, uuid })),
    isFew ? undefined : Math.max(0, remainingBytes),
  );
  const { first, moved } = locationsPlan([
    ...incoming.keys(),
    ...[...incomingUuids].filter((uuid) => moving.has(uuid)),
  ]);
  return { stored, first, moved };
}

const none: ReadonlySet<string> = new Set();
const noRows: ReadonlyMap<string, ItemRow> = new Map();

type StoredPlans = { readonly stored: KeysPlan<typeof item> } & ReturnType<typeof locationsPlan>;

/** Up to this many rows are read without a budget of bytes, so that one statement can read those of several accounts. */
const wholeRowsMax = 4;

/**
 * Whether a commit was rejected because of a row that may be this collection's own and was not read. If the item has moved,
 * the row that holds the uuid reservation may be another collection's.
 */
function wasRejected(view: View, uuid: string): boolean {
  const own = view.conflicting(item, { collection: view.self.id, uuid });
  if (own !== undefined) return true;
  const reserving = view.conflicting(item, { uuid, born: true });
  return reserving !== undefined && (isForwardingTombstone(reserving) || transferVersionOf(reserving) > 0);
}

/** The user who saves, and what they may do. */
export type SavingUser = Pick<Saver, 'userUuid' | 'sessionUuid' | 'readOnly' | 'vault'>;

/** A transfer that the source has prepared. */
export interface PreparedItemTransfer {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly items: readonly TransferredItem[];
}

/** An item of a transfer: its row at the source, and the save that it is to get at the target. */
export interface TransferredItem {
  readonly row: ItemRow;
  readonly sent: ClientItem;
}

/** The items that one turn saves. */
export interface ItemBatch {
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  readonly reads: StoredReads;
  readonly by: SavingUser;
  /** The timers of the kind that the collection belongs to. */
  readonly timers: CollectionTimers;
  /** The rows at the source, by uuid, where a transfer brings these items here. */
  readonly incoming?: ReadonlyMap<string, ItemRow>;
}

interface CollectionTimers extends RevisionTimers {
  readonly finalizeOverdueTransfer: FinalizeTimer;
}

/**
 * Saves one batch in this turn and tells how far the sync has come. The head grows when anything was written. A batch that
 * the account has no room for is refused whole. If a single item were refused as a conflict, its device would lose it with the
 * session. Clients keep the items of a refused call and send them again.
 */
export function saveBatch(turn: Turn, batch: ItemBatch, progress: SyncProgress): SyncProgress | Refused {
  const before = turn.get(head);
  const { remainingBytes } = progress;
  const saver = saverOf(turn, batch);
  const result = computeSaves({
    saver,
    stored: storedIn(turn, batch),
    items: batch.items,
    nowMicros: turn.nowMicros,
    remainingBytes,
  });
  if (outgrows(before, result.head, turn.use(ItemSettings).quota)) return quotaExceeded;
  const writes = [...result.writes.values()];
  for (const { row, replaced, revised } of writes) {
    const written = revised && !row.deleted ? withNewRevision(turn, row) : row;
    if (replaced === undefined) turn.insert(item, written);
    else turn.put(item, written, replaced);
  }
  if (writes.length > 0) turn.set(head, result.head);
  keepHistory(turn, writes, batch.timers);
  const transfers = prepareTransfers(turn, batch, result.moving);
  return {
    vaults: progress.vaults,
    page: progress.page,
    saved: [...progress.saved, ...result.saved],
    conflicts: [...progress.conflicts, ...result.conflicts],
    transfers: [...progress.transfers, ...transfers],
    notHere: [...progress.notHere, ...result.notHere],
    remainingBytes: remainingBytes - result.storedBytes,
    end: before.position === progress.end ? result.head.position : progress.end,
    head: result.head,
  };
}

/** One transfer for each target. */
function prepareTransfers(
  turn: Turn,
  batch: ItemBatch,
  moving: readonly MovingItem[],
): readonly PreparedItemTransfer[] {
  if (moving.length === 0) return [];
  const found = foundIn(turn, batch);
  const targets = [...new Set(moving.map(({ to }) => to))];
  return targets.map((target) => {
    const items = moving
      .filter(({ to }) => to === target)
      .map(({ row, sent }) => ({ row: unfenced(row, found(row.uuid)), sent }));
    const rows = items.map(({ row }) => row);
    const isRemoval = batch.by.vault !== undefined && target === batch.by.userUuid;
    const id = prepareTransfer(turn, { to: target, isRemoval }, rows, batch.timers.finalizeOverdueTransfer);
    return { id, from: turn.self.id, to: target, items };
  });
}

function saverOf(turn: Turn, { request, by }: ItemBatch): Saver {
  const { contentLimitBytes, revisions } = turn.use(ItemSettings);
  return {
    collection: turn.self.id,
    userUuid: by.userUuid,
    sessionUuid: by.sessionUuid,
    readOnly: by.readOnly,
    vault: by.vault,
    legacy: isLegacy(request),
    snjsVersion: request.snjs_version,
    contentLimitBytes,
    revisionPauseMs: revisions.pauseMs,
  };
}

/** A second transfer of the item, wherever it goes, competes with the first one for the same transfer version. */
const unfenced = (row: ItemRow, found: ItemRow | undefined): ItemRow =>
  found?.collection === row.collection ? { ...row, hop: found.hop } : row;

function storedIn(turn: Turn, batch: ItemBatch): StoredState {
  const { reads } = batch;
  const found = foundIn(turn, batch);
  const incoming = (uuid: string) => {
    const row = batch.incoming?.get(uuid);
    return row !== undefined && canApply(turn, row, reads) ? row : undefined;
  };
  return {
    head: turn.get(head),
    // An incoming item replaces its row here as it is, even if that is not a forwarding tombstone yet.
    row: (uuid) => (incoming(uuid) === undefined ? fenced(turn, found(uuid), reads) : found(uuid)),
    incoming,
  };
}

function foundIn(
  turn: Turn,
  { request, items, reads, incoming }: ItemBatch,
): (uuid: string) => ItemRow | undefined {
  const { stored } = reads;
  const collection = turn.self.id;
  const read = uuidsToRead(items, isLegacy(request));
  return (uuid) => {
    const key = { collection, uuid };
    const incomingRow = incoming?.get(uuid);
    if (incomingRow !== undefined)
      return stored.get(key) ?? (canApply(turn, incomingRow, reads) ? undefined : incomingRow);
    const reserving = turn.conflicting(item, { uuid, born: true });
    if (read.has(uuid)) return stored.get(key) ?? reserving;
    const own = turn.conflicting(item, key);
    if (own !== undefined && isWhole(own)) return own;
    // The plan asked the same question, so it read the row with its ciphertext.
    return wasRejected(turn, uuid) ? (stored.get(key) ?? reserving) : reserving;
  };
}

export function answerOfSync(
  collection: string,
  request: SyncRequest,
  progress: SyncProgress,
  { generation }: ItemSettings,
): SyncReply {
  const { vaults, page, saved, conflicts, end, head: after } = progress;
  const known = newestKnown(conflicts, page.rows);
  const retrieved = retrievedRows(page.rows, request, known);
  const more = !page.complete && retrieved.length > 0;
  const tokens = tokensOf({
    collection,
    generation,
    head: after,
    position: end,
    more,
    others: vaults.cursors,
  });
  const result = { retrieved, saved, conflicts: known, tokens, vaults: vaults.shared };
  if (isLegacy(request)) return legacyReply(result);
  return modernReply(result);
}

/** The page and the conflicts come from different reads. An item that moved in between is newer in the page. */
function newestKnown(conflicts: readonly Conflict[], rows: readonly ItemRow[]): readonly Conflict[] {
  if (conflicts.length === 0 || rows.length === 0) return conflicts;
  const byUuid = new Map(rows.map((row) => [row.uuid, row]));
  return conflicts.map((conflict) => {
    const server = conflict.type === 'sync_conflict' ? conflict.server_item : undefined;
    const row = server && byUuid.get(server.uuid.toLowerCase());
    if (server === undefined || row === undefined) return conflict;
    return row.updated_at_timestamp > server.updated_at_timestamp ? syncConflict(row, server.uuid) : conflict;
  });
}

/** An item that comes as the other side of a sync conflict does not come twice. */
function retrievedRows(
  rows: readonly ItemRow[],
  request: SyncRequest,
  conflicts: readonly Conflict[],
): readonly ItemRow[] {
  const contentType = request.content_type || undefined;
  const ofType = contentType === undefined ? rows : rows.filter((row) => row.content_type === contentType);
  if (conflicts.length === 0) return ofType;
  const inConflict = new Set(
    conflicts.flatMap(({ type, server_item: server }) =>
      type === 'sync_conflict' && server !== undefined ? [server.uuid.toLowerCase()] : [],
    ),
  );
  return ofType.filter((row) => !inConflict.has(row.uuid));
}

function startAt(view: View, request: SyncRequest): Start {
  const { generation } = view.use(ItemSettings);
  const tokens = { sync: request.sync_token, cursor: request.cursor_token };
  return startOf(tokens, view.self.id, generation, view.get(head));
}

function nothingAfter(now: Head): Start {
  return { after: now.position, first: false };
}
