import type { Migration } from '../../runtime/migration.ts';

export const mailByOrdinary: Migration = {
  id: 'domain-0011-mail-by-ordinary',
  sql: "CREATE INDEX IF NOT EXISTS mail_by_ordinary ON mail (mailer, position) WHERE place = 'ordinary'",
};
