import type { Migration } from '../../runtime/migration.ts';

export const inboxMessageByOrder: Migration = {
  id: 'domain-0036-inbox-message-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS inbox_message_by_order ON inbox_message (user_uuid, position)',
};
