import type { Migration } from '../../runtime/migration.ts';

export const mailSender: Migration = {
  id: 'domain-0012-mail-sender',
  sql: `
    CREATE TABLE IF NOT EXISTS mail_sender (
      mailer text NOT NULL,
      user_uuid text NOT NULL,
      day int8 NOT NULL,
      mails int8 NOT NULL,
      PRIMARY KEY (mailer, user_uuid)
    )`,
};
