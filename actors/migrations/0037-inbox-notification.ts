import type { Migration } from '../../runtime/migration.ts';

export const inboxNotification: Migration = {
  id: 'domain-0037-inbox-notification',
  sql: `
    CREATE TABLE IF NOT EXISTS inbox_notification (
      user_uuid uuid NOT NULL,
      subject text NOT NULL,
      position int8 NOT NULL,
      uuid uuid NOT NULL,
      type text NOT NULL,
      payload text NOT NULL,
      happened_at int8 NOT NULL,
      cleared bool NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (user_uuid, subject)
    )`,
};
