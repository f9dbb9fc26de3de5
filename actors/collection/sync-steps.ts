/**
 * What the sync of a collection is made of: the plans, the page, the save of one batch, and the answer. It runs in
 * turns of the actor whose id is the collection's, no matter who saves there.
 */
import {
  type KeysPlan,
  type KeysResult,
  keys,
  type RangeResult,
  type Turn,
  type View,
} from '../../runtime/command.ts';
import type { Refused } from '../reply.ts';
import { type Conflict, syncConflict } from './conflicts.ts';
import { type Head, head } from './head.ts';
import { type ItemRow, isForwardingTombstone, item, transferVersionOf } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { arrivedAt, type ConcludeTimer, depart, departingTransferVersions } from './move/departures.ts';
import {
  isAwaited,
  isStillAt,
  type Locations,
  locationsPlan,
  notConcluded,
  successorOf,
} from './move/location-lookup.ts';
import { noRoom, outgrows } from './quota.ts';
import { changesPlan, frontPlan, type Page, pageItems, pageOf, tokensOf } from './retrieve.ts';
import { keepHistory, type RevisionTimers } from './revisions/keep.ts';
import { isWhole, type Saver } from './save.ts';
import { type Departing, type SavedEntry, type Stored, saveItems, uuidsToRead } from './save-items.ts';
import { ItemSettings } from './settings.ts';
import { legacyReply, modernReply, type SharedVault, type SyncReply } from './sync-reply.ts';
import { isLegacy, isVaultExclusive, type SyncRequest } from './sync-request.ts';
import { type Mark, type Start, startOf } from './token.ts';

type ItemRows = RangeResult<typeof item>;
type ItemsByKey = KeysResult<typeof item>;

export interface PageReads {
  readonly changes: ItemRows;
  readonly front: ItemRows;
}

/** What a sync gives of vaults, beside their items. */
export interface VaultPart {
  /** Where the client stands in each of them after this. */
  readonly marks: readonly Mark[];
  readonly shared: readonly SharedVault[];
}
export const noVaults: VaultPart = { marks: [], shared: [] };

/** How far a sync has come. */
export interface Progress {
  readonly vaults: VaultPart;
  readonly page: Page;
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  /** What is on its way to other collections, and what was sent of items that are elsewhere. */
  readonly departed: readonly Departed[];
  readonly elsewhere: readonly ClientItem[];
  /** What is left of `storedBytesMax`. */
  readonly roomBytes: number;
  /** With the page and what is saved, the client has everything up to this position. */
  readonly end: number;
  /** After the last turn. */
  readonly head: Head;
}

export function pagePlans(view: View, request: SyncRequest) {
  const now = view.get(head);
  const limits = { items: pageItems(request.limit), bytes: view.use(ItemSettings).transferLimitBytes };
  const start = isVaultExclusive(request) ? nothingAfter(now) : startAt(view, request);
  return { changes: changesPlan(start, now, limits), front: frontPlan(start, now) };
}

/** A sync before it has saved anything. */
export function begin(view: View, request: SyncRequest, reads: PageReads): Progress {
  const now = view.get(head);
  const page = pageIn(view, request, reads, startAt(view, request));
  return {
    vaults: noVaults,
    page,
    saved: [],
    conflicts: [],
    departed: [],
    elsewhere: [],
    roomBytes: view.use(ItemSettings).storedBytesMax,
    end: page.reached,
    head: now,
  };
}

/** Where nothing is given. */
export function unbegun(view: View): Progress {
  const now = view.get(head);
  const page = { rows: [], reached: now.position, complete: true };
  const roomBytes = view.use(ItemSettings).storedBytesMax;
  const vaults = noVaults;
  return {
    vaults,
    page,
    saved: [],
    conflicts: [],
    departed: [],
    elsewhere: [],
    roomBytes,
    end: now.position,
    head: now,
  };
}

function pageIn(view: View, request: SyncRequest, reads: PageReads, start: Start): Page {
  // No vault belongs to the user yet. None of the user's own items are given, so the token stays where it was.
  if (isVaultExclusive(request)) return { rows: [], reached: start.after, complete: true };
  return pageOf({
    changes: reads.changes,
    front: reads.front,
    start,
    bound: view.get(head).position,
    departing: departingTransferVersions(view),
  });
}

