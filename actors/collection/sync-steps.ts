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
import { ItemSettings } from '../settings.ts';
import type { Conflict } from './conflicts.ts';
import { type Head, head } from './head.ts';
import { type ItemRow, item } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { noRoom, outgrows } from './quota.ts';
import { changesPlan, frontPlan, type Page, pageItems, pageOf, tokensOf } from './retrieve.ts';
import { keepHistory, type RevisionTimers } from './revisions/keep.ts';
import { isWhole, type Saver } from './save.ts';
import { type SavedEntry, type Stored, saveItems, uuidsToRead } from './save-items.ts';
import { idleReply, legacyReply, modernReply, type SyncReply, type SyncResult } from './sync-reply.ts';
import { isLegacy, isVaultExclusive, type SyncRequest } from './sync-request.ts';
import { type Start, startOf } from './token.ts';

type ItemRows = RangeResult<typeof item>;
type ItemsByKey = KeysResult<typeof item>;

export interface PageReads {
  readonly changes: ItemRows;
  readonly front: ItemRows;
}

/** How far a sync has come. */
export interface Progress {
  readonly page: Page;
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
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
  const page = pageIn(request, reads, now, startAt(view, request));
  return {
    page,
    saved: [],
    conflicts: [],
    roomBytes: view.use(ItemSettings).storedBytesMax,
    end: page.reached,
    head: now,
  };
}

function pageIn(request: SyncRequest, reads: PageReads, now: Head, start: Start): Page {
  // No vault belongs to the user yet. None of the user's own items are given, so the token stays where it was.
  if (isVaultExclusive(request)) return { rows: [], reached: start.after, complete: true };
  return pageOf(reads.changes, reads.front, start, now.position);
}

export function storedPlan(
  view: View,
  request: SyncRequest,
  items: readonly ClientItem[],
  roomBytes = view.use(ItemSettings).storedBytesMax,
): { stored: KeysPlan<typeof item> } {
  const collection = view.self.id;
  const uuids = [...uuidsToRead(items, isLegacy(request), (uuid) => isShownTaken(view, uuid))];
  const isFew = uuids.length <= wholeRowsMax && roomBytes === view.use(ItemSettings).storedBytesMax;
  return {
    stored: keys(
      item,
      uuids.map((uuid) => ({ collection, uuid })),
      isFew ? undefined : Math.max(0, roomBytes),
    ),
  };
}

/** A few rows are read with those of other accounts, in one statement, which what has a budget is not. */
const wholeRowsMax = 4;

/** Whether a commit was rejected for a row of the collection's own that nobody had read. */
function isShownTaken(view: View, uuid: string): boolean {
  const collection = view.self.id;
  return view.conflicting(item, { collection, uuid })?.collection === collection;
}

/** Who saves. */
export type Member = Pick<Saver, 'userUuid' | 'sessionUuid' | 'readOnly'>;

/** What one turn saves. */
export interface Batch {
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  readonly stored: ItemsByKey;
  readonly by: Member;
  /** Of the kind that the collection belongs to. */
  readonly timers: RevisionTimers;
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
  const result = saveItems(saver, storedIn(turn, batch), batch.items, turn.nowMicros, roomBytes);
  if (outgrows(before, result.head, turn.use(ItemSettings).quota)) return noRoom;
  for (const { row, isNew } of result.writes.values()) {
    if (isNew) turn.insert(item, row);
    else turn.put(item, row);
  }
  if (result.writes.size > 0) turn.set(head, result.head);
  keepHistory(turn, [...result.writes.values()], batch.timers);
  return {
    page: progress.page,
    saved: [...progress.saved, ...result.saved],
    conflicts: [...progress.conflicts, ...result.conflicts],
    roomBytes: roomBytes - result.storedBytes,
    end: before.position === progress.end ? result.head.position : progress.end,
    head: result.head,
  };
}

function saverOf(turn: Turn, { request, by }: Batch): Saver {
  const { contentLimitBytes, revisions } = turn.use(ItemSettings);
  return {
    collection: turn.self.id,
    userUuid: by.userUuid,
    sessionUuid: by.sessionUuid,
    readOnly: by.readOnly,
    legacy: isLegacy(request),
    snjsVersion: request.snjs_version,
    contentLimitBytes,
    revisionPauseMs: revisions.pauseMs,
  };
}

function storedIn(turn: Turn, { request, items, stored }: Batch): Stored {
  const collection = turn.self.id;
  const read = uuidsToRead(items, isLegacy(request));
  return {
    head: turn.get(head),
    row(uuid) {
      const key = { collection, uuid };
      if (read.has(uuid)) return stored.get(key) ?? turn.conflicting(item, key);
      const taken = turn.conflicting(item, key);
      // The plan has asked the same, and had the row read with its ciphertext.
      return taken?.collection === collection && !isWhole(taken) ? stored.get(key) : taken;
    },
  };
}

export function answer(
  collection: string,
  request: SyncRequest,
  progress: Progress,
  { generation }: ItemSettings,
): SyncReply {
  const { page, saved, conflicts, end, head: after } = progress;
  const retrieved = given(page.rows, request, conflicts);
  const tokens = tokensOf(collection, generation, after, end, !page.complete && retrieved.length > 0);
  const result = { retrieved, saved, conflicts, tokens };
  if (isLegacy(request)) return legacyReply(result);
  return isIdle(result, after, end) ? idleReply(after, tokens) : modernReply(result);
}

/** Nothing to report, at a head unique to this collection: before the first save they all have the same one. */
function isIdle({ retrieved, saved, conflicts }: SyncResult, head: Head, end: number): boolean {
  const isEmpty = retrieved.length === 0 && saved.length === 0 && conflicts.length === 0;
  return isEmpty && end === head.position && end > 0;
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
