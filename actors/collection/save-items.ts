/**
 * Saving several items in one turn: each on its own and in the order sent, seeing what those before it did. Every
 * item ends in at most one list of the result. A client uploads again whatever is in neither `saved` nor `conflicts`. So the
 * server leaves out items that one answer has no room for: a small request could otherwise load whole accounts into memory.
 */
import type { Conflict } from './conflicts.ts';
import { type Head, headAfterWrite } from './head.ts';
import { isUuid } from './incoming.ts';
import { type ItemRow, isWhole } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { holdsRevision } from './revisions/held.ts';
import { type SaveOutcome, type Saver, save } from './save.ts';

/** The state that the turn has read. */
export interface StoredState {
  readonly head: Head;
  /** The row that holds this (lower-case) uuid on the server, as far as the turn knows. */
  row(uuid: string): ItemRow | undefined;
  /** The row at the source, for an item that a transfer brings here. */
  incoming?(uuid: string): ItemRow | undefined;
}

export interface SavedEntry {
  readonly row: ItemRow;
  /** As the client spells it. */
  readonly uuid: string;
}

export interface ItemWrite {
  readonly row: ItemRow;
  /** The row of this collection before the turn, if there was one. */
  readonly replaced: ItemRow | undefined;
  /** The save makes a revision. */
  readonly revised: boolean;
  /** The save is the first to name the item that this one duplicates. */
  readonly duplicated: boolean;
}

/** An item on its way to another collection. */
export interface MovingItem {
  readonly row: ItemRow;
  readonly sent: ClientItem;
  readonly to: string;
}

export interface SavedItems {
  readonly moving: readonly MovingItem[];
  /** Sent items that are not in this collection. */
  readonly notHere: readonly ClientItem[];
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  /** The last write of each uuid. */
  readonly writes: ReadonlyMap<string, ItemWrite>;
  /**
   * Bytes of the stored ciphertext that was read. It is returned as the other side of a conflict, stays with an item that brings
   * none, or goes into the history.
   */
  readonly storedBytes: number;
  /** Unchanged when nothing is written. */
  readonly head: Head;
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: each outcome of a save has one branch of one loop.
export function computeSaves({
  saver,
  stored,
  items,
  nowMicros,
  remainingBytes = Number.POSITIVE_INFINITY,
}: {
  readonly saver: Saver;
  readonly stored: StoredState;
  readonly items: readonly ClientItem[];
  readonly nowMicros: number;
  readonly remainingBytes?: number;
}): SavedItems {
  const saved: SavedEntry[] = [];
  const conflicts: Conflict[] = [];
  const moving: MovingItem[] = [];
  const notHere: ClientItem[] = [];
  const writes = new Map<string, ItemWrite>();
  const leaving = new Set<string>();
  const spelledUuids = new Set<string>();
  let head = stored.head;
  let storedBytes = 0;
  for (const sent of items) {
    const uuid = isUuid(sent.uuid) ? sent.uuid : '';
    const key = uuid.toLowerCase();
    // The move takes the item in its former state along, so a second save here would be lost.
    if (leaving.has(key)) {
      notHere.push(sent);
      continue;
    }
    const before = writes.get(key);
    const existing = before?.row ?? (uuid === '' ? undefined : stored.row(key));
    const atSource = before === undefined ? stored.incoming?.(key) : undefined;
    const base = atSource ?? existing;
    const incoming = atSource === undefined ? undefined : { replacing: existing };
    const result = save({ saver, head, sent, stored: base, nowMicros, incoming });
    if (result.outcome === 'notHere') {
      notHere.push(sent);
      continue;
    }
    if (result.outcome === 'moves') {
      leaving.add(key);
      moving.push({ row: result.row, sent, to: result.to });
      continue;
    }
    const history = before === undefined ? historyOf(result, existing) : undefined;
    const bytes = storedBytesOf(result, sent) + (history?.size ?? 0);
    const isUnread = history !== undefined && !isWhole(history);
    if (result.outcome === 'later' || isUnread || (bytes > 0 && storedBytes >= remainingBytes)) continue;
    storedBytes += bytes;
    if (result.outcome === 'conflict') {
      const { server_item: other } = result.conflict;
      // Otherwise a request could name one item a thousand times and get its ciphertext as often. The client sends the others again.
      if (other !== undefined && spelledUuids.has(key)) continue;
      if (other !== undefined) spelledUuids.add(key);
      conflicts.push(result.conflict);
      continue;
    }
    saved.push({ row: result.row, uuid });
    if (result.outcome === 'repeat') continue;
    head = headAfterWrite(head, result.row, existing);
    const replaced = before === undefined ? existing : before.replaced;
    writes.set(key, writeOf(result.row, { base, before, replaced }));
  }
  return { saved, conflicts, moving, notHere, writes, storedBytes, head };
}

/** `base`: the row that was saved over. `before`: an earlier write of this turn. `replaced`: the row before the turn. */
function writeOf(
  row: ItemRow,
  {
    base,
    before,
    replaced,
  }: {
    readonly base: ItemRow | undefined;
    readonly before: ItemWrite | undefined;
    readonly replaced: ItemRow | undefined;
  },
): ItemWrite {
  return {
    row,
    replaced,
    revised: before?.revised === true || row.revisions > (base?.revisions ?? 0),
    duplicated:
      before?.duplicated === true || (row.duplicate_of !== null && (base?.duplicate_of ?? null) === null),
  };
}

type AnsweredSave = Exclude<SaveOutcome, { readonly outcome: 'notHere' | 'moves' }>;

/** The stored row whose revision goes into the history, because the save overwrites it. */
function historyOf(result: AnsweredSave, existing: ItemRow | undefined): ItemRow | undefined {
  if (result.outcome !== 'saved' || result.row.deleted) return undefined;
  return holdsRevision(existing) ? existing : undefined;
}

/** Ciphertext that the client has sent itself does not count: the limit of the body bounds it. */
function storedBytesOf(result: AnsweredSave, sent: ClientItem): number {
  if (result.outcome === 'later') return 0;
  if (result.outcome === 'conflict') return ciphertextBytes(result.conflict.server_item);
  return sent.content ? 0 : ciphertextBytes(result.row);
}

const ciphertextBytes = (item: Pick<ItemRow, 'content' | 'enc_item_key'> | undefined): number =>
  item === undefined ? 0 : (item.content?.length ?? 0) + (item.enc_item_key?.length ?? 0);

/**
 * The uuids whose rows must be read before the turn. An item that was never synced counts as new. If its uuid is stored
 * after all, the commit is rejected and the turn runs again, knowing that it `isTaken`. Legacy clients may save over a row
 * without naming its version, so theirs are all read.
 */
export function uuidsToRead(
  items: readonly ClientItem[],
  legacy: boolean,
  isStored: (uuid: string) => boolean = () => false,
): ReadonlySet<string> {
  const uuids = new Set<string>();
  for (const { uuid: sent, updated_at_timestamp: version } of items) {
    if (!isUuid(sent)) continue;
    const uuid = sent.toLowerCase();
    if (legacy || version !== 0 || isStored(uuid)) uuids.add(uuid);
  }
  return uuids;
}
