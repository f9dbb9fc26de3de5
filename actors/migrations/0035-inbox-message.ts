import type { Migration } from '../../runtime/migration.ts';

export const inboxMessage: Migration = {
  id: 'domain-0035-inbox-message',
  sql: `
    CREATE TABLE IF NOT EXISTS inbox_message (
      user_uuid uuid NOT NULL,
      uuid uuid NOT NULL,
      position int8 NOT NULL,
      sender_uuid uuid NOT NULL,
      encrypted_message text NOT NULL,
      replaceability_identifier text,
      size int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (user_uuid, uuid)
    )`,
};
