import type { Migration } from '../../runtime/migration.ts';

/** A file that moves has two rows for a moment. CockroachDB drops no unique index without CASCADE; nothing depends on this one. */
export const fileMayMove: Migration = {
  id: 'domain-0051-file-may-move',
  sql: 'DROP INDEX IF EXISTS file_unique_upload_uuid CASCADE',
};
