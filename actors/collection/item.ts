/**
 * The rows of a collection: the items of one user or of one vault.
 *
 * - An item's uuid is unique on the server and stays taken for good, tombstones included. The first row of a uuid holds the
 *   *uuid reservation* (`born`) and stays for as long as any row of that uuid does.
 * - An item is in one collection, its *owning collection*, and may move to another (see transfer.ts). The source keeps a
 *   *forwarding tombstone*: a row without ciphertext that says where the item went (`moved_to`). No client gets it, and it
 *   counts nowhere. A purge leaves a forwarding tombstone for every item that ever moved.
 * - With each move the item's row takes the next transfer version (`hop`), in whichever collection. (uuid, hop) is unique on the
 *   server. So if two commits both end a transfer, one of them is rejected. An item that never moved has none.
 * - `position` is the number of the row's last change in the collection's own order of changes. Every save gives it the next
 *   one, so a row is always found after every position it had before; sync tokens hold positions.
 * - `created_position` is the position of the save that made the row and tells a new row from a rewritten one.
 * - Ciphertext is opaque: nothing here or above looks into `content`.
 */
import type { View } from '../../runtime/command.ts';
import { type RowOf, table } from '../../runtime/table.ts';
import { firstPageContentTypes, itemColumns } from './item-fields.ts';

export const item = table({
  name: 'item',
  columns: {
    collection: 'uuid',
    position: 'int8',
    created_position: 'int8',
    /** Bytes of the item as sent to clients, closely estimated; 0 for a tombstone. */
    size: 'int8',
    ...itemColumns,
    /** The fingerprint of the last accepted save (see item-fields.ts). */
    fingerprint: 'bytea',
    /** How many revisions its saves have made (see saved-row.ts). */
    revisions: 'int8',
    /** Microseconds since the epoch: when the last of them was made; 0 before the first and for a tombstone. */
    revised_at: 'int8',
    /** The revision that this row holds (see revisions/held.ts); null if its last save made none. */
    revision_uuid: 'uuid?',
    /** The uuid reservation: true in the row that keeps the uuid taken, null in every other. */
    born: 'bool?',
    hop: 'int8?',
    /** Set in a forwarding tombstone: the collection that the item has moved to. */
    moved_to: 'uuid?',
  },
  key: ['collection', 'uuid'],
  generation: 'created_position',
  unique: [
    ['uuid', 'hop'],
    ['uuid', 'born'],
  ],
  sparse: ['hop'],
  keyImplied: true,
  succession: { of: 'uuid', by: 'hop' },
  order: 'position',
  size: 'size',
  large: 'content',
  subsets: {
    /** Without forwarding tombstones. */
    present: { column: 'moved_to', values: [null], indexed: false },
    /** This leaves out forwarding tombstones too, because they are `deleted`. */
    live: { column: 'deleted', values: [false], indexed: false },
    front: { column: 'content_type', values: firstPageContentTypes, indexed: true },
  },
});

export type ItemRow = RowOf<typeof item>;

/** False for a row that was read without its ciphertext, because the turn's budget of bytes was used up. */
export const isWhole = ({ content }: { readonly content?: unknown }): boolean => content !== undefined;

export const isForwardingTombstone = ({ moved_to }: Pick<ItemRow, 'moved_to'>): boolean => moved_to !== null;

/** The key of an item in the collection of this actor. */
export const itemKey = ({ self }: Pick<View, 'self'>, uuid: string) => ({
  collection: self.id,
  uuid: uuid.toLowerCase(),
});

/** The transfer version: how often the item has moved. */
export const transferVersionOf = ({ hop }: Pick<ItemRow, 'hop'>): number => hop ?? 0;

/** The columns that a purge needs. */
export const purgeColumns = [
  'size',
  'created_position',
  'owner_uuid',
  'shared_vault_uuid',
  'content_type',
  'created_at_timestamp',
  'updated_at_timestamp',
  'revisions',
  'born',
  'hop',
  'moved_to',
] as const;
type Moving = Pick<ItemRow, 'collection' | 'uuid' | (typeof purgeColumns)[number]>;

/** The row of an item that has arrived in this collection. It replaces the forwarding tombstone from an earlier stay, if any. */
export const arrivedRowOf = (row: ItemRow, replaced: ItemRow | undefined): ItemRow => ({
  ...row,
  created_position: replaced?.created_position ?? row.position,
  born: replaced?.born ?? null,
  hop: transferVersionOf(row) + 1,
});

/** The row that an item leaves behind in the collection from which it moves. */
export function forwardingTombstoneOf(row: Moving, movedTo: string, position: number): ItemRow {
  return {
    collection: row.collection,
    uuid: row.uuid,
    position,
    created_position: row.created_position,
    size: 0,
    items_key_id: null,
    duplicate_of: null,
    enc_item_key: null,
    content: null,
    content_type: row.content_type,
    auth_hash: null,
    deleted: true,
    created_at_timestamp: row.created_at_timestamp,
    updated_at_timestamp: row.updated_at_timestamp,
    updated_with_session: null,
    key_system_identifier: null,
    shared_vault_uuid: row.shared_vault_uuid,
    owner_uuid: row.owner_uuid,
    last_edited_by_uuid: null,
    fingerprint: nothing,
    revisions: row.revisions,
    revised_at: 0,
    revision_uuid: null,
    born: row.born,
    hop: row.hop,
    moved_to: movedTo,
  };
}

const nothing = Buffer.alloc(0);
