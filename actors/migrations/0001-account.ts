import type { Migration } from '../../runtime/migration.ts';

export const account: Migration = {
  id: 'domain-0001-account',
  formerly: 'account-0001-table',
  sql: `
    CREATE TABLE IF NOT EXISTS account (
      user_uuid uuid NOT NULL PRIMARY KEY,
      workspace text NOT NULL,
      identifier text NOT NULL,
      password_hash text NOT NULL,
      credentials_version int8 NOT NULL,
      key_params text NOT NULL
    )`,
};
