import type { Migration } from '../../runtime/migration.ts';

export const inboxInvite: Migration = {
  id: 'domain-0039-inbox-invite',
  sql: `
    CREATE TABLE IF NOT EXISTS inbox_invite (
      user_uuid uuid NOT NULL,
      vault_uuid uuid NOT NULL,
      position int8 NOT NULL,
      uuid uuid NOT NULL,
      sender_uuid uuid NOT NULL,
      permission text NOT NULL,
      encrypted_message text NOT NULL,
      size int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (user_uuid, vault_uuid)
    )`,
};
