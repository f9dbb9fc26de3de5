/**
 * Saving several items in one turn: each on its own and in the order sent, seeing what those before it did. Every
 * item ends in exactly one of `saved` and `conflicts`; a client uploads again what ends in neither.
 */
import type { Conflict } from './conflicts.ts';
import { advance, type Head } from './head.ts';
import { isUuid } from './incoming.ts';
import type { ItemRow } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { type Saver, save } from './save.ts';

/** What the turn brings. */
export interface Stored {
  readonly head: Head;
  /** The row that holds this (lower-case) uuid on the server, as far as the turn knows. */
  row(uuid: string): ItemRow | undefined;
}

export interface SavedEntry {
  readonly row: ItemRow;
  /** As the client spells it. */
  readonly uuid: string;
}

export interface ItemWrite {
  readonly row: ItemRow;
  /** Nothing of this uuid was stored before the turn. */
  readonly isNew: boolean;
}

export interface SavedItems {
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  /** The last write of each uuid. */
  readonly writes: ReadonlyMap<string, ItemWrite>;
  /** Unchanged when nothing is written. */
  readonly head: Head;
}

export function saveItems(
  saver: Saver,
  stored: Stored,
  items: readonly ClientItem[],
  nowMicros: number,
): SavedItems {
  const saved: SavedEntry[] = [];
  const conflicts: Conflict[] = [];
  const writes = new Map<string, ItemWrite>();
  let head = stored.head;
  for (const sent of items) {
    const uuid = isUuid(sent.uuid) ? sent.uuid : '';
    const key = uuid.toLowerCase();
    const before = writes.get(key);
    const existing = before?.row ?? (uuid === '' ? undefined : stored.row(key));
    const result = save(saver, head, sent, existing, nowMicros);
    if (result.outcome === 'conflict') {
      conflicts.push(result.conflict);
      continue;
    }
    saved.push({ row: result.row, uuid });
    if (result.outcome === 'repeat') continue;
    head = advance(head, result.row, existing);
    writes.set(key, { row: result.row, isNew: before?.isNew ?? existing === undefined });
  }
  return { saved, conflicts, writes, head };
}

/**
 * The uuids whose rows must be read before the turn. An item that was never synced is taken as new: should its
 * uuid be stored after all, the commit is refused and the turn runs again, knowing that row. Legacy clients may
 * save over a row they name no version of, so theirs are all read.
 */
export function uuidsToRead(items: readonly ClientItem[], legacy: boolean): ReadonlySet<string> {
  const uuids = new Set<string>();
  for (const { uuid, updated_at_timestamp: version } of items) {
    if (isUuid(uuid) && (legacy || version !== 0)) uuids.add(uuid.toLowerCase());
  }
  return uuids;
}
