/** What the sync commands are made of: the plans, the page, the save of one batch, and the answer. */
import {
  type KeysPlan,
  type KeysResult,
  keys,
  type RangeResult,
  type Turn,
  type View,
} from '../../../runtime/command.ts';
import type { Conflict } from '../../collection/conflicts.ts';
import { type Head, head } from '../../collection/head.ts';
import type { ClientItem } from '../../collection/incoming.ts';
import { type ItemRow, item } from '../../collection/item.ts';
import { changesPlan, frontPlan, type Page, pageItems, pageOf, tokensOf } from '../../collection/retrieve.ts';
import type { Saver } from '../../collection/save.ts';
import { type SavedEntry, type Stored, saveItems, uuidsToRead } from '../../collection/save-items.ts';
import { type Start, startOf } from '../../collection/token.ts';
import type { SignedIn } from '../signed-in.ts';
import { itemsChanged } from '../sockets/events.ts';
import { idleReply, legacyReply, modernReply, type SyncReply, type SyncResult } from './reply.ts';
import { isLegacy, isVaultExclusive, type SyncRequest } from './request.ts';
import type { ItemSettings } from './settings.ts';

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
  /** With the page and what is saved, the client has everything up to this position. */
  readonly end: number;
  /** After the last turn. */
  readonly head: Head;
}

export function pagePlans(view: View, request: SyncRequest, settings: ItemSettings) {
  const now = view.get(head);
  const limits = { items: pageItems(request.limit), bytes: settings.transferLimitBytes };
  const start = isVaultExclusive(request) ? nothingAfter(now) : startAt(view, request, settings);
  return { changes: changesPlan(start, now, limits), front: frontPlan(start, now) };
}

/** A sync before it has saved anything. */
export function begin(view: View, request: SyncRequest, reads: PageReads, settings: ItemSettings): Progress {
  const now = view.get(head);
  const page = pageIn(request, reads, now, startAt(view, request, settings));
  return { page, saved: [], conflicts: [], end: page.reached, head: now };
}

function pageIn(request: SyncRequest, reads: PageReads, now: Head, start: Start): Page {
  // No vault's items are the user's yet. Nothing of his own is given, so the token stays where it was.
  if (isVaultExclusive(request)) return { rows: [], reached: start.after, complete: true };
  return pageOf(reads.changes, reads.front, start, now.position);
}

export function storedPlan(
  view: View,
  request: SyncRequest,
  items: readonly ClientItem[],
): { stored: KeysPlan<typeof item> } {
  const collection = view.self.id;
  const uuids = [...uuidsToRead(items, isLegacy(request))];
  return {
    stored: keys(
      item,
      uuids.map((uuid) => ({ collection, uuid })),
    ),
  };
}

/** What one turn saves, and who. */
export interface Batch {
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  readonly stored: ItemsByKey;
  readonly by: SignedIn;
  readonly contentLimitBytes: number;
}

/** Saves one batch in this turn and tells how far the sync has come. */
export function proceed(turn: Turn, batch: Batch, progress: Progress): Progress {
  const before = turn.get(head);
  const result = saveItems(saverOf(turn, batch), storedIn(turn, batch), batch.items, turn.nowMicros);
  for (const { row, isNew } of result.writes.values()) {
    if (isNew) turn.insert(item, row);
    else turn.put(item, row);
  }
  if (result.writes.size > 0) {
    turn.set(head, result.head);
    turn.publish(itemsChanged(turn.self.id, turn.nowMicros, batch.by.session.uuid));
  }
  return {
    page: progress.page,
    saved: [...progress.saved, ...result.saved],
    conflicts: [...progress.conflicts, ...result.conflicts],
    end: before.position === progress.end ? result.head.position : progress.end,
    head: result.head,
  };
}

function saverOf(turn: Turn, { request, by, contentLimitBytes }: Batch): Saver {
  return {
    collection: turn.self.id,
    userUuid: turn.self.id,
    sessionUuid: by.session.uuid,
    readOnly: by.readonly,
    legacy: isLegacy(request),
    snjsVersion: request.snjs_version,
    contentLimitBytes,
  };
}

function storedIn(turn: Turn, { request, items, stored }: Batch): Stored {
  const collection = turn.self.id;
  const read = uuidsToRead(items, isLegacy(request));
  return {
    head: turn.get(head),
    row: (uuid) =>
      (read.has(uuid) ? stored.get({ collection, uuid }) : undefined) ??
      turn.taken(item, { collection, uuid }),
  };
}

export function answer(
  userUuid: string,
  request: SyncRequest,
  progress: Progress,
  { generation }: ItemSettings,
): SyncReply {
  const { page, saved, conflicts, end, head: after } = progress;
  const retrieved = given(page.rows, request, conflicts);
  const tokens = tokensOf(userUuid, generation, after, end, !page.complete && retrieved.length > 0);
  const result = { retrieved, saved, conflicts, tokens };
  if (isLegacy(request)) return legacyReply(result);
  return isIdle(result, after, end) ? idleReply(after, tokens) : modernReply(result);
}

/** Nothing to say, at a head that is of this collection alone: before its first save each has the same one. */
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

function startAt(view: View, request: SyncRequest, { generation }: ItemSettings): Start {
  const tokens = { sync: request.sync_token, cursor: request.cursor_token };
  return startOf(tokens, view.self.id, generation, view.get(head));
}

function nothingAfter(now: Head): Start {
  return { after: now.position, first: false };
}
