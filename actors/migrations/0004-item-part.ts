import type { Migration } from '../../runtime/migration.ts';

export const itemPart: Migration = {
  id: 'domain-0004-item-part',
  formerly: 'item-0001-part',
  sql: `
    CREATE TABLE IF NOT EXISTS item_part (
      collection uuid NOT NULL,
      uuid uuid NOT NULL,
      part int8 NOT NULL,
      content text NOT NULL,
      PRIMARY KEY (collection, uuid, part)
    )`,
};
