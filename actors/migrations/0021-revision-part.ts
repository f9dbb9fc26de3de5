import type { Migration } from '../../runtime/migration.ts';

export const revisionPart: Migration = {
  id: 'domain-0021-revision-part',
  sql: `
    CREATE TABLE IF NOT EXISTS revision_part (
      collection uuid NOT NULL,
      item_uuid uuid NOT NULL,
      slot int8 NOT NULL,
      part int8 NOT NULL,
      content text NOT NULL,
      PRIMARY KEY (collection, item_uuid, slot, part)
    )`,
};