export function storedPlan({
  view,
  request,
  items,
  roomBytes = view.use(ItemSettings).storedBytesMax,
  arriving = new Map(),
}: {
  readonly view: View;
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  readonly roomBytes?: number | undefined;
  readonly arriving?: ReadonlyMap<string, ItemRow> | undefined;
}): StoredPlans {
  const collection = view.self.id;
  const departing = departingTransferVersions(view);
  const onTheirWay = departing.size === 0 ? none : uuidsToRead(items, true, () => true);
  const isNeeded = (uuid: string) => arriving.has(uuid) || isShownTaken(view, uuid);
  const uuids = [...uuidsToRead(items, isLegacy(request), isNeeded)];
  const isFew = uuids.length <= wholeRowsMax && roomBytes === view.use(ItemSettings).storedBytesMax;
  return {
    stored: keys(
      item,
      uuids.map((uuid) => ({ collection, uuid })),
      isFew ? undefined : Math.max(0, roomBytes),
    ),
    ...locationsPlan([...arriving.keys(), ...[...onTheirWay].filter((uuid) => departing.has(uuid))]),
  };
}

const none: ReadonlySet<string> = new Set();

type StoredPlans = { readonly stored: KeysPlan<typeof item> } & ReturnType<typeof locationsPlan>;
/** What of the items sent is here, and of those that come or go, what they have anywhere. */
export interface StoredReads extends Locations {
  readonly stored: ItemsByKey;
}

/** A few rows are read with those of other accounts, in one statement, which what has a budget is not. */
const wholeRowsMax = 4;

/**
 * Whether a commit was rejected for what may be a row of the collection's own that nobody had read. Of an item that has
 * moved, the row that holds the uuid reservation may be another's.
 */
function isShownTaken(view: View, uuid: string): boolean {
  const own = view.conflicting(item, { collection: view.self.id, uuid });
  if (own !== undefined) return true;
  const reserving = view.conflicting(item, { uuid, born: true });
  return reserving !== undefined && (isForwardingTombstone(reserving) || transferVersionOf(reserving) > 0);
}

/** Who saves. */
export type Member = Pick<Saver, 'userUuid' | 'sessionUuid' | 'readOnly' | 'vault'>;

/** Items that have left together, by the departure's id. */
export interface Departed {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly items: readonly Arriving[];
}

/** An item on its way: what it was, and what is to be saved over that. */
export interface Arriving {
  readonly row: ItemRow;
  readonly sent: ClientItem;
}

/** What one turn saves. */
export interface Batch {
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  readonly reads: StoredReads;
  readonly by: Member;
  /** The timers of the kind that the collection belongs to. */
  readonly timers: CollectionTimers;
  /** What arrives, by uuid, where these items do. */
  readonly arriving?: ReadonlyMap<string, ItemRow>;
}

interface CollectionTimers extends RevisionTimers {
  readonly concludeDeparture: ConcludeTimer;
}

/**
 * Saves one batch in this turn and tells how far the sync has come. The head grows when anything was written. A batch
 * that the account has no room for is refused whole: an item that was refused alone, as a conflict, would be lost on its
 * device with the session, while clients keep what a refused call brought and send it again.
 */
export function proceed(turn: Turn, batch: Batch, progress: Progress): Progress | Refused {
  const before = turn.get(head);
  const { roomBytes } = progress;
  const saver = saverOf(turn, batch);
  const result = saveItems({
    saver,
    stored: storedIn(turn, batch),
    items: batch.items,
    nowMicros: turn.nowMicros,
    roomBytes,
  });
  if (outgrows(before, result.head, turn.use(ItemSettings).quota)) return noRoom;
  for (const { row, isNew } of result.writes.values()) {
    if (isNew) turn.insert(item, row);
    else turn.put(item, row);
  }
  if (result.writes.size > 0) turn.set(head, result.head);
  keepHistory(turn, [...result.writes.values()], batch.timers);
  const departed = departAll(turn, batch, result.departing);
  return {
    vaults: progress.vaults,
    page: progress.page,
    saved: [...progress.saved, ...result.saved],
    conflicts: [...progress.conflicts, ...result.conflicts],
    departed: [...progress.departed, ...departed],
    elsewhere: [...progress.elsewhere, ...result.elsewhere],
    roomBytes: roomBytes - result.storedBytes,
    end: before.position === progress.end ? result.head.position : progress.end,
    head: result.head,
  };
}

/** One departure for each target. */
function departAll(turn: Turn, batch: Batch, departing: readonly Departing[]): readonly Departed[] {
  const found = foundIn(turn, batch);
  const targets = [...new Set(departing.map(({ to }) => to))];
  return targets.map((target) => {
    const items = departing
      .filter(({ to }) => to === target)
      .map(({ row, sent }) => ({ row: unfenced(row, found(row.uuid)), sent }));
    const rows = items.map(({ row }) => row);
    const isRemoval = batch.by.vault !== undefined && target === batch.by.userUuid;
    const id = depart(turn, { to: target, isRemoval }, rows, batch.timers.concludeDeparture);
    return { id, from: turn.self.id, to: target, items };
  });
}

