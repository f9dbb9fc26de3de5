import type { Migration } from '../../runtime/migration.ts';

export const syncCommand: Migration = {
  id: 'domain-0054-sync-command',
  sql: `
    CREATE TABLE IF NOT EXISTS sync_command (
      user_uuid uuid NOT NULL,
      session_uuid uuid NOT NULL,
      command_id text NOT NULL,
      number int8 NOT NULL,
      digest text NOT NULL,
      kept_until int8 NOT NULL,
      outcome text NOT NULL,
      PRIMARY KEY (user_uuid, session_uuid, command_id)
    )`,
};
