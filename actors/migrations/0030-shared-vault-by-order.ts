import type { Migration } from '../../runtime/migration.ts';

export const sharedVaultByOrder: Migration = {
  id: 'domain-0030-shared-vault-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS shared_vault_by_order ON shared_vault (vault, position)',
};