function saverOf(turn: Turn, { request, by }: Batch): Saver {
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

/**
 * Over a departing item the next transfer version is taken, which ends its departure: if it has arrived meanwhile, the commit
 * is rejected, and the turn that runs again finds it there. What is not written is not fenced, so an arrival is looked for
 * first.
 */
function fenced(turn: Turn, row: ItemRow | undefined, reads: StoredReads): ItemRow | undefined {
  if (row === undefined || row.collection !== turn.self.id || isForwardingTombstone(row)) return row;
  if (departingTransferVersions(turn).get(row.uuid) !== transferVersionOf(row)) return row;
  const successor = arrivedAt(turn, row) ?? successorOf(row, reads);
  if (successor === undefined && isAwaited(row, reads)) throw notConcluded();
  return successor ?? { ...row, hop: transferVersionOf(row) + 1 };
}

/** To leave once more, to wherever, is for the same transfer version as the departure before it. */
const unfenced = (row: ItemRow, found: ItemRow | undefined): ItemRow =>
  found?.collection === row.collection ? { ...row, hop: found.hop } : row;

function storedIn(turn: Turn, batch: Batch): Stored {
  const { reads } = batch;
  const found = foundIn(turn, batch);
  const arriving = (uuid: string) => {
    const row = batch.arriving?.get(uuid);
    return row !== undefined && hasYetToArrive(turn, row, reads) ? row : undefined;
  };
  return {
    head: turn.get(head),
    // What arrives replaces the very row that it has here, also where that has yet to become a forwarding tombstone.
    row: (uuid) => (arriving(uuid) === undefined ? fenced(turn, found(uuid), reads) : found(uuid)),
    arriving,
  };
}

/** It has not been here since, and not ended its departure otherwise. */
export function hasYetToArrive(turn: Turn, row: ItemRow, reads: StoredReads): boolean {
  const { uuid } = row;
  const here = reads.stored.get({ collection: turn.self.id, uuid });
  if (here !== undefined && transferVersionOf(here) > transferVersionOf(row)) return false;
  const taken = turn.conflicting(item, { uuid, hop: transferVersionOf(row) + 1 });
  if (taken !== undefined || !isStillAt(row, reads)) return false;
  if (isAwaited({ ...row, collection: turn.self.id }, reads, row.collection)) throw notConcluded();
  return true;
}

function foundIn(
  turn: Turn,
  { request, items, reads, arriving }: Batch,
): (uuid: string) => ItemRow | undefined {
  const { stored } = reads;
  const collection = turn.self.id;
  const read = uuidsToRead(items, isLegacy(request));
  return (uuid) => {
    const key = { collection, uuid };
    const onItsWay = arriving?.get(uuid);
    if (onItsWay !== undefined)
      return stored.get(key) ?? (hasYetToArrive(turn, onItsWay, reads) ? undefined : onItsWay);
    const reserving = turn.conflicting(item, { uuid, born: true });
    if (read.has(uuid)) return stored.get(key) ?? reserving;
    const own = turn.conflicting(item, key);
    if (own !== undefined && isWhole(own)) return own;
    // The plan has asked the same, and had the row read with its ciphertext.
    return isShownTaken(turn, uuid) ? (stored.get(key) ?? reserving) : reserving;
  };
}

export function answer(
  collection: string,
  request: SyncRequest,
  progress: Progress,
  { generation }: ItemSettings,
): SyncReply {
  const { vaults, page, saved, conflicts, end, head: after } = progress;
  const known = newestKnown(conflicts, page.rows);
  const retrieved = given(page.rows, request, known);
  const more = !page.complete && retrieved.length > 0;
  const tokens = tokensOf({ collection, generation, head: after, position: end, more, others: vaults.marks });
  const result = { retrieved, saved, conflicts: known, tokens, vaults: vaults.shared };
  if (isLegacy(request)) return legacyReply(result);
  return modernReply(result);
}

/** The other side of a conflict was looked at elsewhere than the page, and an item that has moved meanwhile is newer there. */
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
function given(
  rows: readonly ItemRow[],
  request: SyncRequest,
  conflicts: readonly Conflict[],
): readonly ItemRow[] {
  const wanted = request.content_type || undefined;
  const ofType = wanted === undefined ? rows : rows.filter((row) => row.content_type === wanted);
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
