import type { Migration } from '../../runtime/migration.ts';

export const syncCommandByOrder: Migration = {
  id: 'domain-0055-sync-command-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS sync_command_by_order ON sync_command (user_uuid, number)',
};
