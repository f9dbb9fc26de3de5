import type { Migration } from '../../runtime/migration.ts';

export const sharedVaultMember: Migration = {
  id: 'domain-0031-shared-vault-member',
  sql: `
    CREATE TABLE IF NOT EXISTS shared_vault_member (
      vault uuid NOT NULL,
      member uuid NOT NULL,
      uuid uuid NOT NULL,
      position int8 NOT NULL,
      permission text NOT NULL,
      membership int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (vault, member)
    )`,
};
