import type { Migration } from '../../runtime/migration.ts';

export const inboxNotificationByOrder: Migration = {
  id: 'domain-0038-inbox-notification-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS inbox_notification_by_order ON inbox_notification (user_uuid, position)',
};
