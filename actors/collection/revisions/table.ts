/**
 * Revisions: what an item was when it was saved. A row is ciphertext like an item's, so it has a large column of the
 * same kind.
 *
 * - An item has a fixed number of slots (see slots.ts), which its revisions take in turn: the newest is written over the
 *   oldest. So a save writes one row and reads none, and a reader of the whole history asks for all slots.
 * - `end_offset` counts the bytes of revisions that the collection had written with this one. Revisions after an offset p take no
 *   more than the bytes written since. So the oldest are found and removed without adding anything up (see usage.ts).
 */
import { type RowOf, table } from '../../../runtime/table.ts';

export const revision = table({
  name: 'revision',
  columns: {
    collection: 'uuid',
    item_uuid: 'uuid',
    slot: 'int8',
    /** Its name on the wire; the last two digits are its slot. */
    uuid: 'uuid',
    end_offset: 'int8',
    size: 'int8',
    /** Milliseconds since the epoch: when the row was written, for a copy later than `created_at`. */
    kept_at: 'int8',
    /** Milliseconds since the epoch: when the save was made that it keeps. */
    created_at: 'int8',
    owner_uuid: 'uuid',
    content_type: 'text?',
    content: 'text?',
    enc_item_key: 'text?',
    items_key_id: 'text?',
    auth_hash: 'text?',
    key_system_identifier: 'text?',
    shared_vault_uuid: 'uuid?',
    last_edited_by_uuid: 'uuid?',
  },
  key: ['collection', 'item_uuid', 'slot'],
  order: 'end_offset',
  size: 'size',
  rarelyRead: true,
  large: 'content',
});

export type RevisionRow = RowOf<typeof revision>;
