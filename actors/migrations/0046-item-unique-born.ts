import type { Migration } from '../../runtime/migration.ts';

/** Takes the place of `item_unique_uuid`: nodes of the version before find by its first column what they found by that. */
export const itemUniqueBorn: Migration = {
  id: 'domain-0046-item-unique-born',
  sql: 'CREATE UNIQUE INDEX IF NOT EXISTS item_unique_uuid_born ON item (uuid, born)',
};
