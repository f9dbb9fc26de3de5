import type { Migration } from '../../../migration.ts';

export const call: Migration = {
  id: 'runtime-0011-call',
  formerly: 'call-0001-table',
  sql: `
    CREATE TABLE IF NOT EXISTS call (
      kind text NOT NULL,
      id text NOT NULL,
      call_key text NOT NULL,
      shard int8 NOT NULL,
      reply bytea NOT NULL,
      at int8 NOT NULL,
      PRIMARY KEY (kind, id, call_key)
    )`,
};
