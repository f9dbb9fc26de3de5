import type { Migration } from '../../runtime/migration.ts';

/** Takes the place of `file_unique_upload_uuid`: what was found by that is found by its first column. */
export const fileUploadHop: Migration = {
  id: 'domain-0050-file-upload-hop',
  sql: 'CREATE UNIQUE INDEX IF NOT EXISTS file_unique_upload_uuid_hop ON file (upload_uuid, hop)',
};
