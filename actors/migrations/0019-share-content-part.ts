import type { Migration } from '../../runtime/migration.ts';

export const shareContentPart: Migration = {
  id: 'domain-0019-share-content-part',
  sql: `
    CREATE TABLE IF NOT EXISTS share_content_part (
      share_uuid uuid NOT NULL,
      part int8 NOT NULL,
      content text NOT NULL,
      PRIMARY KEY (share_uuid, part)
    )`,
};
