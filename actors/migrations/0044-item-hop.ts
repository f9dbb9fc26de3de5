import type { Migration } from '../../runtime/migration.ts';

export const itemHop: Migration = {
  id: 'domain-0044-item-hop',
  sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS hop int8',
};
