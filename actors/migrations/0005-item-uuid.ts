import type { Migration } from '../../runtime/migration.ts';

export const itemUuid: Migration = {
  id: 'domain-0005-item-uuid',
  formerly: 'item-0001-unique-uuid',
  sql: 'CREATE UNIQUE INDEX IF NOT EXISTS item_unique_uuid ON item (uuid)',
};
