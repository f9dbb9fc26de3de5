import type { Migration } from '../../runtime/migration.ts';

export const mail: Migration = {
  id: 'domain-0008-mail',
  sql: `
    CREATE TABLE IF NOT EXISTS mail (
      mailer text NOT NULL,
      id text NOT NULL,
      position int8 NOT NULL,
      place text NOT NULL,
      source text NOT NULL,
      user_uuid text NOT NULL,
      attempts int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      next_attempt_at int8,
      lease_ends_at int8,
      expires_at int8,
      failure text,
      relay text,
      handed_over bool NOT NULL,
      message_id text,
      listener text,
      content bytea,
      size int8 NOT NULL,
      PRIMARY KEY (mailer, id)
    )`,
};
