import type { Migration } from '../../runtime/migration.ts';

export const sentMessageByOrder: Migration = {
  id: 'domain-0042-sent-message-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS sent_message_by_order ON sent_message (user_uuid, place)',
};
