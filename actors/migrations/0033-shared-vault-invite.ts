import type { Migration } from '../../runtime/migration.ts';

export const sharedVaultInvite: Migration = {
  id: 'domain-0033-shared-vault-invite',
  sql: `
    CREATE TABLE IF NOT EXISTS shared_vault_invite (
      vault uuid NOT NULL,
      invitee uuid NOT NULL,
      uuid uuid NOT NULL,
      position int8 NOT NULL,
      sender_uuid uuid NOT NULL,
      permission text NOT NULL,
      encrypted_message text NOT NULL,
      bytes int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (vault, invitee)
    )`,
};
