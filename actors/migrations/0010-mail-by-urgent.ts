import type { Migration } from '../../runtime/migration.ts';

export const mailByUrgent: Migration = {
  id: 'domain-0010-mail-by-urgent',
  sql: "CREATE INDEX IF NOT EXISTS mail_by_urgent ON mail (mailer, position) WHERE place = 'urgent'",
};
