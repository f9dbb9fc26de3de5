import type { Migration } from '../../runtime/migration.ts';

export const accountAddress: Migration = {
  id: 'domain-0002-account-address',
  formerly: 'account-0001-unique-workspace-identifier',
  sql: `
    CREATE UNIQUE INDEX IF NOT EXISTS account_unique_workspace_identifier
      ON account (workspace, identifier)`,
};
