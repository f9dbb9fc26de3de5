import type { Migration } from '../../runtime/migration.ts';

export const itemMovedTo: Migration = {
  id: 'domain-0045-item-moved-to',
  sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS moved_to uuid',
};
