import type { Migration } from '../../runtime/migration.ts';

export const sharedVault: Migration = {
  id: 'domain-0029-shared-vault',
  sql: `
    CREATE TABLE IF NOT EXISTS shared_vault (
      vault uuid NOT NULL,
      position int8 NOT NULL,
      owner_uuid uuid NOT NULL,
      survivor_uuid uuid,
      file_bytes int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (vault)
    )`,
};
