import type { Migration } from '../../runtime/migration.ts';

export const mailAudit: Migration = {
  id: 'domain-0017-mail-audit',
  sql: `
    CREATE TABLE IF NOT EXISTS mail_audit (
      mailer text NOT NULL,
      position int8 NOT NULL,
      user_uuid text NOT NULL,
      operation text NOT NULL,
      target text NOT NULL,
      at int8 NOT NULL,
      PRIMARY KEY (mailer, position)
    )`,
};
