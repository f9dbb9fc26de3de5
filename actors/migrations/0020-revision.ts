import type { Migration } from '../../runtime/migration.ts';

export const revision: Migration = {
  id: 'domain-0020-revision',
  sql: `
    CREATE TABLE IF NOT EXISTS revision (
      collection uuid NOT NULL,
      item_uuid uuid NOT NULL,
      slot int8 NOT NULL,
      uuid uuid NOT NULL,
      place int8 NOT NULL,
      size int8 NOT NULL,
      kept_at int8 NOT NULL,
      created_at int8 NOT NULL,
      owner_uuid uuid NOT NULL,
      content_type text,
      content text,
      content_parts int8 NOT NULL,
      enc_item_key text,
      items_key_id text,
      auth_hash text,
      key_system_identifier text,
      shared_vault_uuid uuid,
      last_edited_by_uuid uuid,
      PRIMARY KEY (collection, item_uuid, slot)
    )`,
};
