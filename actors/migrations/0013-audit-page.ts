import type { Migration } from '../../runtime/migration.ts';

export const auditPage: Migration = {
  id: 'domain-0013-audit-page',
  sql: `
    CREATE TABLE IF NOT EXISTS audit_page (
      user_uuid uuid NOT NULL,
      slot int8 NOT NULL,
      events text NOT NULL,
      PRIMARY KEY (user_uuid, slot)
    )`,
};
