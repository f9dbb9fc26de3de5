import type { Migration } from '../../runtime/migration.ts';

export const sentMessage: Migration = {
  id: 'domain-0041-sent-message',
  sql: `
    CREATE TABLE IF NOT EXISTS sent_message (
      user_uuid uuid NOT NULL,
      uuid uuid NOT NULL,
      place int8 NOT NULL,
      recipient_uuid uuid NOT NULL,
      encrypted_message text NOT NULL,
      replaceability_identifier text,
      size int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (user_uuid, uuid)
    )`,
};
