import type { Migration } from '../../runtime/migration.ts';

/** The default is for items that were saved before, and for nodes of the version before. */
export const itemRevisions: Migration = {
  id: 'domain-0023-item-revisions',
  sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS revisions int8 NOT NULL DEFAULT 0',
};
