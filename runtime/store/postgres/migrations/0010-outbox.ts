import type { Migration } from '../../../migration.ts';

export const outbox: Migration = {
  id: 'runtime-0010-outbox',
  formerly: 'outbox-0001-table',
  sql: `
    CREATE TABLE IF NOT EXISTS outbox (
      target_kind text NOT NULL,
      target_id text NOT NULL,
      tell_id uuid NOT NULL,
      target_shard int8 NOT NULL,
      name text NOT NULL,
      payload bytea NOT NULL,
      sender_kind text NOT NULL,
      sender_id text NOT NULL,
      sender_version int8 NOT NULL,
      attempts int8 NOT NULL,
      retry_at int8 NOT NULL,
      dead bool NOT NULL,
      PRIMARY KEY (target_kind, target_id, tell_id)
    )`,
};
