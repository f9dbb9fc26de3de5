import type { Migration } from '../../runtime/migration.ts';

export const itemByOrder: Migration = {
  id: 'domain-0006-item-by-order',
  formerly: 'item-0001-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS item_by_order ON item (collection, position)',
};
