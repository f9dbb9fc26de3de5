import type { Migration } from '../../runtime/migration.ts';

export const fileUpload: Migration = {
  id: 'domain-0026-file-upload',
  sql: 'CREATE UNIQUE INDEX IF NOT EXISTS file_unique_upload_uuid ON file (upload_uuid)',
};
