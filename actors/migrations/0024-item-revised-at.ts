import type { Migration } from '../../runtime/migration.ts';

/** As of `revisions`. */
export const itemRevisedAt: Migration = {
  id: 'domain-0024-item-revised-at',
  sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS revised_at int8 NOT NULL DEFAULT 0',
};
