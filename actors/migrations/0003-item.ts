import type { Migration } from '../../runtime/migration.ts';

export const item: Migration = {
  id: 'domain-0003-item',
  formerly: 'item-0001-table',
  sql: `
    CREATE TABLE IF NOT EXISTS item (
      collection uuid NOT NULL,
      uuid uuid NOT NULL,
      position int8 NOT NULL,
      created_position int8 NOT NULL,
      size int8 NOT NULL,
      owner_uuid uuid NOT NULL,
      content_type text,
      content text,
      content_parts int8 NOT NULL,
      enc_item_key text,
      items_key_id text,
      auth_hash text,
      duplicate_of text,
      deleted bool NOT NULL,
      created_at_timestamp int8 NOT NULL,
      updated_at_timestamp int8 NOT NULL,
      key_system_identifier text,
      shared_vault_uuid uuid,
      last_edited_by_uuid uuid,
      updated_with_session uuid,
      fingerprint bytea NOT NULL,
      PRIMARY KEY (collection, uuid, created_position)
    )`,
};
