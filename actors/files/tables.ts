/**
 * The files of an owner, and what is left in the store of files that are no more.
 *
 * - A row of `file` is there from the commit that closes its upload to the one that deletes or replaces it, though it may
 *   change hands (see transfer.ts). An upload is of one file on the whole server: by that the sweep finds out whether anybody names
 *   a blob.
 * - With each move it takes the next transfer version, `hop`; (upload, hop) is unique on the server. On its way it has two rows.
 * - A blob that a commit stops naming is in `file_garbage` from that same commit on, until it is gone from the store.
 */
import { type RowOf, table } from '../../runtime/table.ts';
import type { Origin } from './layout.ts';

export const file = table({
  name: 'file',
  columns: {
    owner_uuid: 'uuid',
    /** By which its client knows it. */
    remote_identifier: 'uuid',
    sequence: 'int8',
    upload_uuid: 'uuid',
    hop: 'int8',
    stored_under: 'uuid',
    /** Bytes of ciphertext. */
    bytes: 'int8',
    layout: 'bytea',
    /** Milliseconds since the epoch. */
    closed_at: 'int8',
  },
  key: ['owner_uuid', 'remote_identifier'],
  unique: [['upload_uuid', 'hop']],
  order: 'sequence',
});

export type FileRow = RowOf<typeof file>;

/** Numbered without a gap, and removed in that order. */
export const fileGarbage = table({
  name: 'file_garbage',
  columns: {
    owner_uuid: 'uuid',
    number: 'int8',
    upload_uuid: 'uuid',
    stored_under: 'uuid',
    blobs: 'bytea',
  },
  key: ['owner_uuid', 'number'],
});

export const originOf = (row: { readonly stored_under: string; readonly upload_uuid: string }): Origin => ({
  storedUnder: row.stored_under,
  uploadUuid: row.upload_uuid,
});
