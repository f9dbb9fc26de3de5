/**
 * The rows of a collection: the items of one user or of one vault.
 *
 * - An item's uuid is unique on the server and stays taken for good, tombstones included.
 * - `position` is the row's place in the collection's own order of changes. Every save gives it the next one, so
 *   a row is always found after every position it had before; sync tokens hold positions.
 * - `created_position` is the position of the save that made the row and tells a new row from a rewritten one.
 * - Ciphertext is opaque: nothing here or above looks into `content`.
 */
import { type RowOf, table } from '../../runtime/table.ts';
import { frontContentTypes } from './content-type.ts';
import { itemColumns } from './item-fields.ts';

export const item = table({
  name: 'item',
  columns: {
    collection: 'uuid',
    position: 'int8',
    created_position: 'int8',
    /** Bytes of the item as sent to clients, closely estimated; 0 for a tombstone. */
    size: 'int8',
    ...itemColumns,
    /** Of the last accepted save (see fingerprint.ts). */
    fingerprint: 'bytea',
    /** How many revisions its saves have made (see revisions/due.ts). */
    revisions: 'int8',
    /** Microseconds since the epoch: when the last of them was made; 0 before the first and for a tombstone. */
    revised_at: 'int8',
  },
  key: ['collection', 'uuid'],
  generation: 'created_position',
  unique: [['uuid']],
  order: 'position',
  size: 'size',
  large: 'content',
  subsets: {
    live: { column: 'deleted', values: [false], indexed: false },
    front: { column: 'content_type', values: frontContentTypes, indexed: true },
  },
});

export type ItemRow = RowOf<typeof item>;
