import type { Migration } from '../../runtime/migration.ts';

export const sharedVaultMemberByOrder: Migration = {
  id: 'domain-0032-shared-vault-member-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS shared_vault_member_by_order ON shared_vault_member (vault, position)',
};
