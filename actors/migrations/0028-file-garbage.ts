import type { Migration } from '../../runtime/migration.ts';

export const fileGarbage: Migration = {
  id: 'domain-0028-file-garbage',
  sql: `
    CREATE TABLE IF NOT EXISTS file_garbage (
      owner_uuid uuid NOT NULL,
      number int8 NOT NULL,
      upload_uuid uuid NOT NULL,
      stored_under uuid NOT NULL,
      blobs bytea NOT NULL,
      PRIMARY KEY (owner_uuid, number)
    )`,
};
