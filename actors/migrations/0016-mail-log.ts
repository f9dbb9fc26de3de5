import type { Migration } from '../../runtime/migration.ts';

export const mailLog: Migration = {
  id: 'domain-0016-mail-log',
  sql: `
    CREATE TABLE IF NOT EXISTS mail_log (
      mailer text NOT NULL,
      position int8 NOT NULL,
      queue_id text,
      relay_id text NOT NULL,
      relay_kind text NOT NULL,
      source text NOT NULL,
      attempt int8 NOT NULL,
      outcome text NOT NULL,
      failure text,
      started_at int8 NOT NULL,
      duration_ms int8 NOT NULL,
      PRIMARY KEY (mailer, position)
    )`,
};
