import type { Migration } from '../../runtime/migration.ts';

export const shareContent: Migration = {
  id: 'domain-0018-share-content',
  sql: `
    CREATE TABLE IF NOT EXISTS share_content (
      share_uuid uuid NOT NULL,
      content text,
      content_parts int8 NOT NULL,
      PRIMARY KEY (share_uuid)
    )`,
};
