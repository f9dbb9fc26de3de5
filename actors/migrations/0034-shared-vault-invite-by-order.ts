import type { Migration } from '../../runtime/migration.ts';

export const sharedVaultInviteByOrder: Migration = {
  id: 'domain-0034-shared-vault-invite-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS shared_vault_invite_by_order ON shared_vault_invite (vault, position)',
};
