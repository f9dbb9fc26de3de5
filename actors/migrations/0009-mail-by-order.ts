import type { Migration } from '../../runtime/migration.ts';

export const mailByOrder: Migration = {
  id: 'domain-0009-mail-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS mail_by_order ON mail (mailer, position)',
};
