/**
 * The files of an owner, and the garbage that former files have left in the store.
 *
 * - A row of `file` is there from the commit that closes its upload to the one that deletes or replaces it. It may change
 *   hands meanwhile (transfer.ts). An upload belongs to one file on the whole server, so the sweep finds by it whether a file names
 *   a blob.
 * - With each move a file takes the next transfer version, `hop`; (upload, hop) is unique on the server. During a move it has two
 *   rows.
 * - A blob that a commit stops naming is in `file_garbage` from that same commit on, until it is gone from the store.
 */
import type { View } from '../../runtime/command.ts';
import { type RowOf, table } from '../../runtime/table.ts';
import type { BlobOrigin } from './layout.ts';

export const file = table({
  name: 'file',
  columns: {
    owner_uuid: 'uuid',
    /** The client's name for the file. */
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

/** Rows are numbered without a gap, and removed in that order. */
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

export const fileKey = ({ self }: Pick<View, 'self'>, remoteIdentifier: string) => ({
  owner_uuid: self.id,
  remote_identifier: remoteIdentifier,
});

export const blobOriginOf = (row: {
  readonly stored_under: string;
  readonly upload_uuid: string;
}): BlobOrigin => ({
  storedUnder: row.stored_under,
  uploadUuid: row.upload_uuid,
});

/** What a reader needs to find the bytes of a file. */
export const storedFileOf = (row: FileRow) => ({
  ...blobOriginOf(row),
  bytes: row.bytes,
  layout: row.layout,
});
