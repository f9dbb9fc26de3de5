import type { Migration } from '../../runtime/migration.ts';

export const revisionByOrder: Migration = {
  id: 'domain-0022-revision-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS revision_by_order ON revision (collection, place)',
};
