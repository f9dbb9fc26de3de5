import type { Migration } from '../../runtime/migration.ts';

export const file: Migration = {
  id: 'domain-0025-file',
  sql: `
    CREATE TABLE IF NOT EXISTS file (
      owner_uuid uuid NOT NULL,
      remote_identifier uuid NOT NULL,
      place int8 NOT NULL,
      upload_uuid uuid NOT NULL,
      stored_under uuid NOT NULL,
      bytes int8 NOT NULL,
      layout bytea NOT NULL,
      closed_at int8 NOT NULL,
      PRIMARY KEY (owner_uuid, remote_identifier)
    )`,
};
