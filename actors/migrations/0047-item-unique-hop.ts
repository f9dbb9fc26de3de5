import type { Migration } from '../../runtime/migration.ts';

export const itemUniqueHop: Migration = {
  id: 'domain-0047-item-unique-hop',
  sql: 'CREATE UNIQUE INDEX IF NOT EXISTS item_unique_uuid_hop ON item (uuid, hop) WHERE hop IS NOT NULL',
};
