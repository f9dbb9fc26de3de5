import type { Migration } from '../../runtime/migration.ts';

export const fileByOrder: Migration = {
  id: 'domain-0027-file-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS file_by_order ON file (owner_uuid, place)',
};
